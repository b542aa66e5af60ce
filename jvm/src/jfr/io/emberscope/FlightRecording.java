package io.emberscope;

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * JDK Flight Recorder as an engine: a recording of our own beside any that the user runs.
 *
 * <p>Closed chunks stay in JFR's own repository, within a budget, until they are shipped; there is no second spool. JFR
 * stops all recordings in a shutdown hook of its own that runs at once with ours, so our recording has a destination:
 * whoever stops it, we or JFR's hook, writes the chunks that are left to that file, and the tail is read from there.
 */
final class FlightRecording implements Engine {
    private static final long SHORTEST_KEPT_SECONDS = 300;
    private static final int KEPT_CHUNKS = 10;

    private final TaskEvents tasks = new TaskEvents();
    private final Map<String, String> wanted = new HashMap<>();
    private Recording recording;
    private Path tail;
    private List<String> events = new ArrayList<>();
    private String cpuEvent;
    private long firstNanos;
    private int depth;

    @Override
    public void start(Settings settings, Problems problems) throws Exception {
        depth = configure(settings, problems);
        FlightRecorder.register(TaskEvents.TaskStart.class);
        FlightRecorder.register(TaskEvents.TaskSpan.class);
        FlightRecorder.register(TaskEvents.Withheld.class);
        FlightSettings chosen = FlightSettings.choose(settings);
        events = chosen.kinds;
        cpuEvent = chosen.cpuEvent;
        wanted.putAll(chosen.values);

        Recording mine = new Recording();
        mine.setName("emberscope");
        mine.setToDisk(true);
        long chunkSeconds = settings.count(Settings.Key.CHUNK_SECONDS, 1);
        mine.setMaxAge(Duration.ofSeconds(Math.max(SHORTEST_KEPT_SECONDS, KEPT_CHUNKS * chunkSeconds)));
        mine.setMaxSize(settings.bytes(Settings.Key.BUDGET_DISK));
        mine.setSettings(chosen.values);
        tail = Files.createTempFile("emberscope-", ".jfr");
        mine.setDestination(tail);
        mine.setDumpOnExit(true);
        Instant now = Instant.now();
        firstNanos = nanos(now);
        mine.start();
        recording = mine;
        TaskSpans.OF_THIS_JVM.startWriting(tasks);
    }

    /** Sets stack depth and memory before JFR starts, without options of the JVM. Returns the depth that holds. */
    private static int configure(Settings settings, Problems problems) {
        int asked = settings.count(Settings.Key.DEPTH, 1);
        try {
            if (!FlightRecorder.isInitialized()) {
                command("stackdepth=" + asked, "memorysize=" + settings.bytes(Settings.Key.BUDGET_MEMORY));
            }
            Matcher holds = Pattern.compile("Stack depth: (\\d+)").matcher(command());
            int depth = holds.find() ? Integer.parseInt(holds.group(1)) : 64;
            if (depth != asked) {
                problems.add("depth", "stacks are cut at " + depth + " frames, not " + asked + ": JFR ran already");
            }
            return depth;
        } catch (Exception refused) {
            problems.add("depth", refused);
            return 64;
        }
    }

    private static String command(String... options) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Object[] arguments = {options};
        String[] signature = {String[].class.getName()};
        return (String) ManagementFactory.getPlatformMBeanServer().invoke(commands, "jfrConfigure", arguments, signature);
    }

    @Override
    public InputStream closed(long afterNanos) throws Exception {
        Recording snapshot = FlightRecorder.getFlightRecorder().takeSnapshot();
        InputStream chunks = snapshot.getStream(Instant.ofEpochSecond(0, afterNanos), null);
        if (chunks == null) {
            snapshot.close();
            return null;
        }
        return new java.io.FilterInputStream(chunks) {
            @Override
            public void close() throws java.io.IOException {
                super.close();
                snapshot.close();
            }
        };
    }

    @Override
    public InputStream tail(long waitMs) throws Exception {
        TaskSpans.OF_THIS_JVM.stopWriting();
        try {
            recording.stop();
        } catch (IllegalStateException stoppedByExit) {
            long until = System.nanoTime() + waitMs * 1_000_000;
            while (recording.getState() != RecordingState.CLOSED && System.nanoTime() < until) {
                Thread.sleep(10);
            }
        }
        return Files.newInputStream(tail);
    }

    @Override
    public void close() throws Exception {
        TaskSpans.OF_THIS_JVM.stopWriting();
        recording.close();
        Files.deleteIfExists(tail);
    }

    @Override
    public ChunkFilter filter() {
        Set<Long> allowed = new HashSet<>();
        long withheld = 0;
        long strings = 0;
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            String name = type.getName();
            if (name.equals("emberscope.Withheld")) {
                withheld = type.getId();
            } else if (wanted.containsKey(name + "#enabled") && wanted.get(name + "#enabled").equals("true")) {
                allowed.add(type.getId());
            }
            if (name.equals("emberscope.TaskSpan")) {
                strings = type.getField("description").getTypeId();
            }
        }
        return new ChunkFilter(allowed, withheld, strings, TaskSpans.OF_THIS_JVM::wrote);
    }

    @Override
    public long firstNanos() {
        return firstNanos;
    }

    @Override
    public String name() {
        return "jfr";
    }

    @Override
    public List<String> events() {
        return events;
    }

    /** The shortest period that any running recording asks for: it holds for all of them. */
    @Override
    public Long samplePeriodNs() {
        if (cpuEvent == null) {
            return null;
        }
        Long shortest = null;
        for (Recording each : FlightRecorder.getFlightRecorder().getRecordings()) {
            Map<String, String> values = each.getSettings();
            if ("true".equals(values.get(cpuEvent + "#enabled"))) {
                Long period = FlightSettings.nanos(values.get(FlightSettings.periodKey(cpuEvent)));
                shortest = period == null || (shortest != null && shortest < period) ? shortest : period;
            }
        }
        return shortest == null ? FlightSettings.nanos(wanted.get(FlightSettings.periodKey(cpuEvent))) : shortest;
    }

    @Override
    public int stackDepth() {
        return depth;
    }

    private static long nanos(Instant time) {
        return time.getEpochSecond() * 1_000_000_000 + time.getNano();
    }
}
