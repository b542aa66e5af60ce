package io.emberscope;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
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
    /** A batch of equal samples ends after this, so that it is never far from its time. */
    private static final long LONGEST_BATCH_NANOS = 1_000_000_000;

    /** A clock of CPU time with coarser steps cannot tell that a thread did not run. */
    private static final long FINEST_STEP_NANOS = 100_000;

    private static final int MOST_FAILURES = 10;

    /** A thread under observation, and the batch of its last samples. */
    private static final class Watched {
        TaskSpans.Task task;
        String name;
        /** CPU time when the stack was looked at, -1 where it is not known. */
        long cpuNanos = -1;
        boolean isIdle;
        WallState state;
        int stack;
        long since;
        long spanNanos;
        int count;
        long tick;
    }

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Map<Long, Watched> watched = new HashMap<>();
    private WallChunks chunks;
    private DriverThreads driver;
    private Problems problems;
    private long periodNanos;
    private int depth;
    private boolean cpuTells;
    private long firstNanos;
    private long lastTick;
    private long ticks;
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
                synchronized (chunks) {
                    tick();
                }
                failures = 0;
            } catch (InterruptedException told) {
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
        long nanos = periodNanos / 2 + ThreadLocalRandom.current().nextLong(periodNanos + 1) - (System.nanoTime() - lastTick);
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
        Map<Long, TaskSpans.Task> toLookAt = new HashMap<>();
        for (TaskSpans.Task task : TaskSpans.OF_THIS_JVM.running()) {
            visit(task.threadId, task, now, span, toLookAt);
        }
        if (driver != null) {
            for (Long id : driver.ids(now)) {
                if (TaskSpans.OF_THIS_JVM.on(id) == null) {
                    visit(id, null, now, span, toLookAt);
                }
            }
        }
        look(toLookAt, now, span);
        leaveThoseThatEnded();
        chunks.closeIfFull(this::flush);
    }

    /** Counts a thread that did not move; puts one that may have onto the list. */
    private void visit(long id, TaskSpans.Task task, long now, long span, Map<Long, TaskSpans.Task> toLookAt) {
        Watched thread = watched.computeIfAbsent(id, unknown -> new Watched());
        if (thread.task != task) {
            flush(id, thread);
            thread.task = task;
            thread.cpuNanos = -1;
        }
        thread.tick = ticks;
        long cpuNanos = cpuTells ? threads.getThreadCpuTime(id) : -1;
        boolean rested = cpuNanos >= 0 && cpuNanos == thread.cpuNanos;
        thread.cpuNanos = cpuNanos;
        if (!rested) {
            toLookAt.put(id, task);
        } else if (!thread.isIdle) {
            count(id, thread, now, span);
        }
    }

    private void look(Map<Long, TaskSpans.Task> toLookAt, long now, long span) {
        if (toLookAt.isEmpty()) {
            return;
        }
        long[] ids = toLookAt.keySet().stream().mapToLong(Long::longValue).toArray();
        for (ThreadInfo info : threads.getThreadInfo(ids, depth)) {
            if (info == null) {
                continue;
            }
            long id = info.getThreadId();
            Watched thread = watched.get(id);
            if (TaskSpans.OF_THIS_JVM.on(id) != thread.task) {
                // One task ended and another may have begun while we looked: whose it is cannot be told.
                thread.cpuNanos = -1;
                flush(id, thread);
                continue;
            }
            StackTraceElement[] stack = info.getStackTrace();
            thread.isIdle = thread.task == null && DriverThreads.isIdle(stack);
            if (thread.isIdle) {
                flush(id, thread);
                continue;
            }
            WallState state = WallState.of(info, stack);
            int key = chunks.open().stack(stack, stack.length >= depth);
            if (thread.state != state || thread.stack != key) {
                flush(id, thread);
            }
            thread.name = info.getThreadName();
            thread.state = state;
            thread.stack = key;
            count(id, thread, now, span);
        }
    }

    private void count(long id, Watched thread, long now, long span) {
        if (thread.count > 0 && now - thread.since >= LONGEST_BATCH_NANOS) {
            flush(id, thread);
        }
        if (thread.count == 0) {
            thread.since = now;
        }
        thread.count++;
        thread.spanNanos += span;
    }

    private void flush(long id, Watched thread) {
        if (thread.count > 0) {
            long taskId = thread.task == null ? -1 : thread.task.taskId;
            chunks.open().wallSample(
                    thread.since, id, thread.name, thread.state, thread.stack, thread.count, thread.spanNanos, taskId);
        }
        thread.count = 0;
        thread.spanNanos = 0;
    }

    /** Everything that is counted goes into the open chunk, and its stacks are looked at again for the next one. */
    private void flush() {
        watched.forEach((id, thread) -> {
            flush(id, thread);
            thread.cpuNanos = -1;
            thread.stack = -1;
        });
    }

    private void leaveThoseThatEnded() {
        for (Iterator<Map.Entry<Long, Watched>> each = watched.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<Long, Watched> entry = each.next();
            if (entry.getValue().tick != ticks) {
                flush(entry.getKey(), entry.getValue());
                each.remove();
            }
        }
    }

    @Override
    public String mustStop() {
        return broken;
    }

    @Override
    public InputStream closed(long afterNanos) {
        List<InputStream> closed = new ArrayList<>();
        synchronized (chunks) {
            chunks.close(this::flush);
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
        TaskSpans.OF_THIS_JVM.standIn(null);
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
}
