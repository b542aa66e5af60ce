package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** A chunk at each of the rates of its arguments (halvings), with CPU in use, allocations and a task in each. */
public final class SlowedRecording {
    static volatile byte[] garbage;

    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.rate.cpu", "5ms");
        Settings settings = new Settings(conf, problems);
        Engine engine = Engines.find(settings, problems).get(0);
        engine.start(settings, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());
        ChunkShipper shipper = new ChunkShipper(new ChunkShipper.Process("executor", "7", "here"), engine, problems);
        // The chunk of the start holds the rates asked for; each of the others was begun at a rate of the arguments.
        for (int i = 1; i <= arguments.length; i++) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.taskId = i;
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            burn();
            TaskSpans.OF_THIS_JVM.taskEnded("success");
            java.io.InputStream closed = engine.closed(shipper.afterNanos());
            if (i < arguments.length) {
                shipper.rates.set(Integer.parseInt(arguments[i]), arguments[i].equals("0") ? null : "cpu");
            }
            shipper.ship(closed, store, address, ChunkShipper.NO_END);
        }
        long sampled = engine.sampledNanos();
        engine.close();
        java.util.Map<String, Object> out = new java.util.LinkedHashMap<>();
        out.put("problems", problems.documents());
        out.put("sampled_ns", sampled);
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    /** Uses a second of this thread's CPU time, however busy the machine is. */
    private static void burn() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long until = threads.getCurrentThreadCpuTime() + 1_000_000_000;
        double sum = 0;
        while (threads.getCurrentThreadCpuTime() < until || sum < 0) {
            for (int i = 0; i < 100_000; i++) {
                sum += Math.sqrt(sum + i);
            }
            garbage = new byte[100_000];
        }
    }
}
