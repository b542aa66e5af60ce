package io.emberscope;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Samples wall-clock time in plain Java 8: where the threads of running tasks are, and those of the driver that have work,
 * and whether they run or wait. All other threads are left alone, which is what makes it cheap: a look stops the JVM for
 * as long as it takes to walk these few stacks.
 *
 * <p>A thread that used no CPU since it was last seen is where it was: it is not looked at, its sample only counts one
 * more. A sample stands for the time since the look before, so that late looks lose nothing, and holds the task that
 * ran on the thread before and after the look.
 */
final class WallSampler implements Engine, Runnable {
    /** A clock of CPU time with coarser steps cannot tell that a thread did not run. */
    private static final long FINEST_STEP_NANOS = 100_000;

    /**
     * All of Java stands still while stacks are walked, so no more frames than this in one look, unless one stack has
     * more. Where more threads are on the move some are drawn, and count for the others.
     */
    private static final int MOST_FRAMES = 600;

    /** What it takes to walk over a frame while Java stands still: 0.2 ms for 8 stacks of 66 frames. */
    private static final long FRAME_NANOS = 400;

    private static final int MOST_FAILURES = 10;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Map<Long, WatchedThread> watched = new HashMap<>();
    private WallChunks chunks;
    private DriverThreads driver;
    private Problems problems;
    private long periodNanos;
    private int depth;
    private boolean cpuTells;
    private long firstNanos;
    private long lastTick;
    private long ticks;
    private double toCount;
    private volatile long walkedFrames;
    private volatile int slowedBy;
    private volatile String broken;
    private volatile boolean stopped;

    @Override
    public void start(Settings settings, Problems problems) {
        this.problems = problems;
        periodNanos = settings.millis(Settings.Key.RATE_WALL) * 1_000_000;
        depth = settings.count(Settings.Key.DEPTH, 1);
        chunks = new WallChunks(settings.bytes(Settings.Key.BUDGET_MEMORY), problems);
        driver = problems.isOfDriver() ? new DriverThreads() : null;
        firstNanos = chunks.startNanos();
        lastTick = System.nanoTime();
        TaskSpans.OF_THIS_JVM.standIn(chunks);
        Thread sampler = new Thread(this, "emberscope-wall");
        sampler.setDaemon(true);
        sampler.start();
    }

    @Override
    public void run() {
        cpuTells = cpuClockIsFine();
        int failures = 0;
        while (!stopped) {
            try {
                pause();
                WallChunks.Kept due;
                synchronized (chunks) {
                    tick();
                    due = chunks.dueToBeKept(this::flush);
                }
                chunks.keep(due);
                failures = 0;
            } catch (InterruptedException told) {
                broken = "wall-clock samples ended: somebody has interrupted the thread that takes them";
                return;
            } catch (Throwable failed) {
                problems.add("wall", failed);
                synchronized (chunks) {
                    watched.clear();
                }
                if (++failures >= MOST_FAILURES) {
                    broken = "wall-clock samples failed " + failures + " times in a row: " + failed;
                    return;
                }
            }
        }
    }

    /** Not in step with anything that a job may do at regular times: the mean is the period. */
    private void pause() throws InterruptedException {
        long period = periodNanos << Math.min(slowedBy, Governor.MOST_STEPS);
        long nanos = period / 2 + ThreadLocalRandom.current().nextLong(period + 1) - (System.nanoTime() - lastTick);
        if (nanos > 0) {
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
        }
    }

    private boolean cpuClockIsFine() {
        if (!threads.isThreadCpuTimeSupported() || !threads.isThreadCpuTimeEnabled()) {
            return false;
        }
        long until = System.nanoTime() + 20_000_000;
        long before = threads.getCurrentThreadCpuTime();
        long after = before;
        while (after == before && System.nanoTime() < until) {
            after = threads.getCurrentThreadCpuTime();
        }
        return after > before && after - before <= FINEST_STEP_NANOS;
    }

    private void tick() {
        long now = System.nanoTime();
        long span = now - lastTick;
        lastTick = now;
        ticks++;
        chunks.drain();
        List<WatchedThread> moved = new ArrayList<>();
        if (slowedBy < Governor.SPANS_ONLY) {
            for (TaskSpans.Task task : TaskSpans.OF_THIS_JVM.running()) {
                visit(task.threadId, task, span, moved);
            }
            if (driver != null) {
                for (Long id : driver.ids(now)) {
                    if (TaskSpans.OF_THIS_JVM.on(id) == null) {
                        visit(id, null, span, moved);
                    }
                }
            }
        }
        look(moved, span);
        leaveThoseThatEnded();
        chunks.closeIfFull(this::endChunk);
    }

