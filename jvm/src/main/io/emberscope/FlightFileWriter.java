package io.emberscope;

import java.util.HashMap;
import java.util.Map;

/**
 * Writes one self-contained chunk of a JFR file (version 2.0) in memory, without the JDK's recorder: samples of wall-clock
 * time and spans of tasks. Times are those of {@code System.nanoTime()}. Not for several threads at once.
 *
 * <p>The layout: a header of fixed width, the events, one checkpoint with all constants, the description of the types.
 */
final class FlightFileWriter {
    private static final int HEADER_BYTES = 68;
    private static final int METADATA = 0;
    private static final int CHECKPOINT = 1;
    private static final int COMPRESSED_INTEGERS = 1;
    private static final long SECOND_NANOS = 1_000_000_000;

    final long startNanos;
    private final long startTime;
    private final FlightStacks stacks = new FlightStacks();
    private final FlightBytes events = new FlightBytes(1 << 12);
    private final FlightBytes body = new FlightBytes(1 << 8);
    private final Map<Long, String> threads = new HashMap<>();
    private long textBytes;

    /** {@code startNanos}: now as epoch ns, {@code startTime}: the same moment by {@code System.nanoTime()}. */
    FlightFileWriter(long startNanos, long startTime) {
        this.startNanos = startNanos;
        this.startTime = startTime;
    }

    /** Memory that the chunk takes, and will take when it is written: rather too much than too little. */
    long bytes() {
        return events.size() + stacks.bytes() + textBytes;
    }

    int stack(StackTraceElement[] stack, boolean cut) {
        return stacks.stack(stack, cut);
    }

    /** {@code count} equal looks at a thread from {@code time} on; {@code spanNanos} is what they stand for. */
    void wallSample(
            long time, long threadId, String threadName, WallState state, int stack, int count, long spanNanos, long taskId) {
        event(FlightTypes.WALL_SAMPLE, time);
        body.number(thread(threadId, threadName)).number(stack).number(state.ordinal() + 1);
        body.number(count).number(spanNanos).number(taskId);
        events.event(body);
    }

    void taskStart(TaskSpans.Task task) {
        event(FlightTypes.TASK_START, task.startTime);
        body.number(0L);
        task(task);
        body.number(task.cpuStartNs);
        events.event(body);
    }

    void taskSpan(TaskSpans.Task task, long endTime, String outcome) {
        event(FlightTypes.TASK_SPAN, task.startTime);
        body.number(endTime - task.startTime);
        task(task);
        body.text(outcome).number(task.cpuStartNs).number(task.cpuEndNs);
        events.event(body);
    }

    private void event(int type, long time) {
        body.clear();
        body.number(type).number(time - startTime);
    }

    private void task(TaskSpans.Task task) {
        body.number(thread(task.threadId, task.threadName));
        body.number(task.stageId).number(task.stageAttempt).number(task.taskId).number(task.attempt).number(task.partition);
        body.number(task.sqlExecutionId).text(task.jobGroup).text(task.description).number(task.threadId);
    }

    /** The last name counts, as in the recordings of the JDK. */
    private long thread(long id, String name) {
        if (threads.put(id, name) == null) {
            textBytes += 200 + (name == null ? 0 : 3L * name.length());
        }
        return id;
    }

    /** The chunk; {@code endTime} is its end by {@code System.nanoTime()}. */
    byte[] finish(long endTime) {
        FlightBytes checkpoint = checkpoint();
        FlightBytes metadata = new FlightBytes(1 << 12);
        FlightBytes described = new FlightBytes(1 << 12).number(METADATA).number(0L).number(0L).number(1L);
        metadata.event(described.all(FlightTypes.description()));
        long checkpointAt = HEADER_BYTES + events.size();
        long metadataAt = checkpointAt + checkpoint.size();
        long size = metadataAt + metadata.size();
        FlightBytes out = new FlightBytes((int) size);
        out.octet('F').octet('L').octet('R').octet(0).fixed(2, 2).fixed(0, 2);
        out.fixed(size, 8).fixed(checkpointAt, 8).fixed(metadataAt, 8);
        out.fixed(startNanos, 8).fixed(endTime - startTime, 8).fixed(0, 8).fixed(SECOND_NANOS, 8);
        out.fixed(COMPRESSED_INTEGERS, 4);
        return out.all(events).all(checkpoint).all(metadata).toArray();
    }

    private FlightBytes checkpoint() {
        FlightBytes pools = new FlightBytes(1 << 14).number(FlightTypes.THREAD_STATE).number(WallState.values().length);
        for (WallState state : WallState.values()) {
            pools.number(state.ordinal() + 1).text("STATE_" + state.name());
        }
        int count = 1 + stacks.write(pools);
        if (!threads.isEmpty()) {
            count++;
            pools.number(FlightTypes.THREAD).number(threads.size());
            threads.forEach((id, name) -> pools.number(id.longValue()).text(name).number(0L).text(name).number(id.longValue()));
        }
        // Time, duration, distance to the checkpoint before, flags, number of pools.
        FlightBytes all = new FlightBytes(pools.size() + 32).number(CHECKPOINT).number(0L).number(0L).number(0L).octet(0);
        return new FlightBytes(pools.size() + 32).event(all.number(count).all(pools));
    }
}
