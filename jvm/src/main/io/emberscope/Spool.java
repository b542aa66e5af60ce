package io.emberscope;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;

/**
 * This process's directory on a local disk: what it recorded and did not ship yet, and all that another process needs to
 * do that in its stead (see {@link Sweep}). One for the whole JVM, since Flight Recorder has one place for its files.
 *
 * <p>The lock in it is held as long as the process lives: whatever ends it, the operating system lets go of the lock.
 * The document appears when there is something to ship and is gone when all is shipped.
 */
final class Spool {
    static final String LOCK = "lock";
    static final String DOCUMENT = "process";
    static final String STRINGS = "strings";
    static final String SCHEMA = "emberscope.spool/1";

    private static final long MOST_STRING_BYTES = 1 << 20;
    private static final String PRIVATE = "rwx------";
    private static Spool ofThisJvm;

    final Path directory;
    private final FileChannel lock;
    private String written = "";
    /** Recorders that use it: one application may still be ending when the next one begins in this JVM. */
    private int users;
    private long stringBytes;
    private long mostStringBytes = MOST_STRING_BYTES;

    private Spool(Path directory, FileChannel lock) {
        this.directory = directory;
        this.lock = lock;
    }

    /** The spool of this JVM, null where none could be made. */
    static synchronized Spool ofThisJvm() {
        return ofThisJvm;
    }

    /** Makes the spool of this JVM in the first place that takes it; where none does, the recorder goes on without. */
    static synchronized Spool open(Settings settings, List<Path> places, Problems problems) {
        if (ofThisJvm != null && Files.isDirectory(ofThisJvm.directory)) {
            ofThisJvm.users++;
            return ofThisJvm;
        }
        long least = settings.bytes(Settings.Key.BUDGET_FREE);
        Set<String> refusals = new LinkedHashSet<>();
        for (boolean roomy : new boolean[] {true, false}) {
            for (Path place : places) {
                try {
                    // Where none has room enough, that is for the engines to say.
                    if (roomy == Files.getFileStore(place).getUsableSpace() >= least) {
                        ofThisJvm = in(place);
                        ofThisJvm.users++;
                        return ofThisJvm;
                    }
                } catch (IOException | RuntimeException refused) {
                    refusals.add(refused.getMessage());
                }
            }
        }
        problems.add("spool", "what this process leaves at a sudden end cannot be kept: " + String.join("; ", refusals));
        return null;
    }

