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
    private static final int METADATA = 0;
    private static final int CHECKPOINT = 1;
    private static final int COMPRESSED_INTEGERS = 1;
    private static final long SECOND_NANOS = 1_000_000_000;

    final long startNanos;
    private final long startTime;
    private final FlightStacks stacks = new FlightStacks();
    private final FlightBytes out = new FlightBytes(1 << 12);
    private final FlightBytes body = new FlightBytes(1 << 8);
    private final Map<Long, String> threads = new HashMap<>();
    private long textBytes;

    /** {@code startNanos}: now as epoch ns, {@code startTime}: the same moment by {@code System.nanoTime()}. */
    FlightFileWriter(long startNanos, long startTime) {
        this.startNanos = startNanos;
        this.startTime = startTime;
        for (int i = 0; i < Chunks.HEADER_BYTES; i++) {
            out.octet(0);
        }
    }

    /** Memory that the chunk takes, and will take when it is written: rather too much than too little. */
    long bytes() {
        return out.size() + stacks.bytes() + textBytes;
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
        out.event(body);
    }

    void taskStart(TaskSpans.Task task) {
        event(FlightTypes.TASK_START, task.startTime);
        body.number(0L);
        task(task);
        body.number(task.cpuStartNs);
        out.event(body);
    }

    void taskSpan(TaskSpans.Task task, long endTime, String outcome) {
        event(FlightTypes.TASK_SPAN, task.startTime);
        body.number(endTime - task.startTime);
        task(task);
        body.text(outcome).number(task.cpuStartNs).number(task.cpuEndNs);
        out.event(body);
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

    /** The chunk as it is now; {@code endTime} is its end by {@code System.nanoTime()}. It can go on growing. */
    byte[] finish(long endTime) {
        int events = out.size();
        try {
            return finish(events, endTime);
        } finally {
            // What follows the events is written anew at the next time.
            out.cut(events);
        }
    }

    private byte[] finish(int checkpointAt, long endTime) {
        int event = out.begin();
        checkpoint();
        out.end(event);
        long metadataAt = out.size();
        event = out.begin();
        // Start, duration, and the id of this description.
        out.number(METADATA).number(0L).number(0L).number(1L).all(FlightTypes.description());
        out.end(event);
        FlightBytes header = new FlightBytes(Chunks.HEADER_BYTES);
        header.octet('F').octet('L').octet('R').octet(0).fixed(2, 2).fixed(0, 2);
        header.fixed(out.size(), 8).fixed(checkpointAt, 8).fixed(metadataAt, 8);
        header.fixed(startNanos, 8).fixed(endTime - startTime, 8).fixed(0, 8).fixed(SECOND_NANOS, 8);
        header.fixed(COMPRESSED_INTEGERS, 4);
        out.replaceStart(header);
        return out.toArray();
    }

    /** All constants. The JDK does not want a pool without any. */
    private void checkpoint() {
        // Start, duration, distance to the checkpoint before, flags, number of pools.
        out.number(CHECKPOINT).number(0L).number(0L).number(0L).octet(0);
        out.number(1 + stacks.pools() + (threads.isEmpty() ? 0 : 1));
        out.number(FlightTypes.THREAD_STATE).number(WallState.values().length);
        for (WallState state : WallState.values()) {
            out.number(state.ordinal() + 1).text("STATE_" + state.name());
        }
        stacks.write(out);
        if (!threads.isEmpty()) {
            out.number(FlightTypes.THREAD).number(threads.size());
            threads.forEach((id, name) -> out.number(id.longValue()).text(name).number(0L).text(name).number(id.longValue()));
        }
    }
}