    /** Counts a thread that did not move; puts one that may have onto the list. */
    private void visit(long id, TaskSpans.Task task, long span, List<WatchedThread> moved) {
        WatchedThread thread = watched.computeIfAbsent(id, WatchedThread::new);
        if (thread.task != task) {
            thread.flush(chunks.open());
            thread.task = task;
            thread.cpuNanos = -1;
        }
        thread.tick = ticks;
        long cpuNanos = cpuTells ? threads.getThreadCpuTime(id) : -1;
        boolean rested = cpuNanos >= 0 && cpuNanos == thread.cpuNanos;
        thread.cpuNanos = cpuNanos;
        if (!rested) {
            moved.add(thread);
        } else if (!thread.isIdle) {
            thread.count(1, lastTick, span, chunks.open());
        }
    }

    /** Looks at threads that moved, at all of them or at some that are drawn. */
    private void look(List<WatchedThread> moved, long span) {
        if (moved.isEmpty()) {
            return;
        }
        int frames = 0;
        for (WatchedThread thread : moved) {
            frames += thread.frames;
        }
        int all = moved.size();
        int drawn = Math.max(1, Math.min(all, (int) ((long) MOST_FRAMES * all / Math.max(1, frames))));
        if (drawn < all) {
            Collections.shuffle(moved, ThreadLocalRandom.current());
            moved.subList(drawn, all).forEach(thread -> thread.cpuNanos = -1);
        }
        long[] ids = new long[drawn];
        for (int i = 0; i < drawn; i++) {
            ids[i] = moved.get(i).id;
        }
        ThreadInfo[] infos = threads.getThreadInfo(ids, depth);
        for (int i = 0; i < drawn; i++) {
            toCount += (double) all / drawn;
            int count = (int) toCount;
            toCount -= count;
            see(moved.get(i), infos[i], count, span * all / drawn);
        }
    }

    private void see(WatchedThread thread, ThreadInfo info, int count, long span) {
        if (info == null || TaskSpans.OF_THIS_JVM.on(thread.id) != thread.task) {
            // One task ended and another may have begun while we looked: whose it is cannot be told.
            thread.cpuNanos = -1;
            thread.flush(chunks.open());
            return;
        }
        StackTraceElement[] stack = info.getStackTrace();
        thread.frames = stack.length;
        walkedFrames += stack.length;
        thread.isIdle = thread.task == null && DriverThreads.isIdle(stack);
        if (thread.isIdle) {
            thread.flush(chunks.open());
            return;
        }
        WallState state = WallState.of(info, stack);
        int key = chunks.open().stack(stack, stack.length >= depth);
        if (thread.state != state || thread.stack != key) {
            thread.flush(chunks.open());
        }
        thread.name = info.getThreadName();
        thread.state = state;
        thread.stack = key;
        thread.count(count, lastTick, span, chunks.open());
    }

    /** Everything that is counted goes into the open chunk. */
    private void flush() {
        for (WatchedThread thread : watched.values()) {
            thread.flush(chunks.open());
        }
    }

    /** The same for the last time: stacks are looked at again for the next chunk, which has keys of its own. */
    private void endChunk() {
        flush();
        for (WatchedThread thread : watched.values()) {
            thread.cpuNanos = -1;
            thread.stack = -1;
        }
    }

    private void leaveThoseThatEnded() {
        watched.values().removeIf(thread -> {
            boolean ended = thread.tick != ticks;
            if (ended) {
                thread.flush(chunks.open());
            }
            return ended;
        });
    }

    @Override
    public String mustStop() {
        return broken;
    }

    @Override
    public InputStream closed(long afterNanos) {
        List<InputStream> closed = new ArrayList<>();
        synchronized (chunks) {
            chunks.close(this::endChunk);
            for (byte[] chunk : chunks.after(afterNanos)) {
                closed.add(new ByteArrayInputStream(chunk));
            }
        }
        return new SequenceInputStream(Collections.enumeration(closed));
    }

    /** Nothing stops this engine but us: all that it has comes from {@link #closed}. */
    @Override
    public InputStream tail(long waitMs) {
        return null;
    }

    @Override
    public void close() {
        stopped = true;
        TaskSpans.OF_THIS_JVM.stopStandingIn(chunks);
        chunks.keepNoMore();
    }

    @Override
    public ChunkFilter filter() {
        return new ChunkFilter(FlightTypes.EVENTS, FlightTypes.WALL_SAMPLE, -1, text -> true);
    }

    @Override
    public long firstNanos() {
        return firstNanos;
    }

    @Override
    public String name() {
        return "wall-sampler";
    }

    @Override
    public List<String> events() {
        return Collections.singletonList("wall");
    }

    @Override
    public Long samplePeriodNs() {
        return null;
    }

    @Override
    public int stackDepth() {
        return depth;
    }

    @Override
    public List<Path> places() {
        return chunks.places();
    }

    @Override
    public boolean slow(int steps) {
        slowedBy = steps;
        return true;
    }

    @Override
    public long sampledNanos() {
        return walkedFrames * FRAME_NANOS;
    }
}
