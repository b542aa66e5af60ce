package io.emberscope;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import org.apache.spark.SparkConf;

/**
 * The event log that was switched on for us alone must not be what stops an application: Spark gives up where it cannot
 * begin its log. The plugin is asked before Spark begins it, so it is switched off again here if it cannot be written.
 */
final class OwnEventLog {
    private static final int PROBE_BYTES = 256 * 1024;

    private OwnEventLog() {}

    /** {@code invocation} names the directory that was made for this log; a log of the user's lies elsewhere. */
    static void leaveIfUnwritable(SparkConf conf, String invocation, Problems problems) {
        String where = conf.get("spark.eventLog.dir", "");
        boolean ours = !invocation.isEmpty() && where.startsWith("file:") && where.endsWith("/.incoming/" + invocation);
        if (!ours || !conf.getBoolean("spark.eventLog.enabled", false)) {
            return;
        }
        try {
            probe(Paths.get(URI.create(where)));
        } catch (IOException | RuntimeException unwritable) {
            conf.set("spark.eventLog.enabled", "false");
            problems.add("event log", "the event log cannot be written, so it was switched off: " + unwritable);
        }
    }

    private static void probe(Path directory) throws IOException {
        Path file = Files.createTempFile(directory, ".probe", ".tmp");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocate(PROBE_BYTES);
            while (zeros.hasRemaining()) {
                channel.write(zeros);
            }
            channel.force(false);
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
