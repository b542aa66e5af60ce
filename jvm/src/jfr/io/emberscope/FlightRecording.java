package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * JDK Flight Recorder as an engine: a recording of our own beside any that the user runs.
 *
 * <p>Closed chunks stay in JFR's own repository, within a budget, until they are shipped; there is no second spool. JFR
 * stops all recordings in a shutdown hook of its own that runs at once with ours, and then deletes its repository under
 * our reading. So our recording has a destination and is never stopped by us: while it runs, JFR's hook writes all that
 * it holds to that file first, and what could not be read from the repository any more is read from there.
 */
final class FlightRecording implements Engine {
    private static final long SHORTEST_KEPT_SECONDS = 300;
    private static final int KEPT_CHUNKS = 10;
    private static final long CLOCKS_DIFFER_MS = 500;

    /** How long after a failed reading the state of an exiting JVM's recording may still say that it runs. */
    private static final long EXIT_GRACE_MS = 300;

    /** A CPU sampler that gave nothing where so many samples were due does not work. */
    private static final int SAMPLES_DUE = 200;

    private final TaskEvents tasks = new TaskEvents();
    private final List<String> kinds;
    private Settings settings;
    private Problems problems;
    private FlightSettings chosen;
    private Recording recording;
    private ChunkFilter filter;
    private HeapSummary heap;
    private Path tail;
    private Path repository;
    private long firstNanos;
    private long cpuNanosAtStart;
    private boolean cpuSampled;
    private boolean chunkSeen;
    private int depth;
    private int steps;
    private long sampledNanos;
    private final Set<Long> sampleTypes = new HashSet<>();

    /** {@code kinds} of events to record. */
    FlightRecording(List<String> kinds) {
        this.kinds = new ArrayList<>(kinds);
    }

    @Override
    public void take(List<String> left) {
        kinds.addAll(left);
        if (recording != null && recording.getState() == RecordingState.RUNNING) {
            cpuNanosAtStart = OwnCpu.processNanos();
            chosen = FlightSettings.choose(settings, kinds, true);
            recording.setSettings(FlightRates.slowed(chosen.values, steps));
            chosen.sayWhatIsMissing(problems);
            // Chunks from before say nothing of a CPU sampler that was not asked for then.
            filter();
            chunkSeen = false;
        }
    }

    @Override
    public void start(Settings settings, Problems problems) throws Exception {
        this.settings = settings;
        this.problems = problems;
        Spool spool = Spool.ofThisJvm();
        repository = spool == null ? Paths.get(System.getProperty("java.io.tmpdir")) : spool.directory;
        String reason = mustStop();
        if (reason != null) {
            throw new IOException(reason);
        }
        depth = FlightOptions.set(settings, problems, FlightRecorder.isInitialized());
        FlightSettings.registerOwnEvents();
        chosen = FlightSettings.choose(settings, kinds, true);
        Recording mine = new Recording();
        try {
            begin(mine, spool);
        } catch (Throwable failed) {
            // It would record on, and nobody would ship it.
            TaskSpans.OF_THIS_JVM.stopWriting(tasks);
            recording = null;
            drop(mine);
            throw failed;
        }
    }

    private void begin(Recording mine, Spool spool) throws Exception {
        mine.setName("emberscope");
        mine.setToDisk(true);
        mine.setMaxAge(keepAge());
        mine.setMaxSize(settings.bytes(Settings.Key.BUDGET_DISK));
        mine.setSettings(chosen.values);
        if (spool == null) {
            tail = Files.createTempFile("emberscope-", ".jfr");
            tail.toFile().deleteOnExit();
        } else {
            tail = Files.createTempFile(spool.directory, "tail-", ".jfr");
        }
        mine.setDestination(tail);
        mine.setDumpOnExit(true);
        firstNanos = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
        cpuNanosAtStart = OwnCpu.processNanos();
        mine.start();
        recording = mine;
        // Where the user started JFR it lies elsewhere.
        repository = Paths.get(System.getProperty("jdk.jfr.repository", repository.toString()));
        TaskSpans.OF_THIS_JVM.startWriting(tasks);
        chosen.sayWhatIsMissing(problems);
        if (chosen.kinds.contains("heap")) {
            heap = new HeapSummary(settings.millis(Settings.Key.RATE_HEAP), problems);
            heap.start();
        }
    }

    /** Where the CPU-time sampler is there but silent (a sandbox can forbid its timers), the older one takes over. */
    private void watchCpuSampler() {
        noteCpuSamples();
        // A filter is also made for the spool, before there is a chunk.
        if (cpuSampled || !chunkSeen || !FlightSettings.CPU_TIME.equals(chosen.cpuEvent)) {
            return;
        }
        long due = (OwnCpu.processNanos() - cpuNanosAtStart) / (1_000_000 * settings.millis(Settings.Key.RATE_CPU));
        if (due > SAMPLES_DUE) {
            problems.add("cpu", chosen.cpuEvent + " is silent on this host, so the older sampler is used");
            chosen = FlightSettings.choose(settings, kinds, false);
            recording.setSettings(FlightRates.slowed(chosen.values, steps));
        }
    }

    private void noteCpuSamples() {
        chunkSeen |= filter != null && filter.sawAny();
        cpuSampled |= filter != null && chosen.cpuEvent != null && filter.saw(FlightSettings.idOf(chosen.cpuEvent));
    }

