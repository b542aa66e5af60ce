package io.emberscope;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Numbers the chunks of one process, and writes each number down before its chunk is shipped: whoever goes on after the
 * death of this process gives a chunk that may have arrived the very same name again.
 *
 * <p>Lines are {@code begin ENGINE START_NS NUMBER} and {@code done ENGINE START_NS}; a last line without its end was
 * never finished. Of a log that has become long the newest lines are kept: what is done for long is on no disk any more.
 * ENGINE is the first word of its name: what follows (async-profiler's version, and how it samples) is
 * not known from the beginning.
 */
final class ChunkLog {
    static final String NAME = "chunks.log";

    private static final int MOST_LINES = 10_000;
    private static final int KEPT_LINES = 1_000;
    private static final String BEGIN = "begin ";
    private static final String DONE = "done ";

    private final Map<String, Integer> begun = new HashMap<>();
    private final Set<String> done = new HashSet<>();
    private final Deque<String> newest = new ArrayDeque<>();
    private Path file;
    private OutputStream out;
    private int lines;
    private int next;

    /** Goes on with what stands in the file, if there is one. A log that cannot be kept is an error. */
    void open(Path logFile) throws IOException {
        file = logFile;
        String text = Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : "";
        read(text);
        out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (!text.isEmpty() && !text.endsWith("\n")) {
            out.write(" unfinished\n".getBytes(StandardCharsets.UTF_8));
        }
    }

    private void read(String text) {
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n")) {
            int end = line.lastIndexOf(' ');
            if (line.startsWith(BEGIN) && end > BEGIN.length() && line.substring(end + 1).matches("\\d{1,9}")) {
                int number = Integer.parseInt(line.substring(end + 1));
                begun.put(line.substring(BEGIN.length(), end), number);
                next = Math.max(next, number + 1);
            } else if (line.startsWith(DONE)) {
                done.add(line.substring(DONE.length()));
            }
        }
    }

    /** The number of a chunk: the same again for one that was tried before. */
    int begin(String engine, long startNanos) throws IOException {
        String chunk = chunk(engine, startNanos);
        Integer number = begun.get(chunk);
        if (number == null) {
            number = next;
            write(BEGIN + chunk + ' ' + number);
            begun.put(chunk, number);
            next++;
        }
        return number;
    }

    /** This chunk is shipped, or given up. */
    void done(String engine, long startNanos) throws IOException {
        String chunk = chunk(engine, startNanos);
        begun.remove(chunk);
        write(DONE + chunk);
    }

    boolean wasDone(String engine, long startNanos) {
        return done.contains(chunk(engine, startNanos));
    }

    private static String chunk(String engine, long startNanos) {
        return engine.split(" ")[0] + ' ' + startNanos;
    }

    private void write(String line) throws IOException {
        if (out == null) {
            return;
        }
        out.write((line + '\n').getBytes(StandardCharsets.UTF_8));
        newest.add(line);
        if (newest.size() > KEPT_LINES) {
            newest.removeFirst();
        }
        lines++;
        if (lines > MOST_LINES) {
            shorten();
        }
    }

    /** All numbers of chunks that are not done, then the newest lines, among them the highest number. */
    private void shorten() throws IOException {
        List<String> kept = new ArrayList<>();
        begun.forEach((chunk, number) -> kept.add(BEGIN + chunk + ' ' + number));
        kept.addAll(newest);
        Path hidden = file.resolveSibling("." + file.getFileName() + ".tmp");
        Files.write(hidden, kept, StandardCharsets.UTF_8);
        Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        OutputStream before = out;
        out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        lines = kept.size();
        before.close();
    }

    void close() throws IOException {
        if (out != null) {
            out.close();
            out = null;
        }
    }
}
