package io.emberscope;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;

/** Numbers many chunks, of which one was never done, and reads the log again as the heir of this process does. */
public final class LongLog {
    private static final String ENGINE = "an engine 4.5 (with blanks)";

    public static void main(String[] arguments) throws Exception {
        Path file = Paths.get(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        ChunkLog log = new ChunkLog();
        log.open(file);
        int waits = log.begin("jfr", 5);
        long longest = 0;
        for (int i = 1; i < count; i++) {
            long start = 1_000_000_000_000_000_000L + i;
            log.begin(ENGINE, start);
            log.done(ENGINE, start);
            longest = i % 500 == 0 ? Math.max(longest, Files.size(file)) : longest;
        }
        log.close();
        ChunkLog heir = new ChunkLog();
        heir.open(file);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("longest", longest);
        out.put("last_done", heir.wasDone(ENGINE, 1_000_000_000_000_000_000L + count - 1));
        out.put("waits", heir.wasDone("jfr", 5));
        out.put("its_number", heir.begin("jfr", 5) - waits);
        out.put("next", heir.begin("jfr", 6));
        heir.close();
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
