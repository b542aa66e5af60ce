package io.emberscope;

import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** Records every kind of events while a little of each is done, and prints what is recorded and what is said of it. */
public final class EveryKind {
    private static final List<byte[]> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.events", String.join(",", Settings.KINDS));
        for (String rate : new String[] {"io", "safepoint", "jit", "classes"}) {
            conf.set("spark.emberscope.rate." + rate, "1ms");
        }
        conf.set("spark.emberscope.rate.series", "50ms");
        Settings settings = new Settings(conf, problems);
        Engine engine = Engines.find(settings, problems).get(0);
        engine.start(settings, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());
        ChunkShipper shipper = new ChunkShipper(new ChunkShipper.Process("executor", "7", "here"), engine, problems);
        HeapSummary heap = new HeapSummary(60_000, problems);
        for (int chunk = 0; chunk < 3; chunk++) {
            for (int i = 0; i < 40; i++) {
                KEPT.add(makesKept());
            }
            System.gc();
            writes();
            java.lang.management.ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
            heap.look();
            Thread.sleep(300); // what is counted is told every now and then
            try (InputStream chunks = engine.closed(shipper.afterNanos())) {
                shipper.ship(chunks, store, address, ChunkShipper.NO_END);
            }
        }
        engine.close();
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("events", engine.events());
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    private static byte[] makesKept() {
        return new byte[1 << 18];
    }

    private static void writes() throws Exception {
        File file = File.createTempFile("every", ".bin");
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(new byte[32 << 20]);
            out.getChannel().force(true);
        } finally {
            file.delete();
        }
    }
}
