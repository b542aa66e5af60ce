package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.spark.SparkConf;

/** Tasks that use known amounts of CPU time: task 1 runs already when the recorder starts, task 2 comes after it. */
public final class SpanCpu {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws Exception {
        Path store = Paths.get(arguments[0]);
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.chunk.seconds", "1");
        Settings settings = new Settings(conf, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");

        start(1);
        burn(400);
        Recorder recorder = new Recorder(process, settings, conf, problems, last -> address, true);
        recorder.start();
        while (!Shipped.any(store)) {
            Thread.sleep(20);
        }
        burn(200);
        TaskSpans.OF_THIS_JVM.taskEnded("success");
        burn(50);
        start(2);
        burn(100);
        TaskSpans.OF_THIS_JVM.taskEnded("failed");
        System.out.println(THREADS.getCurrentThreadCpuTime());
        recorder.finish();
        System.exit(0);
    }

    private static void start(long id) {
        TaskSpans.Task task = new TaskSpans.Task();
        task.taskId = id;
        TaskSpans.OF_THIS_JVM.taskStarted(task);
    }

    private static void burn(long cpuMs) {
        long until = THREADS.getCurrentThreadCpuTime() + cpuMs * 1_000_000;
        double sum = 0;
        while (THREADS.getCurrentThreadCpuTime() < until) {
            sum += Math.sqrt(sum + 1);
        }
        if (sum < 0) {
            throw new IllegalStateException();
        }
    }
}
