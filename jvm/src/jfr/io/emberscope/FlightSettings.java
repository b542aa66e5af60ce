package io.emberscope;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;

/**
 * Our own slim choice of JFR's events. Nothing that holds environment, system properties or command lines is ever asked
 * for. No event is switched off: JFR adds up the settings of all recordings, and where another recording leaves an event
 * of the application to its default, our "false" would be the only word on it. {@link ChunkFilter} keeps those back.
 */
final class FlightSettings {
    static final String CPU_TIME = "jdk.CPUTimeSample";

    /**
     * The older sampler walks the stacks of other threads on one of its own, whether they use a whole core or not: every
     * 20 ms that alone took 1 % of the CPU of a job whose JVMs are busy half of the time.
     */
    private static final String OLDER_PERIOD = "40 ms";

    final Map<String, String> values = new HashMap<>();
    final List<String> kinds = new ArrayList<>();
    String cpuEvent;
    private final Set<String> present = new HashSet<>();

    private FlightSettings() {}

    static void registerOwnEvents() {
        FlightRecorder.register(TaskEvents.TaskStart.class);
        FlightRecorder.register(TaskEvents.TaskSpan.class);
        FlightRecorder.register(TaskEvents.Withheld.class);
        FlightRecorder.register(HeapSummary.HeapClass.class);
        FlightRecorder.register(HeapSummary.HeapLook.class);
    }

