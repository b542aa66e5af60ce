package io.emberscope;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/** The directory of one run: files appear in it whole or not at all. Paths are relative, with slashes. */
abstract class RunStore implements AutoCloseable {
    /** A file system's own output stream for a file that is not there yet under its name. */
    abstract OutputStream create(String path) throws IOException;

    /** Gives a written file its name; a file that has that name already is replaced. */
    abstract void rename(String from, String to) throws IOException;

    abstract void delete(String path) throws IOException;

    @Override
    public abstract void close() throws IOException;

    void put(String path, byte[] content) throws IOException {
        String hidden = hidden(path);
        try (OutputStream out = create(hidden)) {
            out.write(content);
        } catch (IOException | RuntimeException failed) {
            deleteQuietly(hidden);
            throw failed;
        }
        rename(hidden, path);
    }

    void deleteQuietly(String path) {
        try {
            delete(path);
        } catch (IOException | RuntimeException leftover) {
            // What cannot be written can often not be deleted either; the first failure is the one to tell.
        }
    }

    /** The name that a file has while it is written, in the same directory. */
    static String hidden(String path) {
        int slash = path.lastIndexOf('/') + 1;
        return path.substring(0, slash) + "." + path.substring(slash) + ".tmp";
    }

    /** The store as a URI. A path without a scheme is local, as for Spark's own event log. */
    static String resolve(String store) {
        boolean hasScheme = store.matches("[A-Za-z][A-Za-z0-9+.-]*:.*");
        return hasScheme ? store : Paths.get(store).toAbsolutePath().normalize().toUri().toString();
    }

    static RunStore open(String runDirectory, SparkConf conf, UserGroupInformation user) throws IOException {
        URI uri = URI.create(runDirectory);
        return uri.getScheme().equals("file") ? new Local(Paths.get(uri.getPath())) : new Hadoop(uri, conf, user);
    }

    /** A local directory, without Hadoop's checksum files. */
    private static final class Local extends RunStore {
        private final Path root;

        Local(Path root) {
            this.root = root;
        }

        @Override
        OutputStream create(String path) throws IOException {
            Path file = root.resolve(path);
            Files.createDirectories(file.getParent());
            return Files.newOutputStream(file);
        }

        @Override
        void rename(String from, String to) throws IOException {
            Files.move(root.resolve(from), root.resolve(to), StandardCopyOption.ATOMIC_MOVE);
        }

        @Override
        void delete(String path) throws IOException {
            Files.deleteIfExists(root.resolve(path));
        }

        @Override
        public void close() {}
    }

    /** Any Hadoop file system, in an instance of our own: the shared one may be closed by the application. */
    private static final class Hadoop extends RunStore {
        private final FileSystem files;
        private final org.apache.hadoop.fs.Path root;

        Hadoop(URI uri, SparkConf conf, UserGroupInformation user) throws IOException {
            Configuration hadoop = new Configuration();
            for (Tuple2<String, String> entry : conf.getAll()) {
                if (entry._1().startsWith("spark.hadoop.")) {
                    hadoop.set(entry._1().substring("spark.hadoop.".length()), entry._2());
                }
            }
            try {
                files = user.doAs((PrivilegedExceptionAction<FileSystem>) () -> FileSystem.newInstance(uri, hadoop));
            } catch (InterruptedException stopped) {
                throw new InterruptedIOException(stopped.getMessage());
            }
            root = new org.apache.hadoop.fs.Path(uri);
        }

        private org.apache.hadoop.fs.Path at(String path) {
            return new org.apache.hadoop.fs.Path(root, path);
        }

        @Override
        OutputStream create(String path) throws IOException {
            return files.create(at(path), true);
        }

        @Override
        void rename(String from, String to) throws IOException {
            if (files.rename(at(from), at(to))) {
                return;
            }
            // Most file systems refuse to rename onto a file: it is from an earlier try.
            files.delete(at(to), false);
            if (!files.rename(at(from), at(to))) {
                throw new FileNotFoundException("cannot rename " + at(from) + " to " + at(to));
            }
        }

        @Override
        void delete(String path) throws IOException {
            files.delete(at(path), false);
        }

        @Override
        public void close() throws IOException {
            files.close();
        }
    }
}
