package io.emberscope;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Numbers the chunks of one process, and writes each number down before its chunk is shipped: whoever goes on after the
 * death of this process gives a chunk that may have arrived the very same name again.
 *
 * <p>Lines are {@code begin ENGINE START_NS NUMBER} and {@code done ENGINE START_NS}; a last line without its end was
 * never finished.
 */
final class ChunkLog {
    static final String NAME = "chunks.log";

    private final Map<String, Integer> begun = new HashMap<>();
    private final Set<String> done = new HashSet<>();
    private OutputStream out;
    private int next;

    /** Goes on with what stands in the file, if there is one. A log that cannot be kept is an error. */
    void open(Path file) throws IOException {
        String text = Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : "";
        read(text);
        out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (!text.isEmpty() && !text.endsWith("\n")) {
            out.write(" unfinished\n".getBytes(StandardCharsets.UTF_8));
        }
    }

    private void read(String text) {
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n")) {
            String[] words = line.split(" ");
            if (words.length == 4 && words[0].equals("begin") && words[3].matches("\\d{1,9}")) {
                int number = Integer.parseInt(words[3]);
                begun.put(words[1] + ' ' + words[2], number);
                next = Math.max(next, number + 1);
            } else if (words.length == 3 && words[0].equals("done")) {
                done.add(words[1] + ' ' + words[2]);
            }
        }
    }

    /** The number of a chunk: the same again for one that was tried before. */
    int begin(String engine, long startNanos) throws IOException {
        String chunk = engine + ' ' + startNanos;
        Integer number = begun.get(chunk);
        if (number == null) {
            number = next;
            write("begin " + chunk + ' ' + number);
            begun.put(chunk, number);
            next++;
        }
        return number;
    }

    /** This chunk is shipped, or given up. */
    void done(String engine, long startNanos) throws IOException {
        String chunk = engine + ' ' + startNanos;
        begun.remove(chunk);
        write("done " + chunk);
    }

    boolean wasDone(String engine, long startNanos) {
        return done.contains(engine + ' ' + startNanos);
    }

    private void write(String line) throws IOException {
        if (out != null) {
            out.write((line + '\n').getBytes(StandardCharsets.UTF_8));
        }
    }

    void close() throws IOException {
        if (out != null) {
            out.close();
            out = null;
        }
    }
}
