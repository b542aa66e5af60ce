package io.emberscope;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Reads settings of each type again and again, as the recorder does, some of which cannot be used. */
public final class ReadTwice {
    public static void main(String[] arguments) throws Exception {
        SparkConf conf = new SparkConf(false)
                .set("spark.emberscope.budget.free", "plenty")
                .set("spark.emberscope.budget.disk", "3m")
                .set("spark.emberscope.chunk.seconds", "0")
                .set("spark.emberscope.rate.cpu", "7ms");
        Problems problems = new Problems("executor", "7");
        Settings settings = new Settings(conf, problems);
        Map<String, Object> out = new LinkedHashMap<>();
        for (int i = 0; i < 5; i++) {
            out.put("free", settings.bytes(Settings.Key.BUDGET_FREE));
            out.put("disk", settings.bytes(Settings.Key.BUDGET_DISK));
            out.put("chunk", settings.count(Settings.Key.CHUNK_SECONDS, 1));
            out.put("cpu", settings.millis(Settings.Key.RATE_CPU));
            out.put("fraction", settings.ratio(Settings.Key.FRACTION));
            out.put("enabled", settings.flag(Settings.Key.ENABLED));
        }
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