    /** {@code asked}: kinds of events; {@code cpuTime}: whether to try the CPU-time sampler, where this JVM has it. */
    static FlightSettings choose(Settings settings, List<String> asked, boolean cpuTime) {
        FlightSettings out = new FlightSettings();
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            out.present.add(type.getName());
        }
        if (asked.contains("cpu")) {
            String rate = settings.millis(Settings.Key.RATE_CPU) + " ms";
            String throttle = cpuTime ? settings.hasFault("cpu.sampler") ? "0/s" : rate : null;
            out.cpu(settings.isSet(Settings.Key.RATE_CPU) ? rate : OLDER_PERIOD, throttle);
        }
        if (asked.contains("alloc")
                && out.on("jdk.ObjectAllocationSample", "stackTrace", "true", "throttle",
                        settings.count(Settings.Key.RATE_ALLOC, 1) + "/s")) {
            out.kinds.add("alloc");
        }
        if (asked.contains("lock")) {
            String threshold = settings.millis(Settings.Key.RATE_LOCK) + " ms";
            out.on("jdk.JavaMonitorEnter", "stackTrace", "true", "threshold", threshold);
            out.on("jdk.ThreadPark", "stackTrace", "true", "threshold", threshold);
            out.kinds.add("lock");
        }
        String period = settings.millis(Settings.Key.RATE_SERIES) + " ms";
        out.collections(settings, asked, period);
        out.waits(settings, asked);
        out.virtualMachine(settings, asked, period);
        out.on("jdk.CPULoad", "period", period);
        out.on("jdk.ResidentSetSize", "period", period);
        out.on("jdk.DataLoss");
        out.on("jdk.ActiveSetting", "stackTrace", "false");
        out.on("emberscope.TaskStart", "stackTrace", "false", "threshold", "0 ms");
        out.on("emberscope.TaskSpan", "stackTrace", "false", "threshold", "0 ms");
        List<String> found = new ArrayList<>(out.kinds);
        out.kinds.clear();
        out.kinds.addAll(Settings.KINDS);
        out.kinds.retainAll(found);
        return out;
    }

    /**
     * The CPU-time sampler (JDK 25 on Linux) counts CPU as such; beside it the older sampler would count it twice. The
     * older one sees Java threads that look busy, and native code only as a thread that is in it.
     */
    private void cpu(String period, String cpuTimeThrottle) {
        kinds.add("cpu");
        boolean linux = System.getProperty("os.name").startsWith("Linux");
        if (linux && cpuTimeThrottle != null && on(CPU_TIME, "stackTrace", "true", "throttle", cpuTimeThrottle)) {
            on("jdk.CPUTimeSamplesLost");
            cpuEvent = CPU_TIME;
        } else {
            on("jdk.ExecutionSample", "period", period);
            on("jdk.NativeMethodSample", "period", period);
            cpuEvent = "jdk.ExecutionSample";
        }
    }

    /** What the heap holds, and what the collector does with it. */
    private void collections(Settings settings, List<String> asked, String period) {
        if (asked.contains("gc")) {
            on("jdk.GarbageCollection", "threshold", "0 ms");
            on("jdk.GCHeapSummary");
            on("jdk.GCPhasePause", "threshold", "0 ms");
            kinds.add("gc");
        }
        // With paths to the roots the whole heap would be walked for each chunk: a cutoff of nothing forbids that.
        if (asked.contains("live") && on("jdk.OldObjectSample", "stackTrace", "true", "cutoff", "0 ns")) {
            kinds.add("live");
        }
        if (asked.contains("heap") && HeapSummary.isThere()) {
            on("emberscope.HeapClass", "stackTrace", "false");
            on("emberscope.HeapLook", "stackTrace", "false", "threshold", "0 ms");
            kinds.add("heap");
        }
        boolean counts = on("jdk.DirectBufferStatistics", asked.contains("nativemem"), "period", period);
        counts |= on("jdk.NativeMemoryUsage", asked.contains("nativemem"), "period", period);
        counts |= on("jdk.NativeMemoryUsageTotal", asked.contains("nativemem"), "period", period);
        if (counts) {
            kinds.add("nativemem");
        }
    }

    /** What kinds lack of that they could have on another JVM. */
    void sayWhatIsMissing(Problems problems) {
        boolean counted = values.containsKey("jdk.NativeMemoryUsage#enabled") && tracksNativeMemory();
        if (kinds.contains("nativemem") && !counted) {
            problems.add("events", "of native memory only direct buffers are recorded: Java 20 or newer with "
                    + "-XX:NativeMemoryTracking=summary tells the rest");
        }
    }

    /** Whether this JVM keeps account of its own native memory: it does so from its start on, or never. */
    private static boolean tracksNativeMemory() {
        try {
            HotSpotDiagnosticMXBean options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            return !options.getVMOption("NativeMemoryTracking").getValue().equals("off");
        } catch (IllegalArgumentException | LinkageError | NullPointerException other) {
            return false;
        }
    }

    /** Waits for files and sockets. From JDK 25 on these events have a throttle besides, which would count too few. */
    private void waits(Settings settings, List<String> asked) {
        String threshold = settings.millis(Settings.Key.RATE_IO) + " ms";
        boolean waits = false;
        for (String name : new String[] {"FileRead", "FileWrite", "FileForce", "SocketRead", "SocketWrite"}) {
            waits |= on("jdk." + name, asked.contains("io"), "stackTrace", "true", "threshold", threshold, "throttle", "off");
        }
        if (waits) {
            kinds.add("io");
        }
    }

    /** What the JVM does beside the application's code. */
    private void virtualMachine(Settings settings, List<String> asked, String period) {
        String threshold = settings.millis(Settings.Key.RATE_SAFEPOINT) + " ms";
        if (on("jdk.ExecuteVMOperation", asked.contains("safepoint"), "threshold", threshold)) {
            on("jdk.SafepointBegin", "threshold", threshold);
            kinds.add("safepoint");
        }
        String compilation = settings.millis(Settings.Key.RATE_JIT) + " ms";
        if (on("jdk.Compilation", asked.contains("jit"), "threshold", compilation)) {
            on("jdk.CompilerStatistics", "period", period);
            on("jdk.CodeCacheStatistics", "period", "everyChunk");
            on("jdk.CodeCacheFull");
            on("jdk.Deoptimization", "stackTrace", "true");
            kinds.add("jit");
        }
        if (on("jdk.ClassLoadingStatistics", asked.contains("classes"), "period", period)) {
            on("jdk.MetaspaceSummary");
            on("jdk.ClassLoad", "stackTrace", "true", "threshold", settings.millis(Settings.Key.RATE_CLASSES) + " ms");
            kinds.add("classes");
        }
    }

    private boolean on(String event, boolean asked, String... pairs) {
        return asked && on(event, pairs);
    }

    private boolean on(String event, String... pairs) {
        if (!present.contains(event)) {
            return false;
        }
        values.put(event + "#enabled", "true");
        for (int i = 0; i < pairs.length; i += 2) {
            values.put(event + "#" + pairs[i], pairs[i + 1]);
        }
        return true;
    }

    /** The id of an event in this JVM's chunks, -1 where there is none of that name. */
    static long idOf(String event) {
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            if (type.getName().equals(event)) {
                return type.getId();
            }
        }
        return -1;
    }

    static String periodKey(String cpuEvent) {
        return cpuEvent + (cpuEvent.equals(CPU_TIME) ? "#throttle" : "#period");
    }

    /** Nanoseconds of JFR's own spelling of a time, null for what is none (a rate, a word). */
    static Long nanos(String text) {
        Matcher time = Pattern.compile("(\\d+) ?(ns|us|ms|s|m|h)").matcher(text == null ? "" : text.trim());
        if (!time.matches()) {
            return null;
        }
        long number = Long.parseLong(time.group(1));
        switch (time.group(2)) {
            case "ns":
                return number;
            case "us":
                return number * 1_000;
            case "ms":
                return number * 1_000_000;
            case "s":
                return number * 1_000_000_000;
            case "m":
                return number * 60_000_000_000L;
            default:
                return number * 3_600_000_000_000L;
        }
    }
}
