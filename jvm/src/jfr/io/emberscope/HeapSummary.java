package io.emberscope;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Timestamp;

/**
 * What the heap holds, by class, looked at now and then on a thread of its own.
 *
 * <p>A look walks the heap while the JVM stands still, without a collection before it: what is garbage already counts
 * too. So the looks are paced: all of them together take no more than {@link #SHARE} of the JVM's time since its start,
 * and a look is begun only when what it will take, by the one before and by how full the heap is, is there to spend.
 */
final class HeapSummary implements Runnable {
    /** Most of the JVM's time that looks may take. */
    static final double SHARE = 0.005;

    /** Classes that are named in a look, the largest first; the rest are one row without a name. */
    private static final int MOST_CLASSES = 100;

    /** A walk that is as slow as any that was measured: a heap full of small objects and one thread to walk it. */
    private static final double SLOWEST_NS_PER_BYTE = 2;

    /** More names than this are not told apart by who wrote them. */
    private static final int NAMES_KEPT = 4096;

    private static final Set<String> NAMES = ConcurrentHashMap.newKeySet();

    private static final Pattern ROW = Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S+).*");

    @Name("emberscope.HeapClass")
    @Label("Objects of a class")
    @Description("Instances in the heap, reachable or not; of all other classes together where there is no name")
    @Category("Emberscope")
    @Registered(true)
    @StackTrace(false)
    public static final class HeapClass extends Event {
        @Label("When the look began")
        @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
        public long look;

        @Label("Class")
        public String className;

        @Label("Instances")
        public long instances;

        @Label("Bytes")
        public long bytes;
    }

    @Name("emberscope.HeapLook")
    @Label("A look at the heap")
    @Description("How long the JVM stood still for it at most")
    @Category("Emberscope")
    @Registered(true)
    @StackTrace(false)
    public static final class HeapLook extends Event {
        @Label("Classes")
        public int classes;

        @Label("Bytes")
        public long bytes;
    }

    /** One line of a histogram. */
    static final class Row {
        final String className;
        final long instances;
        final long bytes;

        Row(String className, long instances, long bytes) {
            this.className = className;
            this.instances = instances;
            this.bytes = bytes;
        }
    }

    /**
     * When the next look may begin. Times in ns since the JVM started. What was looked at before takes as long again;
     * what has come since may be of the slowest kind.
     */
    static final class Pace {
        private final long intervalNs;
        private long spentNs;
        private long nextNs;
        private long lastTookNs;
        private long lastBytes;

        Pace(long intervalNs) {
            this.intervalNs = intervalNs;
        }

        /** How long to wait from now on, with so many bytes in use. */
        long waitNs(long nowNs, long usedBytes) {
            double known = lastBytes == 0 ? 0 : lastTookNs * Math.min(1, (double) usedBytes / lastBytes);
            double fresh = SLOWEST_NS_PER_BYTE * Math.max(0, usedBytes - lastBytes);
            long affordable = (long) ((spentNs + known + fresh) / SHARE);
            return Math.max(0, Math.max(nextNs, affordable) - nowNs);
        }

        /** A look that ended now. */
        void looked(long nowNs, long tookNs, long usedBytes) {
            spentNs += tookNs;
            nextNs = nowNs + intervalNs;
            lastTookNs = tookNs;
            lastBytes = usedBytes;
        }
    }

    private final Pace pace;
    private final Problems problems;
    private Thread thread;

    HeapSummary(long intervalMs, Problems problems) {
        this.pace = new Pace(intervalMs * 1_000_000);
        this.problems = problems;
    }

    /** Whether this JVM can tell what its heap holds. */
    static boolean isThere() {
        try {
            ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            for (javax.management.MBeanOperationInfo each : server.getMBeanInfo(commands).getOperations()) {
                if (each.getName().equals("gcClassHistogram")) {
                    return true;
                }
            }
        } catch (Exception | LinkageError other) {
            return false;
        }
        return false;
    }

    /** Names of classes that looks have found: ours, so they may leave this JVM. */
    static boolean wrote(String text) {
        return NAMES.contains(text);
    }

    void start() {
        thread = new Thread(this, "emberscope-heap");
        thread.setDaemon(true);
        thread.setPriority(Thread.MIN_PRIORITY);
        thread.start();
    }

    void stop() {
        thread.interrupt();
    }

    @Override
    public void run() {
        try {
            while (true) {
                long waitMs = (pace.waitNs(sinceStartNs(), usedBytes()) + 999_999) / 1_000_000;
                // Where the recorder costs too much, its events are switched off.
                if (waitMs == 0 && new HeapLook().isEnabled()) {
                    look();
                } else {
                    // The heap fills meanwhile, so that the wait may have to be longer than it seems now.
                    Thread.sleep(Math.min(Math.max(waitMs, 100), 1_000));
                }
            }
        } catch (InterruptedException over) {
            // The recording ends.
        } catch (Throwable failed) {
            problems.add("heap", failed);
        }
    }

    /** One look, now. */
    void look() throws Exception {
        long used = usedBytes();
        long lookMs = System.currentTimeMillis();
        HeapLook event = new HeapLook();
        event.begin();
        long start = System.nanoTime();
        String text = histogram();
        event.end();
        pace.looked(sinceStartNs(), System.nanoTime() - start, used);
        List<Row> rows = rows(text);
        for (Row row : shortened(rows)) {
            HeapClass each = new HeapClass();
            each.look = lookMs;
            each.className = row.className;
            if (row.className != null && NAMES.size() < NAMES_KEPT) {
                if (NAMES.add(row.className)) {
                    TaskSpans.OF_THIS_JVM.mayLeave(row.className);
                }
            }
            each.instances = row.instances;
            each.bytes = row.bytes;
            each.commit();
        }
        event.classes = rows.size();
        event.bytes = rows.stream().mapToLong(row -> row.bytes).sum();
        event.commit();
    }

    private static String histogram() throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        // "-all" counts what a collection would take away too, and so needs no collection.
        Object[] arguments = {new String[] {"-all"}};
        String[] signature = {String[].class.getName()};
        return (String) ManagementFactory.getPlatformMBeanServer().invoke(commands, "gcClassHistogram", arguments, signature);
    }

    /** The classes of HotSpot's own text: number, instances, bytes, name and perhaps a module. */
    static List<Row> rows(String histogram) {
        List<Row> rows = new ArrayList<>();
        for (String line : histogram.split("\n")) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(new Row(row.group(3), Long.parseLong(row.group(1)), Long.parseLong(row.group(2))));
            }
        }
        return rows;
    }

    /** The largest, and the rest as one. */
    static List<Row> shortened(List<Row> rows) {
        List<Row> sorted = new ArrayList<>(rows);
        Collections.sort(sorted, (one, other) -> Long.compare(other.bytes, one.bytes));
        List<Row> out = new ArrayList<>(sorted.subList(0, Math.min(MOST_CLASSES, sorted.size())));
        long instances = 0;
        long bytes = 0;
        for (Row row : sorted.subList(out.size(), sorted.size())) {
            instances += row.instances;
            bytes += row.bytes;
        }
        if (sorted.size() > out.size()) {
            out.add(new Row(null, instances, bytes));
        }
        return out;
    }

    private static long sinceStartNs() {
        return ManagementFactory.getRuntimeMXBean().getUptime() * 1_000_000;
    }

    private static long usedBytes() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