    /** HotSpot ends the whole JVM when JFR meets a full disk. */
    @Override
    public String mustStop() {
        String lacking = FreeSpace.lacking(repository, settings, "Flight Recorder");
        return lacking == null ? null : lacking + ", since a full disk there would end the JVM";
    }

    private Duration keepAge() {
        long chunkSeconds = settings.count(Settings.Key.CHUNK_SECONDS, 1);
        return Duration.ofSeconds(Math.max(SHORTEST_KEPT_SECONDS, KEPT_CHUNKS * chunkSeconds));
    }

    /** JFR lets go of what is shipped at once: when the JVM exits it copies all that it still holds, and we wait for it. */
    private void letGoBefore(long nanos) {
        Duration age = Duration.between(Instant.ofEpochSecond(0, nanos), Instant.now()).plusMillis(CLOCKS_DIFFER_MS);
        try {
            recording.setMaxAge(age.isNegative() ? keepAge() : age);
            recording.setMaxAge(keepAge());
        } catch (IllegalStateException closed) {
            // The exiting JVM was first.
        }
    }

    @Override
    public InputStream closed(long afterNanos) throws Exception {
        watchCpuSampler();
        letGoBefore(afterNanos);
        Recording snapshot = FlightRecorder.getFlightRecorder().takeSnapshot();
        InputStream chunks = null;
        try {
            chunks = snapshot.getStream(Instant.ofEpochSecond(0, afterNanos), null);
        } finally {
            if (chunks == null) {
                snapshot.close(); // It would keep all chunks that there are on the disk.
            }
        }
        return chunks == null ? null : new java.io.FilterInputStream(chunks) {
            @Override
            public void close() throws IOException {
                try {
                    super.close();
                } finally {
                    snapshot.close();
                }
            }
        };
    }

    @Override
    public InputStream tail(long waitMs) throws Exception {
        long start = System.nanoTime();
        while (recording.getState() == RecordingState.RUNNING) {
            if (System.nanoTime() - start > EXIT_GRACE_MS * 1_000_000) {
                return null;
            }
            Thread.sleep(10);
        }
        while (recording.getState() != RecordingState.CLOSED && System.nanoTime() - start < waitMs * 1_000_000) {
            Thread.sleep(10);
        }
        return Files.newInputStream(tail);
    }

    @Override
    public void close() throws Exception {
        TaskSpans.OF_THIS_JVM.stopWriting(tasks);
        if (heap != null) {
            heap.stop();
        }
        if (exiting()) {
            // JFR's own hook ends the recording. Closed beside it, JFR can complain, on the job's standard output.
            return;
        }
        drop(recording);
        Files.deleteIfExists(tail);
    }

    /** Ends it without a file. */
    private static void drop(Recording recording) throws IOException {
        recording.setDumpOnExit(false);
        recording.setDestination(null);
        recording.close();
    }

    /** Hooks are refused from the moment on that they are started. */
    private static boolean exiting() {
        Thread hook = new Thread(() -> {});
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException exiting) {
            return true;
        }
    }

    @Override
    public ChunkFilter filter() {
        sampledNanos = sampledNanos();
        Set<Long> allowed = new HashSet<>();
        long withheld = 0;
        long strings = 0;
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            String name = type.getName();
            if (name.equals("emberscope.Withheld")) {
                withheld = type.getId();
            } else if ("true".equals(chosen.values.get(name + "#enabled"))) {
                allowed.add(type.getId());
            }
            if (FlightRates.SAMPLES.contains(name)) {
                sampleTypes.add(type.getId());
            }
            if (name.equals("emberscope.TaskSpan")) {
                strings = type.getField("description").getTypeId();
            }
        }
        noteCpuSamples();
        filter = new ChunkFilter(allowed, withheld, strings, this::wrote);
        return filter;
    }

    /** Whether a text of the chunk's string pool is ours. */
    private boolean wrote(String text) {
        return TaskSpans.OF_THIS_JVM.wrote(text) || HeapSummary.wrote(text);
    }

    @Override
    public List<Path> places() {
        return Arrays.asList(repository, tail);
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
        return chosen.kinds;
    }

    /** The shortest period that any running recording asks for: it holds for all of them. */
    @Override
    public Long samplePeriodNs() {
        if (chosen.cpuEvent == null) {
            return null;
        }
        String key = FlightSettings.periodKey(chosen.cpuEvent);
        Long shortest = FlightSettings.nanos(recording.getSettings().get(key));
        for (Recording each : FlightRecorder.getFlightRecorder().getRecordings()) {
            Map<String, String> values = each.getSettings();
            Long period = FlightSettings.nanos(values.get(key));
            boolean runs = each.getState() == RecordingState.RUNNING;
            if (runs && "true".equals(values.get(chosen.cpuEvent + "#enabled")) && period != null) {
                shortest = shortest == null ? period : Math.min(shortest, period);
            }
        }
        return shortest;
    }

    @Override
    public int stackDepth() {
        return depth;
    }

    /** The filter goes on letting all pass that was asked for: it is in the chunk that was just closed. */
    @Override
    public boolean slow(int newSteps) {
        recording.setSettings(FlightRates.slowed(chosen.values, newSteps));
        steps = newSteps;
        return true;
    }

    /** By the events that were shipped: each took a stack on the thread that it is of. */
    @Override
    public long sampledNanos() {
        long events = 0;
        for (Long type : sampleTypes) {
            events += filter.count(type);
        }
        return sampledNanos + events * FlightRates.NANOS_PER_SAMPLE;
    }
}
