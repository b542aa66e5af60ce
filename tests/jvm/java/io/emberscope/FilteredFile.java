package io.emberscope;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Puts a file of async-profiler through its filter as the shipper does. Prints how many events were kept back. */
public final class FilteredFile {
    public static void main(String[] arguments) throws Exception {
        Engine engine = new AsyncProfiler(null, null, AsyncProfiler.KINDS, kinds -> {});
        long withheld = 0;
        try (BufferedInputStream in = new BufferedInputStream(Files.newInputStream(Paths.get(arguments[0])));
                OutputStream out = Files.newOutputStream(Paths.get(arguments[1]))) {
            Chunks chunks = new Chunks(in);
            for (Chunks.Header header = chunks.next(); header != null; header = chunks.next()) {
                out.write(header.bytes);
                withheld += engine.filter().copy(chunks.body(), header.bodyBytes(), out);
            }
        } catch (IOException refused) {
            System.out.println("{\"refused\": true}");
            return;
        }
        System.out.println("{\"withheld\": " + withheld + ", \"engine\": \"" + engine.filter().settings().get("engine") + "\"}");
    }
}
