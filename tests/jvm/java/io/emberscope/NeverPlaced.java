package io.emberscope;

import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Records an application that ends before anybody knows its id. The argument is the place of spools. */
public final class NeverPlaced {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.spool", arguments[0]).set("spark.emberscope.events", "gc");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");
        Recorder recorder = new Recorder(process, new Settings(conf, problems), conf, problems, last -> null, true);
        recorder.start();
        Path spools = Spool.parent(Paths.get(arguments[0]));
        while (tails(spools) == 0) {
            Thread.sleep(10);
        }
        recorder.finish();
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("recorded", tails(spools) > 0);
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    private static int tails(Path spools) throws Exception {
        int found = 0;
        if (Files.isDirectory(spools)) {
            try (DirectoryStream<Path> processes = Files.newDirectoryStream(spools, "process-*")) {
                for (Path each : processes) {
                    try (DirectoryStream<Path> files = Files.newDirectoryStream(each, "tail-*")) {
                        found += files.iterator().hasNext() ? 1 : 0;
                    }
                }
            }
        }
        return found;
    }
}
