package io.emberscope;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** Numbers chunks of two engines, one of whose names becomes longer, and prints the numbers, and those after its death. */
public final class LoggedChunks {
    public static void main(String[] arguments) throws Exception {
        Path file = Paths.get(arguments[0]);
        ChunkLog log = new ChunkLog();
        log.open(file);
        List<Object> out = new ArrayList<>();
        out.add(log.begin("jfr", 1));
        out.add(log.begin("async-profiler 4.5", 1));
        out.add(log.begin("async-profiler 4.5 (ctimer)", 1));
        log.done("async-profiler 4.5 (ctimer)", 1);
        out.add(log.begin("async-profiler 4.5 (ctimer)", 2));
        log.close();

        ChunkLog after = new ChunkLog();
        after.open(file);
        out.add(after.wasDone("async-profiler 4.5 (ctimer)", 1));
        out.add(after.wasDone("jfr", 1));
        out.add(after.begin("async-profiler 4.5 (ctimer)", 2));
        out.add(after.begin("jfr", 1));
        out.add(after.begin("jfr", 2));
        after.close();
        System.out.write(Json.bytes(java.util.Collections.singletonMap("numbers", out)));
        System.out.flush();
    }
}