    private static Spool in(Path place) throws IOException {
        Path parent = parent(place);
        try {
            if (isPosix(place)) {
                Files.createDirectory(parent, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(PRIVATE)));
            } else {
                Files.createDirectory(parent);
            }
        } catch (FileAlreadyExistsException there) {
            // By another process of this user, or by somebody else: that is checked.
        }
        Path directory = Files.createTempDirectory(parent, "process-");
        if (!isOurs(parent, directory)) {
            Files.delete(directory);
            throw new IOException(parent + " belongs to somebody else, or is open to others");
        }
        FileChannel lock = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (lock.tryLock() == null) {
                throw new IOException("its files cannot be locked");
            }
        } catch (IOException | RuntimeException refused) {
            lock.close();
            delete(directory);
            throw refused;
        }
        return new Spool(directory, lock);
    }

    /** Where all spools of this user lie within a place. */
    static Path parent(Path place) {
        return place.resolve("emberscope-" + RunAddress.safe(System.getProperty("user.name", "")));
    }

    private static boolean isPosix(Path place) throws IOException {
        return Files.getFileStore(place).supportsFileAttributeView("posix");
    }

    /** In a place that everybody can write to, somebody else may have been first, or have put a link there. */
    private static boolean isOurs(Path parent, Path made) throws IOException {
        if (!isPosix(made)) {
            return true;
        }
        Set<PosixFilePermission> allowed = Files.getPosixFilePermissions(parent, LinkOption.NOFOLLOW_LINKS);
        return Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(parent, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(made))
                && allowed.equals(PosixFilePermissions.fromString(PRIVATE));
    }

    /**
     * Local directories that take spools, the best first: such as outlive this process, and its container where there is
     * one. On YARN that are the application's directories (the temporary one goes with the container), on Kubernetes
     * volumes for Spark's local directories. A standalone worker removes the directories that it gives its executors
     * with the application, so these are not among them. Directories in memory come last.
     */
    static List<Path> places(Settings settings, SparkConf conf, Map<String, String> environment) {
        String chosen = settings.text(Settings.Key.SPOOL);
        if (!chosen.isEmpty()) {
            Paths.get(chosen).toFile().mkdirs();
            return Collections.singletonList(Paths.get(chosen).toAbsolutePath());
        }
        List<String> named = new ArrayList<>();
        if (environment.containsKey("CONTAINER_ID")) {
            named.add(environment.get("LOCAL_DIRS"));
        } else {
            named.add(environment.get("SPARK_LOCAL_DIRS"));
            named.add(conf.get("spark.local.dir", null));
        }
        named.add(System.getProperty("java.io.tmpdir"));
        List<Path> disks = new ArrayList<>();
        List<Path> inMemory = new ArrayList<>();
        for (String list : named) {
            for (String name : list == null ? new String[0] : list.split(",")) {
                Path place = name.trim().isEmpty() ? null : Paths.get(name.trim()).toAbsolutePath().normalize();
                if (place != null && Files.isDirectory(place) && !disks.contains(place) && !inMemory.contains(place)) {
                    (isInMemory(place) ? inMemory : disks).add(place);
                }
            }
        }
        disks.addAll(inMemory);
        return disks;
    }

    private static boolean isInMemory(Path place) {
        try {
            String type = Files.getFileStore(place).type();
            return type.equals("tmpfs") || type.equals("ramfs");
        } catch (IOException unknown) {
            return false;
        }
    }

    /**
     * Says what is to be shipped after this process's death, and how; what is null is an empty text. Returns what {@link
     * #leave} is to be told.
     */
    synchronized String describe(Map<String, Object> document) throws IOException {
        StringBuilder out = new StringBuilder();
        for (Map.Entry<String, Object> entry : document.entrySet()) {
            String value = entry.getValue() == null ? "" : entry.getValue().toString();
            out.append(entry.getKey()).append('=').append(URLEncoder.encode(value, "UTF-8")).append('\n');
        }
        String text = out.toString();
        if (!text.equals(written)) {
            Path hidden = directory.resolve("." + DOCUMENT + ".tmp");
            Files.write(hidden, text.getBytes(StandardCharsets.US_ASCII));
            Files.move(hidden, directory.resolve(DOCUMENT), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            written = text;
        }
        return text;
    }

    /** What {@link #describe} wrote into this directory; null where it has no such document. Throws where it is damaged. */
    static Map<String, String> description(Path directory) throws IOException {
        Map<String, String> out = new LinkedHashMap<>();
        try {
            for (String line : Files.readAllLines(directory.resolve(DOCUMENT), StandardCharsets.ISO_8859_1)) {
                int equals = line.indexOf('=');
                out.put(line.substring(0, Math.max(equals, 0)), URLDecoder.decode(line.substring(equals + 1), "UTF-8"));
            }
        } catch (NoSuchFileException none) {
            return null;
        }
        return SCHEMA.equals(out.get("schema")) ? out : null;
    }

    /** Texts of task spans, which may leave this process: the {@code latest}, or {@code all} where the file is too long. */
    void remember(Collection<String> latest, Supplier<List<String>> all) throws IOException {
        if (latest.isEmpty()) {
            return;
        }
        boolean anew = stringBytes > mostStringBytes;
        StringBuilder lines = new StringBuilder();
        for (String text : anew ? all.get() : latest) {
            lines.append(URLEncoder.encode(text, "UTF-8")).append('\n');
        }
        byte[] bytes = lines.toString().getBytes(StandardCharsets.US_ASCII);
        StandardOpenOption how = anew ? StandardOpenOption.TRUNCATE_EXISTING : StandardOpenOption.APPEND;
        try (OutputStream out = Files.newOutputStream(
                directory.resolve(STRINGS), StandardOpenOption.CREATE, StandardOpenOption.WRITE, how)) {
            out.write(bytes);
        }
        stringBytes = anew ? bytes.length : stringBytes + bytes.length;
        if (anew) {
            // Where all of them take more, the file grows by as much again before all are written once more.
            mostStringBytes = Math.max(MOST_STRING_BYTES, 2 * stringBytes);
        }
    }

    /** The texts that {@link #remember} wrote into this directory. */
    static Set<String> strings(Path directory) throws IOException {
        Set<String> out = new HashSet<>();
        try {
            for (String line : Files.readAllLines(directory.resolve(STRINGS), StandardCharsets.ISO_8859_1)) {
                out.add(URLDecoder.decode(line, "UTF-8"));
            }
        } catch (NoSuchFileException none) {
            // No task ran yet, or none had a description.
        } catch (IllegalArgumentException cutShort) {
            // The last line may be half-written.
        }
        return out;
    }

    /** Nothing of what {@code described} says is left to be shipped by anybody else; what another recorder says stays. */
    synchronized void forget(String described) throws IOException {
        if (written.equals(described)) {
            written = "";
            Files.deleteIfExists(directory.resolve(DOCUMENT));
        }
    }

    /** A recorder ends; {@code empty}: whether nothing of it is left that anybody could ship. */
    void leave(String described, boolean empty) throws IOException {
        synchronized (Spool.class) {
            users--;
            if (empty) {
                forget(described);
            }
            if (empty && users == 0) {
                Files.deleteIfExists(directory.resolve(ChunkLog.NAME));
                removeAtExit();
            }
        }
    }

    /**
     * At the end of the JVM, the directory goes. Flight Recorder may still be at work in it until then; what is marked
     * here is removed after the last of the JVM's hooks.
     */
    private void removeAtExit() throws IOException {
        List<File> found = new ArrayList<>();
        collect(directory, found);
        found.forEach(File::deleteOnExit);
    }

    /** A directory before all that lies in it: files are deleted in the opposite order. */
    private static void collect(Path path, List<File> found) throws IOException {
        found.add(path.toFile());
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
                for (Path child : children) {
                    collect(child, found);
                }
            }
        }
    }

    /** Removes a directory and all in it, the lock last. */
    static void delete(Path directory) throws IOException {
        try (DirectoryStream<Path> children = Files.newDirectoryStream(directory)) {
            for (Path child : children) {
                if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    delete(child);
                } else if (!child.getFileName().toString().equals(LOCK)) {
                    Files.deleteIfExists(child);
                }
            }
        }
        Files.deleteIfExists(directory.resolve(LOCK));
        Files.deleteIfExists(directory);
    }
}
