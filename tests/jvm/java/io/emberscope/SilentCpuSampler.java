package io.emberscope;

import java.io.InputStream;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** Records for some rounds with CPU in use, the CPU-time sampler working, silent or asked for late, and prints the problems. */
public final class SilentCpuSampler {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.rate.cpu", "2ms");
        boolean late = arguments[1].equals("late");
        if (late) {
            conf.set("spark.emberscope.events", "alloc");
        }
        if (arguments[1].equals("silent")) {
            conf.set("spark.emberscope.fault", "cpu.sampler");
        }
        Settings settings = new Settings(conf, problems);
        Engine engine = Engines.find(settings, problems).get(0);
        engine.start(settings, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());
        ChunkShipper shipper = new ChunkShipper(new ChunkShipper.Process("executor", "7", "here"), engine, problems);
        for (int i = 0; i < 3; i++) {
            burn();
            try (InputStream chunks = engine.closed(shipper.afterNanos())) {
                shipper.ship(chunks, store, address, ChunkShipper.NO_END);
            }
            // As for the spool, after each chunk: what the sampler gave must not be forgotten over it.
            LeftEngine.describe(engine);
            if (late && i == 0) {
                engine.take(java.util.Collections.singletonList("cpu"));
            }
        }
        engine.close();
        System.out.write(Json.bytes(java.util.Collections.singletonMap("problems", problems.documents())));
        System.out.flush();
    }

    /** Uses a second of this thread's CPU time, however busy the machine is. */
    private static void burn() {
        java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long until = threads.getCurrentThreadCpuTime() + 1_000_000_000;
        double sum = 0;
        while (threads.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 100_000; i++) {
                sum += Math.sqrt(sum + i);
            }
        }
        if (sum < 0) {
            throw new IllegalStateException();
        }
    }
}
