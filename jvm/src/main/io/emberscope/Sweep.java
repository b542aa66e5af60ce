package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Ships what dead processes of the same application left in their spools on this host. Executors and driver look for it
 * now and then, and {@code emberscope run} after its job.
 *
 * <p>A process is dead when its lock is free. Whoever takes that lock ships; the others pass by. What dies while it
 * ships is taken up by the next one, under the same names.
 */
final class Sweep {
    private static final long STALE_MS = TimeUnit.DAYS.toMillis(1);
    private static final long YOUNG_MS = TimeUnit.MINUTES.toMillis(1);

    private final List<Path> places;
    private final Problems problems;
    /** Spools that are none of our business, looked at once. */
    private final Set<Path> passed = new HashSet<>();

    /** {@code places} as {@link Spool#places} has them. */
    Sweep(List<Path> places, Problems problems) {
        this.places = places;
        this.problems = problems;
    }

    /** What opens the store, when there is something to ship. */
    interface Opening {
        RunStore open() throws IOException;
    }

    /** Ships all that can be found now, or what is begun when {@code stop} says so. Returns how many processes were done. */
    int round(RunAddress address, Opening store, BooleanSupplier stop) throws IOException {
        int swept = 0;
        for (Path spool : spools()) {
            if (stop.getAsBoolean()) {
                break;
            }
            try {
                swept += look(spool, address, store, stop) ? 1 : 0;
            } catch (NoSuchFileException | UncheckedIOException gone) {
                // Another process has just removed it.
            } catch (RuntimeException damaged) {
                // What cannot be understood in one must not keep the others waiting.
                problems.add("sweep", spool + ": " + damaged);
            }
        }
        return swept;
    }

    private List<Path> spools() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path place : places) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(Spool.parent(place), "process-*")) {
                children.forEach(found::add);
            } catch (NoSuchFileException | NotDirectoryException none) {
                // Nobody left anything here.
            } catch (AccessDeniedException others) {
                // Somebody else has taken our name.
            }
        }
        found.removeAll(passed);
        return found;
    }

    private boolean look(Path spool, RunAddress address, Opening store, BooleanSupplier stop) throws IOException {
        Spool own = Spool.ofThisJvm();
        // By whatever path: to open and close its lock would let go of it.
        if (own != null && Files.exists(own.directory) && Files.isSameFile(own.directory, spool)) {
            passed.add(spool);
            return false;
        }
        Map<String, String> said = Spool.description(spool);
        boolean ours = said != null && address.directory.equals(said.get("run"));
        if (!ours && System.currentTimeMillis() - changedMs(spool) < (said == null ? YOUNG_MS : STALE_MS)) {
            // One without a document may get it yet.
            if (said != null) {
                passed.add(spool);
            }
            return false;
        }
        try (FileChannel lock = FileChannel.open(spool.resolve(Spool.LOCK), StandardOpenOption.WRITE)) {
            FileLock claimed = lock.tryLock();
            if (claimed == null) {
                return false;
            }
            if (ours && Files.exists(spool.resolve(Spool.DOCUMENT)) && !ship(spool, said, address, store, stop)) {
                return false;
            }
            Spool.delete(spool);
            return ours;
        } catch (OverlappingFileLockException ownLock) {
            return false;
        }
    }

    /** True when nothing of it is left to be shipped. */
    private boolean ship(Path spool, Map<String, String> said, RunAddress address, Opening opening, BooleanSupplier stop)
            throws IOException {
        RunStore store = opening.open();
        Long pid = said.get("pid").isEmpty() ? null : Long.valueOf(said.get("pid"));
        ChunkShipper.Process process = new ChunkShipper.Process(
                said.get("role"), said.get("executor_id"), said.get("host"), pid, said.get("jdk"), true);
        if (!said.getOrDefault("bytes_left", "").isEmpty()) {
            long left = Math.max(1, Long.parseLong(said.get("bytes_left")));
            process.governor = new Governor(1, new ByteBudget(left, ByteBudget.NO_LIMIT), problems);
        }
        process.log.open(spool.resolve(ChunkLog.NAME));
        try {
            Set<String> strings = Spool.strings(spool);
            for (String name : said.get("engines").split(",")) {
                if (name.isEmpty()) {
                    continue;
                }
                LeftEngine engine = new LeftEngine(name, said, strings, stop);
                ChunkShipper shipper = new ChunkShipper(process, engine, problems);
                shipper.rates.read(engine.rates());
                engine.chunks().stream().filter(start -> process.log.wasDone(name, start)).forEach(shipper::skip);
                try (InputStream chunks = engine.closed(0)) {
                    shipper.ship(chunks, store, address, engine.endNanos());
                } catch (ChunkFilter.NotAChunk damaged) {
                    problems.add("sweep", damaged);
                }
            }
        } finally {
            process.log.close();
        }
        return !stop.getAsBoolean();
    }

    /** When anything in it changed last. */
    private static long changedMs(Path spool) throws IOException {
        try (Stream<Path> all = Files.walk(spool, 4)) {
            long latest = 0;
            for (Path path : (Iterable<Path>) all::iterator) {
                latest = Math.max(latest, Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis());
            }
            return latest;
        }
    }

    /** {@code RUN_DIRECTORY APP_ID ATTEMPT PLACE...}: sweeps places on this host for a run in a local store. */
    public static void main(String[] arguments) throws IOException {
        RunAddress address = new RunAddress(arguments[1], arguments[2], arguments[0]);
        List<Path> places = new ArrayList<>();
        Arrays.stream(arguments).skip(3).forEach(place -> places.add(Paths.get(place)));
        Problems problems = new Problems("driver", "driver");
        Path run = Paths.get(java.net.URI.create(arguments[0]));
        int swept = new Sweep(places, problems).round(address, () -> RunStore.local(run), () -> false);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("swept", swept);
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
