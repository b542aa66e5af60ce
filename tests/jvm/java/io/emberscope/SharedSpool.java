package io.emberscope;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;

/** One application ends while the next one in its JVM has begun: what the spool says, and that it has a log, after each end. */
public final class SharedSpool {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("driver", "driver");
        Settings settings = new Settings(new SparkConf(false), problems);
        List<Path> places = Collections.singletonList(Paths.get(arguments[0]));
        Spool first = Spool.open(settings, places, problems);
        String firstSays = first.describe(document("app-1"));
        Files.write(first.directory.resolve(ChunkLog.NAME), new byte[0]);
        Spool second = Spool.open(settings, places, problems);
        String secondSays = second.describe(document("app-2"));
        Map<String, Object> out = new LinkedHashMap<>();
        first.leave(firstSays, true);
        out.put("between", said(second));
        second.leave(secondSays, true);
        out.put("after", said(second));
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    private static Map<String, Object> document(String appId) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("schema", Spool.SCHEMA);
        out.put("app_id", appId);
        return out;
    }

    private static String said(Spool spool) throws Exception {
        Map<String, String> said = Spool.description(spool.directory);
        boolean log = Files.exists(spool.directory.resolve(ChunkLog.NAME));
        return (said == null ? "nobody" : said.get("app_id")) + (log ? ", with a log" : "");
    }
}
