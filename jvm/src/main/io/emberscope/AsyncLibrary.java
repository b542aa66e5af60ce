package io.emberscope;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The native library of async-profiler: where it is, and the one call that it has for all that it does.
 *
 * <p>The library gives its native methods to the class that loads it, whatever that is called (it is made for being moved
 * into other packages), so neither its own class nor a class loader is needed: a jar is only where the library lies.
 * Ours is always an own copy, removed again once it is loaded: nothing is shared with another use of the same jar.
 */
final class AsyncLibrary {
    private static final String IN_JAR = "libasyncProfiler.so";

    /** A JVM has one of it, whatever starts and ends there. */
    private static AsyncLibrary loaded;

    private AsyncLibrary() {}

    /** One command in async-profiler's own language, and its answer. Throws where it is refused. */
    private native String execute0(String command);

    String execute(String command) {
        return execute0(command).trim();
    }

    /** A library that can be read from somewhere. */
    interface Source {
        InputStream open() throws IOException;
    }

    /** From a jar or library at {@code path}, else from the class path; null where there is none for this machine. */
    static Source find(String path) throws IOException {
        File file = new File(path);
        if (!path.isEmpty() && file.isFile()) {
            return path.endsWith(".jar") ? inJar(file) : () -> Files.newInputStream(file.toPath());
        }
        for (ClassLoader loader : new ClassLoader[] {
            Thread.currentThread().getContextClassLoader(), AsyncLibrary.class.getClassLoader()
        }) {
            URL found = loader == null ? null : loader.getResource(entry());
            if (found != null) {
                return found::openStream;
            }
        }
        return null;
    }

    /** What tells this library from any other. */
    static String checksum(Source source) throws IOException {
        java.util.zip.CRC32 sum = new java.util.zip.CRC32();
        byte[] buffer = new byte[1 << 16];
        try (InputStream in = source.open()) {
            for (int got = in.read(buffer); got >= 0; got = in.read(buffer)) {
                sum.update(buffer, 0, got);
            }
        }
        return "async-profiler " + Long.toHexString(sum.getValue());
    }

    private static Source inJar(File jar) throws IOException {
        try (ZipFile zip = new ZipFile(jar)) {
            if (zip.getEntry(entry()) == null) {
                return null;
            }
        }
        return () -> {
            ZipFile zip = new ZipFile(jar);
            ZipEntry entry = zip.getEntry(entry());
            return new java.io.FilterInputStream(zip.getInputStream(entry)) {
                @Override
                public void close() throws IOException {
                    zip.close();
                }
            };
        };
    }

    /** The library's name in the jar, on this system and processor. */
    private static String entry() {
        if (System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("mac")) {
            return "macos/" + IN_JAR;
        }
        String processor = System.getProperty("os.arch", "");
        boolean arm = processor.equals("aarch64") || processor.equals("arm64");
        return (arm ? "linux-arm64/" : processor.equals("amd64") || processor.equals("x86_64") ? "linux-x64/" : "none/") + IN_JAR;
    }

    /**
     * Loads the library from the first directory that lets it be loaded (a temporary directory may forbid execution).
     * Throws {@code IOException} with what each of them said where none does.
     */
    static synchronized AsyncLibrary load(Source source) throws IOException {
        if (loaded != null) {
            return loaded;
        }
        List<String> refusals = new ArrayList<>();
        for (Path directory : directories()) {
            Path copy = null;
            try {
                copy = Files.createTempFile(directory, "emberscope-", ".so");
                try (InputStream in = source.open()) {
                    Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
                }
                System.load(copy.toString());
                loaded = new AsyncLibrary();
                return loaded;
            } catch (IOException | LinkageError refused) {
                refusals.add(directory + ": " + String.valueOf(refused.getMessage()).replaceAll("^.*\\.so: ", ""));
            } finally {
                if (copy != null) {
                    Files.deleteIfExists(copy);
                }
            }
        }
        throw new IOException("its library cannot be loaded (" + String.join("; ", refusals) + ")");
    }

    /** Whether this Java (24 or newer) would print a warning on the job's standard error when the library is loaded. */
    static boolean wouldBeWarnedOf() {
        try {
            Object module = Class.class.getMethod("getModule").invoke(AsyncLibrary.class);
            boolean allowed = (Boolean) module.getClass().getMethod("isNativeAccessEnabled").invoke(module);
            return !allowed && Integer.parseInt(System.getProperty("java.specification.version")) >= 24;
        } catch (ReflectiveOperationException | NumberFormatException older) {
            return false;
        }
    }

    private static Set<Path> directories() {
        Set<Path> out = new LinkedHashSet<>();
        for (String property : new String[] {"java.io.tmpdir", "user.dir", "user.home"}) {
            String directory = System.getProperty(property, "");
            if (!directory.isEmpty()) {
                out.add(Paths.get(directory));
            }
        }
        out.add(Paths.get("/var/tmp"));
        out.add(Paths.get("/dev/shm"));
        return out;
    }

    /** What another profiler of this kind is called that this JVM has loaded, or null. Reads the map of the process. */
    static String other() {
        try {
            for (String line : Files.readAllLines(Paths.get("/proc/self/maps"), java.nio.charset.StandardCharsets.ISO_8859_1)) {
                int slash = line.indexOf('/');
                String name = slash < 0 ? "" : line.substring(line.lastIndexOf('/') + 1);
                String lower = name.toLowerCase(Locale.ROOT);
                if (lower.contains("asyncprofiler") || lower.contains("async-profiler") || lower.contains("javaprofiler")) {
                    return name.replace(" (deleted)", "");
                }
            }
        } catch (IOException noSuchFile) {
            // Not Linux: the arguments of the JVM are all that is known.
        }
        for (String argument : ThisJvm.options()) {
            if (argument.startsWith("-agentpath:") && argument.toLowerCase(Locale.ROOT).contains("asyncprofiler")) {
                return "libasyncProfiler";
            }
        }
        return null;
    }
}
