package io.emberscope;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * async-profiler (4.x) as an engine, where its library is there: beside JDK Flight Recorder, which writes the task spans
 * and records every kind that this one does not take.
 *
 * <p>It writes one file, and is told to close a chunk of it ({@code dump}): sampling stands still only while that chunk's
 * constants are written, well under a sample's interval, where a stop and a new start would lose tens of milliseconds.
 * The file lies in the spool, for those who ship closed chunks after this process's death (the open one has no constants
 * yet and dies with it); where there is no spool it has no name any more once it is open, so that nothing is left. It
 * cannot be cut at its front, and the profiler keeps every stack that it has ever seen, in about five times the memory
 * that the file takes on disk. So both are begun anew, by a stop and a start, where the file has grown to half of the
 * budgets of memory or disk, and every few chunks where live objects are asked for, which are only written at a stop.
 * {@code benchmarks/rotation.py} has the figures of both ways.
 */
final class AsyncProfiler implements Engine {
    /** Kinds of events that it records better than JDK Flight Recorder, or alone. */
    static final List<String> KINDS = Arrays.asList("cpu", "wall", "alloc", "live", "lock", "nativemem");

    static final String NOT_USED = "async-profiler is not used, JDK Flight Recorder takes its place: ";

    /** What may leave this JVM: samples and how they were taken. Never the command line, properties, environment. */
    private static final List<String> SHIPPED = Arrays.asList(
            "jdk.ExecutionSample",
            "profiler.WallClockSample",
            "jdk.ObjectAllocationInNewTLAB",
            "jdk.ObjectAllocationOutsideTLAB",
            "profiler.LiveObject",
            "jdk.JavaMonitorEnter",
            "jdk.ThreadPark",
            "profiler.Malloc",
            "profiler.Free",
            "profiler.NativeLock",
            "jdk.MethodTrace",
            "jdk.ActiveSetting");

    private static final int CHUNKS_OF_LIVE = 10;

    /** To walk the stack of a task (about a hundred frames, native ones too) in a signal's handler: 20 to 40 us. */
    private static final long NANOS_PER_SAMPLE = 30_000;

    private static final long LOOK_NANOS = 10_000_000_000L;

    private final AsyncLibrary.Source source;
    private final EngineCanary canary;
    private final List<String> kinds;
    private final Consumer<List<String>> heir;
    private final AsyncChunks chunks = new AsyncChunks();
    private final ChunkFilter filter = ownFilter();
    private Settings settings;
    private Problems problems;
    private AsyncLibrary library;
    private AsyncOptions options;
    private String version;
    private Path directory;
    private boolean inSpool;
    private boolean running;
    private boolean ended;
    private int chunksOfFile;
    private int steps;
    private long firstNanos;
    private long lookedNanos;
    private String other;

    /** {@code heir} records the {@code kinds} where this engine cannot. */
    AsyncProfiler(
            AsyncLibrary.Source source, EngineCanary canary, List<String> kinds, Consumer<List<String>> heir) {
        this.source = source;
        this.canary = canary;
        this.kinds = kinds;
        this.heir = heir;
    }

    @Override
    public void start(Settings settings, Problems problems) throws Exception {
        this.settings = settings;
        this.problems = problems;
        try {
            canary.starting();
            library = AsyncLibrary.load(source);
            version = library.execute("version,loglevel=none"); // From here on it prints nothing.
            options = new AsyncOptions(settings, kinds, problems);
            Spool spool = Spool.ofThisJvm();
            inSpool = spool != null;
            if (inSpool) {
                directory = Files.createDirectories(spool.directory.resolve("async"));
                clear(); // Of what an earlier application of this JVM left.
            } else {
                directory = Files.createTempDirectory("emberscope-async-");
                directory.toFile().deleteOnExit();
            }
            firstNanos = System.currentTimeMillis() * 1_000_000;
            begin();
            lookedNanos = System.nanoTime();
        } catch (Exception | LinkageError failed) {
            leave(true);
            throw new Unavailable(NOT_USED + failed.getMessage());
        }
    }

    private void begin() throws IOException {
        Path file = Files.createTempFile(directory, "recording-", ".jfr");
        boolean keepsName = false;
        try {
            library.execute(options.start(file, steps));
            running = true;
            chunks.open(file, inSpool);
            keepsName = inSpool;
        } finally {
            if (!keepsName) {
                Files.deleteIfExists(file);
            }
        }
        chunksOfFile = 0;
    }

    private void stop() {
        if (running) {
            running = false;
            library.execute("stop");
        }
    }

