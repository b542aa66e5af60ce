package io.emberscope;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Moves closed chunks of one process into the run's directory, each once, with its manifest beside it.
 *
 * <p>The engine keeps closed chunks for a while; a chunk that could not be written is offered again with the next ones,
 * and is lost when the engine no longer has it. One failure ends a round: a store that is full or gone is tried once
 * per round, not once per chunk.
 */
final class ChunkShipper {
    static final String SCHEMA = "emberscope.chunk/1";

    static final long NO_END = Long.MAX_VALUE;

    /** Far more chunks than an engine keeps. */
    private static final int REMEMBERED = 4096;

    private static final long UNKNOWN_SIZE = -1;

    /** What names a process within a run. */
    static final class Process {
        final String role;
        final String executorId;
        final String host;
        final Long pid;
        final String jdk;
        /** Whether it is dead, and this is another process. */
        final boolean swept;
        /** The numbers of its chunks, whichever engine made them. */
        final ChunkLog log = new ChunkLog();
        /** What the process may use and send. */
        Governor governor = Governor.withoutLimits();

        Process(String role, String executorId, String host) {
            this(role, executorId, host, ThisJvm.pid(), System.getProperty("java.version"), false);
        }

        Process(String role, String executorId, String host, Long pid, String jdk, boolean swept) {
            this.role = role;
            this.executorId = executorId;
            this.host = host;
            this.pid = pid;
            this.jdk = jdk;
            this.swept = swept;
        }

        /** Which process of which run it is: as manifests say it, and as a spool does for whoever ships in its stead. */
        void describe(Map<String, Object> out, RunAddress address) {
            out.put("app_id", address.appId);
            out.put("attempt", address.attempt);
            out.put("role", role);
            out.put("executor_id", executorId);
            out.put("host", host);
            out.put("pid", pid);
            out.put("jdk", jdk);
        }

        String directory() {
            return "recordings/" + role + "-" + RunAddress.safe(executorId) + "/";
        }
    }

    private final Process process;
    private final Problems problems;
    private final Engine engine;
    final Rates rates;

    /** Starts (epoch ns) and sizes of chunks that are done with: shipped, or given up. */
    private final TreeMap<Long, Long> done = new TreeMap<>();

    /** Start to {bytes, duration ns} of chunks that could not be written yet. */
    private final TreeMap<Long, long[]> waiting = new TreeMap<>();

    /** The chunk that was shipped last. */
    private Map<String, Object> newest;
    private String newestStem;
    private long shippedUntilNanos;
    private long lostChunks;
    private long lostBytes;
    private long lostNanos;

    ChunkShipper(Process process, Engine engine, Problems problems) {
        this.process = process;
        this.engine = engine;
        this.rates = new Rates(engine);
        this.problems = problems;
        this.shippedUntilNanos = engine.firstNanos();
    }

    /** A chunk that was shipped in another life of this process. */
    void skip(long start) {
        done.put(start, UNKNOWN_SIZE);
    }

    /** Closed chunks that reach beyond this time (epoch ns) are still to be shipped. */
    long afterNanos() {
        return waiting.isEmpty() ? shippedUntilNanos : Math.min(waiting.firstKey(), shippedUntilNanos);
    }

    /** The end (epoch ns) of what was shipped. */
    long shippedUntilNanos() {
        return shippedUntilNanos;
    }

    boolean hasShippedUntil(long nanos) {
        return shippedUntilNanos >= nanos;
    }

