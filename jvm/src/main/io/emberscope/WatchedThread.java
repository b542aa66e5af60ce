package io.emberscope;

/** A thread that the wall sampler observes, and the batch of its last samples, which were equal. */
final class WatchedThread {
    /** A batch ends after this, so that it is never far from its time. */
    private static final long LONGEST_BATCH_NANOS = 1_000_000_000;

    /** Frames of a stack that was not seen yet, as Spark's mostly are. */
    private static final int LIKELY_FRAMES = 60;

    final long id;
    /** The task that runs on it, or null. */
    TaskSpans.Task task;
    String name;
    /** CPU time when the stack was looked at, -1 where it must be looked at again. */
    long cpuNanos = -1;
    boolean isIdle;
    WallState state;
    /** Key of its stack in the open chunk. */
    int stack;
    int frames = LIKELY_FRAMES;
    /** The look in which it was seen last. */
    long tick;
    private long since;
    private long spanNanos;
    private int count;

    WatchedThread(long id) {
        this.id = id;
    }

    /** So many equal samples, which stand for a time; {@code now} by {@code System.nanoTime()}. */
    void count(int samples, long now, long nanos, FlightFileWriter to) {
        if (count > 0 && now - since >= LONGEST_BATCH_NANOS) {
            flush(to);
        }
        if (count == 0) {
            since = now;
        }
        count += samples;
        spanNanos += nanos;
    }

    /** Writes the batch, and begins another. */
    void flush(FlightFileWriter to) {
        if (count > 0) {
            to.wallSample(since, id, name, state, stack, count, spanNanos, task == null ? -1 : task.taskId);
        }
        count = 0;
        spanNanos = 0;
    }
}
