package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Properties;
import java.util.Set;

/**
 * Remembers on this host that a native engine was started, so that one which brings processes down is not started again.
 *
 * <p>Each process has a file in a directory of its user, locked for as long as it lives: the lock, not the process id,
 * tells whether it does. A file without its lock is of a process that ended without closing its engine. That was a crash
 * where HotSpot left its report (hs_err) of it, unless the report says that memory ran out; then the file becomes a
 * {@code .crashed}, which lasts. Without a report nobody can tell a crash from a SIGKILL, and clusters send those all
 * the time: so one such death says nothing. Only where two processes in a row ended within seconds of the start, and
 * none in between outlived them, the engine is taken for broken (a crash so early or so deep that no report was written).
 *
 * <p>What is said holds for the same library on the same Java; another version of either starts afresh.
 */
final class EngineCanary {
    private static final long YOUNG_NANOS = 10_000_000_000L;
    private static final int YOUNG_DEATHS = 2;
    private static final long YOUNG_KEPT_MS = 7L * 24 * 3_600_000;
    private static final int REPORT_HEAD = 4096;

    private final Path directory;
    private final String engine;
    private Path file;
    private FileChannel channel;
    private long startedNanos;
    private boolean proven;

    private EngineCanary(Path directory, String engine) {
        this.directory = directory;
        this.engine = engine;
    }

    /** {@code engine}: what names this very library. Null where no directory of this host can hold its files. */
    static EngineCanary open(String engine) {
        String name = "emberscope-" + RunAddress.safe(System.getProperty("user.name", ""));
        Set<Path> places = new LinkedHashSet<>();
        places.add(Paths.get("/var/tmp", name));
        places.add(Paths.get(System.getProperty("user.home", "/"), ".emberscope"));
        places.add(Paths.get(System.getProperty("java.io.tmpdir"), name));
        String java = System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version");
        for (Path place : places) {
            if (isUsable(place)) {
                return new EngineCanary(place, engine + " on " + java);
            }
        }
        return null;
    }