    /**
     * Ships what is new in a stream of chunks. The process's last chunk is the last of the stream, if it reaches to
     * {@code endNanos} (epoch ns; {@link #NO_END} where the process goes on).
     */
    void ship(InputStream stream, RunStore store, RunAddress address, long endNanos) throws IOException {
        Chunks chunks = new Chunks(new BufferedInputStream(stream, 1 << 16));
        ChunkFilter filter = engine.filter();
        Long earliest = null;
        Chunks.Header header = chunks.next();
        while (header != null) {
            long start = header.startNanos;
            earliest = earliest == null ? Long.valueOf(start) : earliest;
            if (start < engine.firstNanos() || done.containsKey(start)) {
                sayIfAnother(header);
                header = chunks.next();
                continue;
            }
            waiting.put(start, new long[] {header.size, header.durationNanos});
            giveUpBefore(earliest);
            if (!process.governor.bytes().admits(header.size, endNanos != NO_END, System.nanoTime())) {
                return;
            }
            int sequence = process.log.begin(engine.name(), start);
            String stem = process.directory() + start / 1_000_000 + "-" + String.format("%06d", sequence);
            MessageDigest digest = sha256();
            RunStore.Upload upload = store.begin(stem + ".jfr");
            long withheld;
            Chunks.Header following;
            try {
                OutputStream out = new BufferedOutputStream(new DigestOutputStream(upload.out, digest), 1 << 16);
                out.write(header.bytes);
                withheld = filter.copy(chunks.body(), header.bodyBytes(), out);
                out.flush();
                following = following(chunks);
                upload.commit();
            } catch (ChunkFilter.NotAChunk malformed) {
                upload.abandon();
                problems.add("chunk", malformed);
                giveUp(start);
                header = following(chunks);
                continue;
            } catch (IOException | RuntimeException | Error failed) {
                upload.abandon();
                throw failed;
            }
            boolean isLast = following == null && start + header.durationNanos >= endNanos;
            Map<String, Object> manifest = manifest(header, address, sequence, isLast, withheld, digest.digest());
            byte[] manifestBytes = Json.bytes(manifest);
            store.put(stem + ".json", manifestBytes);
            process.governor.bytes().sent(header.size + manifestBytes.length, System.nanoTime());
            process.log.done(engine.name(), start);
            newest = manifest;
            newestStem = stem;
            waiting.remove(start);
            done.put(start, header.size);
            shippedUntilNanos = Math.max(shippedUntilNanos, start + header.durationNanos);
            header = following;
        }
        giveUpBefore(earliest);
        while (done.size() > REMEMBERED) {
            done.pollFirstEntry();
        }
    }

    /** Flight Recorder lets time stand still where the clock is set back, until it is reached again. */
    private void sayIfAnother(Chunks.Header header) {
        long size = done.getOrDefault(header.startNanos, UNKNOWN_SIZE);
        if (size != UNKNOWN_SIZE && size != header.size) {
            problems.add(
                    "clock", "the clock was set back: what " + engine.name() + " records until it is as late again is left out");
        }
    }

    /** The chunk after this one; null where there is none, or what comes is cut: this one is whole all the same. */
    private Chunks.Header following(Chunks chunks) throws IOException {
        try {
            return chunks.next();
        } catch (ChunkFilter.NotAChunk malformed) {
            problems.add("chunk", malformed);
            return null;
        }
    }

    /** Where the engine has ended and left nothing more: the chunk that was shipped last was the last. */
    void sayLast(RunStore store) throws IOException {
        if (newest != null && waiting.isEmpty() && Boolean.FALSE.equals(newest.get("last"))) {
            newest.put("last", true);
            store.put(newestStem + ".json", Json.bytes(newest));
        }
    }

    /** The engine has let go of chunks that began before the first one it still gives. */
    private void giveUpBefore(Long earliest) throws IOException {
        while (earliest != null && !waiting.isEmpty() && waiting.firstKey() < earliest) {
            giveUp(waiting.firstKey());
        }
    }

    private void giveUp(long start) throws IOException {
        long[] size = waiting.remove(start);
        process.log.done(engine.name(), start);
        done.put(start, size[0]);
        lostChunks++;
        lostBytes += size[0];
        lostNanos += size[1];
    }

    private Map<String, Object> manifest(
            Chunks.Header header, RunAddress address, int sequence, boolean last, long withheld, byte[] sha256) {
        Map<String, Object> lost = new LinkedHashMap<>();
        lost.put("chunks", lostChunks);
        lost.put("bytes", lostBytes);
        lost.put("seconds", lostNanos / 1e9);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("schema", SCHEMA);
        process.describe(out, address);
        out.put("sequence", sequence);
        out.put("first_ms", header.startNanos / 1_000_000);
        out.put("last_ms", (header.startNanos + header.durationNanos) / 1_000_000);
        out.put("clock_ms", System.currentTimeMillis());
        out.put("engine", engine.name());
        out.put("bytes", header.size);
        out.put("sha256", hex(sha256));
        out.put("events", engine.events());
        rates.describe(out, header.startNanos, header.durationNanos);
        if (!process.swept) {
            process.governor.describe(out);
        }
        out.put("stack_depth", engine.stackDepth());
        out.put("withheld", withheld);
        out.put("last", last);
        out.put("unfinished", header.isUnfinished());
        out.put("swept", process.swept);
        out.put("lost", lost);
        out.put("problems", problems.documentsOf(process.role, process.executorId));
        return out;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (byte octet : bytes) {
            out.append(Character.forDigit(octet >> 4 & 0xf, 16)).append(Character.forDigit(octet & 0xf, 16));
        }
        return out.toString();
    }
}
