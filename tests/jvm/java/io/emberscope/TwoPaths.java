package io.emberscope;

import java.io.IOException;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Makes its spool in one place, sweeps that place by another path, says what it found, and waits for standard input to end. */
public final class TwoPaths {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        Settings settings = new Settings(new SparkConf(false), problems);
        Spool spool = Spool.open(settings, Collections.singletonList(Paths.get(arguments[0])), problems);
        RunAddress address = new RunAddress("file:///nowhere", "default", "app-1", "1");
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("schema", Spool.SCHEMA);
        document.put("run", address.directory);
        spool.describe(document);
        Sweep.Opening none = () -> {
            throw new IOException("nothing of a living process is to be shipped");
        };
        int swept = new Sweep(Collections.singletonList(Paths.get(arguments[1])), problems).round(address, none, () -> false);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("lock", spool.directory.resolve(Spool.LOCK).toString());
        out.put("swept", swept);
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
        System.in.read();
    }
}
