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
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
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

    /** A file on its way: there under its name, whole, when it is committed, and gone when it is abandoned. */
    abstract static class Upload {
        final OutputStream out;

        Upload(OutputStream out) {
            this.out = out;
        }

        /** Closes the stream and gives the file its name; a file that has that name already is replaced. */
        abstract void commit() throws IOException;

        /** Never throws: something else has failed, and that is what is to be told. */
        abstract void abandon();
    }

    /** Begins a file under a hidden name in the same directory. */
    Upload begin(String path) throws IOException {
        String hidden = hidden(path);
        return new Upload(create(hidden)) {
            @Override
            void commit() throws IOException {
                out.close();
                rename(hidden, path);
            }

            @Override
            void abandon() {
                closeQuietly(out);
                deleteQuietly(hidden);
            }
        };
    }

    void put(String path, byte[] content) throws IOException {
        Upload upload = begin(path);
        try {
            upload.out.write(content);
            upload.commit();
        } catch (IOException | RuntimeException | Error failed) {
            upload.abandon();
            throw failed;
        }
    }

    private static void closeQuietly(OutputStream out) {
        try {
            out.close();
        } catch (IOException | RuntimeException hopeless) {
            // It is to be thrown away.
        }
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
        return uri.getScheme().equals("file") ? local(Paths.get(uri.getPath())) : new Hadoop(uri, conf, user);
    }

    static RunStore local(Path directory) {
        return new Local(directory);
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

    /**
     * Any Hadoop file system, in an instance of our own: the shared one may be closed by the application.
     *
     * <p>In object stores a file is there from the moment on that its stream is closed, and a rename is a copy. There,
     * files are written under their own names at once. Azure's are not among them: their files are there, and grow, from
     * the beginning.
     */
    private static final class Hadoop extends RunStore {
        private static final Set<String> VISIBLE_WHEN_CLOSED = new HashSet<>(
                Arrays.asList("s3", "s3a", "s3n", "gs", "oss", "cos", "cosn", "obs", "bos", "ks3", "tos"));

        private final FileSystem files;
        private final boolean visibleWhenClosed;
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
            visibleWhenClosed = VISIBLE_WHEN_CLOSED.contains(uri.getScheme().toLowerCase(Locale.ROOT));
        }

        @Override
        Upload begin(String path) throws IOException {
            return visibleWhenClosed ? new SinglePut(path, files.create(at(path), true)) : super.begin(path);
        }

        private final class SinglePut extends Upload {
            private final String path;
            private final FSDataOutputStream stream;

            SinglePut(String path, FSDataOutputStream stream) {
                super(stream);
                this.path = path;
                this.stream = stream;
            }

            @Override
            void commit() throws IOException {
                stream.close();
            }

            @Override
            void abandon() {
                try {
                    stream.abort();
                } catch (UnsupportedOperationException | LinkageError olderThanThat) {
                    closeQuietly(stream);
                    deleteQuietly(path);
                }
            }
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