    @Override
    public String mustStop() {
        canary.beat();
        if (other == null && System.nanoTime() - lookedNanos > LOOK_NANOS) {
            lookedNanos = System.nanoTime();
            other = AsyncLibrary.other();
        }
        if (other != null) {
            return "async-profiler of the recorder stopped, since another profiler was loaded: " + other;
        }
        return FreeSpace.lacking(directory, settings, "async-profiler");
    }

    @Override
    public InputStream closed(long afterNanos) throws Exception {
        chunks.forget(afterNanos);
        try {
            rotate();
        } catch (IOException | RuntimeException failed) {
            problems.add("chunk", failed); // Those that are closed go their way.
        }
        return chunks.after(afterNanos);
    }

    private void rotate() throws IOException {
        if (!running && steps < Governor.SPANS_ONLY) {
            begin(); // It could not be begun anew the last time.
        } else if (running) {
            chunksOfFile++;
            long most = settings.bytes(Settings.Key.BUDGET_DISK) / 2;
            long longest = Math.min(most, settings.bytes(Settings.Key.BUDGET_MEMORY) / 2);
            boolean anew = chunks.length() > longest || kinds.contains("live") && chunksOfFile >= CHUNKS_OF_LIVE;
            if (anew) {
                stop();
                chunks.finish(most);
                begin();
            } else {
                library.execute("dump,jfr,file=" + directory.resolve("recording"));
                if (chunks.collect() == 0) {
                    problems.add("chunk", "async-profiler closed a chunk that is not whole: it is lost");
                    stop();
                    begin();
                }
            }
        }
    }

    /** The last time: by a stop, which writes what lives. */
    @Override
    public InputStream last(long afterNanos) throws Exception {
        chunks.forget(afterNanos);
        ended = true;
        stop();
        chunks.collect();
        return chunks.after(afterNanos);
    }

    /** It runs until we stop it: an exit goes through our own hook first. */
    @Override
    public InputStream tail(long waitMs) {
        return null;
    }

    @Override
    public void close() throws Exception {
        leave(other != null);
    }

    /** Nothing goes on and nothing is left here; {@code inherited}: the others record its kinds from now on. */
    private void leave(boolean inherited) throws IOException {
        try {
            stop();
        } finally {
            canary.close();
            chunks.close();
            // What could not be shipped at the end stays in the spool, which goes as a whole where all was.
            if (directory != null && !(ended && inSpool)) {
                clear();
                Files.deleteIfExists(directory);
            }
            if (inherited) {
                heir.accept(kinds);
            }
        }
    }

    private void clear() throws IOException {
        File[] left = directory.toFile().listFiles();
        for (File file : left == null ? new File[0] : left) {
            Files.deleteIfExists(file.toPath());
        }
    }

    @Override
    public List<Path> places() {
        return inSpool ? Collections.singletonList(directory) : Collections.emptyList();
    }

    /** Of chunks that this engine wrote, in this process or another. */
    static ChunkFilter ownFilter() {
        return new ChunkFilter(SHIPPED::contains);
    }

    /** Whether an engine of this name is this one, of whatever version. */
    static boolean isNameOf(String engine) {
        return engine.startsWith("async-profiler ");
    }

    /** Its rates are those of a file, so that takes a stop and a start, of which the last chunk is shipped with the next. */
    @Override
    public boolean slow(int newSteps) throws Exception {
        steps = newSteps;
        stop();
        chunks.finish(settings.bytes(Settings.Key.BUDGET_DISK) / 2);
        if (steps < Governor.SPANS_ONLY) {
            begin();
        }
        return true;
    }

    @Override
    public long sampledNanos() {
        long samples = 0;
        for (String each : SHIPPED) {
            samples += each.equals("jdk.ActiveSetting") || each.equals("profiler.Free") ? 0 : filter.count(each);
        }
        return samples * NANOS_PER_SAMPLE;
    }

    @Override
    public ChunkFilter filter() {
        return filter;
    }

    @Override
    public long firstNanos() {
        return firstNanos;
    }

    /** With how CPU is really sampled, as the recording says: asked for perf events it may have fallen back to a timer. */
    @Override
    public String name() {
        String engine = filter.settings().get("engine");
        return "async-profiler " + version + (engine == null || !kinds.contains("cpu") ? "" : " (" + engine + ")");
    }

    @Override
    public List<String> events() {
        return kinds;
    }

    @Override
    public Long samplePeriodNs() {
        return kinds.contains("cpu") ? options.periodNs(filter.settings()) : null;
    }

    @Override
    public int stackDepth() {
        return settings.count(Settings.Key.DEPTH, 1);
    }
}