    /** On a shared host a directory of that name may be somebody else's. */
    private static boolean isUsable(Path place) {
        try {
            if (!Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(place, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
            if (!Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(place);
            if (permissions.contains(PosixFilePermission.OTHERS_WRITE) || permissions.contains(PosixFilePermission.GROUP_WRITE)) {
                return false;
            }
            Path probe = Files.createTempFile(place, "probe-", ".tmp");
            try (FileChannel channel = FileChannel.open(probe, StandardOpenOption.WRITE); FileLock lock = channel.tryLock()) {
                return lock != null && Files.getOwner(probe).equals(Files.getOwner(place));
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (IOException | UnsupportedOperationException | SecurityException unusable) {
            return false;
        }
    }

    /** Why the engine must not be started here, or null where it may. */
    String reason() throws IOException {
        int young = 0;
        Path crashed = null;
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, "*.{started,young,crashed}")) {
            for (Path each : found) {
                Path now = each.toString().endsWith(".started") ? buried(each) : each;
                if (now == null || !read(now).getProperty("engine", "").equals(engine)) {
                    continue;
                }
                if (now.toString().endsWith(".crashed")) {
                    crashed = now;
                } else if (System.currentTimeMillis() - Files.getLastModifiedTime(now).toMillis() > YOUNG_KEPT_MS) {
                    Files.deleteIfExists(now);
                } else {
                    young++;
                }
            }
        }
        String hint = "; " + Settings.Key.ENGINE.key + "=async-profiler with " + Settings.Key.ENGINE_RETRY.key + "=true starts it again";
        if (crashed != null) {
            Properties said = read(crashed);
            return "process " + said.getProperty("pid") + " crashed with it on this host (" + said.getProperty("report") + ")" + hint;
        }
        return young < YOUNG_DEATHS
                ? null
                : "the last " + young + " processes with it on this host ended within seconds of its start" + hint;
    }

    /** What became of the process of this file: null where it lives, or its end says nothing; else the file's new name. */
    private static Path buried(Path file) throws IOException {
        if (file.getFileName().toString().startsWith(process())) {
            return null; // Ours: to close it would let go of the lock.
        }
        try (FileChannel other = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = other.tryLock()) {
            if (lock == null) {
                return null;
            }
            Properties said = read(file);
            String report = report(said);
            boolean young = said.getProperty("proven") == null;
            if (report == null && !young) {
                Files.deleteIfExists(file);
                return null;
            }
            if (report != null) {
                said.setProperty("report", report);
                write(other, said);
            }
            String name = file.getFileName().toString().replaceAll("\\.started$", report == null ? ".young" : ".crashed");
            return Files.move(file, file.resolveSibling(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (OverlappingFileLockException | java.nio.file.NoSuchFileException others) {
            return null;
        }
    }

    /** HotSpot's report of the process's crash, where there is one and it is no want of memory. */
    private static String report(Properties said) throws IOException {
        long startedMs = Long.parseLong(said.getProperty("started", "0"));
        for (String place : said.getProperty("reports", "").split("\n")) {
            Path report = Paths.get(place);
            if (place.isEmpty() || !Files.isReadable(report) || Files.getLastModifiedTime(report).toMillis() < startedMs) {
                continue;
            }
            byte[] head = new byte[REPORT_HEAD];
            int length;
            try (InputStream in = Files.newInputStream(report)) {
                length = Math.max(0, in.read(head));
            }
            String text = new String(head, 0, length, java.nio.charset.StandardCharsets.ISO_8859_1);
            if (!text.contains("insufficient memory") && !text.contains("OutOfMemory")) {
                return place;
            }
        }
        return null;
    }

    /** Forgets all that went wrong here. */
    void forgive() throws IOException {
        forget("*.{young,crashed}");
    }

    /** Says that this process starts the engine, before it does. */
    void starting() throws IOException {
        startedNanos = System.nanoTime();
        // Others see it when it is locked, not before: a free lock would tell them that this process is dead.
        file = Files.createTempFile(directory, process() + "-", ".starting");
        channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        channel.lock();
        write(channel, said());
        String name = file.getFileName().toString().replaceAll("\\.starting$", ".started");
        file = Files.move(file, file.resolveSibling(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private Properties said() {
        String pid = String.valueOf(ThisJvm.pid());
        Set<String> reports = new LinkedHashSet<>();
        for (String argument : ThisJvm.options()) {
            if (argument.startsWith("-XX:ErrorFile=")) {
                reports.add(Paths.get(argument.substring(argument.indexOf('=') + 1).replace("%p", pid)).toAbsolutePath().toString());
            }
        }
        for (String place : Arrays.asList(System.getProperty("user.dir"), "/tmp", System.getProperty("java.io.tmpdir"))) {
            reports.add(Paths.get(place, "hs_err_pid" + pid + ".log").toString());
        }
        Properties out = new Properties();
        out.setProperty("engine", engine);
        out.setProperty("pid", pid);
        out.setProperty("started", String.valueOf(System.currentTimeMillis()));
        out.setProperty("reports", String.join("\n", reports));
        if (proven) {
            out.setProperty("proven", "true");
        }
        return out;
    }

    /** To be called every second or so: the process lives. */
    void beat() {
        if (proven || channel == null || System.nanoTime() - startedNanos < YOUNG_NANOS) {
            return;
        }
        proven = true;
        try {
            write(channel, said());
            forget("*.young");
        } catch (IOException unwritable) {
            // Then this start tells nothing to later ones.
        }
    }

    private void forget(String which) throws IOException {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, which)) {
            for (Path each : found) {
                Files.deleteIfExists(each);
            }
        }
    }

    /** The engine was closed as it should be. */
    void close() throws IOException {
        if (channel != null) {
            Files.deleteIfExists(file);
            channel.close();
            channel = null;
        }
    }

    /** The process id and when the process began, which no other process of this host shares. */
    private static String process() {
        return ThisJvm.pid() + "-" + ManagementFactory.getRuntimeMXBean().getStartTime();
    }

    private static Properties read(Path file) throws IOException {
        Properties out = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
            out.load(in);
        } catch (java.nio.file.NoSuchFileException gone) {
            // Another process has looked at it at the same moment.
        } catch (IllegalArgumentException malformed) {
            out.clear();
        }
        return out;
    }

    private static void write(FileChannel channel, Properties said) throws IOException {
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        said.store(bytes, null);
        channel.truncate(0);
        channel.write(java.nio.ByteBuffer.wrap(bytes.toByteArray()), 0);
        channel.force(true);
    }
}
