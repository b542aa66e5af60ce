package io.emberscope;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;

/**
 * CPU time of the recorder in this JVM: of its own threads, those of JDK Flight Recorder and those that an engine starts.
 *
 * <p>Most of them are no Java threads (JFR's samplers), so on Linux the kernel is asked, thread by thread; threads that
 * native code starts from ours carry our name there. Elsewhere the JVM is asked, which knows Java threads alone: then
 * the samplers of JFR are not in it. All threads are looked through only now and then, since there may be thousands;
 * in between only those that are ours are.
 */
final class OwnCpu {
    /** The kernel keeps 15 characters of a name; the beginnings of ours, JFR's and async-profiler's. */
    private static final String[] NAMES = {"emberscope-", "JFR ", "Async-profiler"};

    /** Linux shows CPU time to programs in hundredths of a second, whatever its own clock is. */
    private static final long NANOS_PER_TICK = 10_000_000;

    private static final int STATE = 0;
    private static final int USER_TICKS = 11;
    private static final int SYSTEM_TICKS = 12;
    private static final int START_TICKS = 19;

    /** A thread of ours; {@code started} tells it from a later one with the same number. */
    private static final class Own {
        final String name;
        final String started;
        long nanos;

        Own(String name, String started) {
            this.name = name;
            this.started = started;
        }
    }

    private final File threads;
    private final Map<String, Own> alive = new HashMap<>();
    private long ended;

    OwnCpu() {
        this(new File("/proc/self/task"));
    }

    OwnCpu(File threads) {
        this.threads = threads;
    }

    /** Looks for threads of ours that are new: a small file is read for each thread of the JVM. */
    void find() {
        String[] numbers = threads.list();
        for (String number : numbers == null ? new String[0] : numbers) {
            String[] stat = alive.containsKey(number) ? null : stat(number);
            if (stat != null && isOurs(stat[0])) {
                alive.put(number, new Own(stat[0], field(stat, START_TICKS)));
            }
        }
    }

    /** CPU time in ns of all threads of ours that were ever seen. */
    long nanos() {
        if (!threads.isDirectory()) {
            return javaThreadsNanos();
        }
        if (alive.isEmpty()) {
            find();
        }
        alive.entrySet().removeIf(entry -> !update(entry.getKey(), entry.getValue()));
        long sum = ended;
        for (Own own : alive.values()) {
            sum += own.nanos;
        }
        return sum;
    }

    /** The part of it that is the taking of samples, which slower rates make less; as of the last {@link #nanos}. */
    long samplersNanos() {
        long sum = 0;
        for (Own own : alive.values()) {
            sum += own.name.contains("Samp") || own.name.contains("wall") ? own.nanos : 0;
        }
        return sum;
    }

    /** CPU time in ns of this process since it began, -1 where it is not known. */
    static long processNanos() {
        try {
            OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
            return ((com.sun.management.OperatingSystemMXBean) system).getProcessCpuTime();
        } catch (ClassCastException | LinkageError unknown) {
            return -1;
        }
    }

    /** False where the thread is gone. */
    private boolean update(String number, Own own) {
        String[] stat = stat(number);
        if (stat == null || !own.started.equals(field(stat, START_TICKS))) {
            ended += own.nanos;
            return false;
        }
        long ticks = Long.parseLong(field(stat, USER_TICKS)) + Long.parseLong(field(stat, SYSTEM_TICKS));
        own.nanos = ticks * NANOS_PER_TICK;
        return true;
    }

    /** The name of a thread, and the fields after it in one text; null where there is no such thread. */
    private String[] stat(String number) {
        try {
            File file = new File(new File(threads, number), "stat");
            String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.ISO_8859_1);
            int end = text.lastIndexOf(')');
            return new String[] {text.substring(text.indexOf('(') + 1, end), text.substring(end + 2)};
        } catch (IOException | StringIndexOutOfBoundsException gone) {
            return null;
        }
    }

    /** Fields are counted from the state, which follows the name. */
    private static String field(String[] stat, int number) {
        return stat[1].split(" ")[STATE + number];
    }

    private static boolean isOurs(String name) {
        for (String each : NAMES) {
            if (name.startsWith(each)) {
                return true;
            }
        }
        return false;
    }

    private static long javaThreadsNanos() {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (ThreadInfo thread : bean.getThreadInfo(bean.getAllThreadIds())) {
            if (thread != null && isOurs(thread.getThreadName())) {
                sum += Math.max(0, bean.getThreadCpuTime(thread.getThreadId()));
            }
        }
        return sum;
    }
}
