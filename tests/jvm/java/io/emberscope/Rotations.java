package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/**
 * Threads that do nothing but burn CPU in task after task, while all engines close chunk after chunk. Prints the CPU time
 * of each of those threads from the first task to the last.
 *
 * <p>Arguments: store, threads, rotations, milliseconds of each, then settings as key=value.
 */
public final class Rotations {
    static final Map<String, Long> CPU_NS = new ConcurrentHashMap<>();
    static volatile boolean stopping;
    static volatile double sink;

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[1]);
        int rotations = Integer.parseInt(arguments[2]);
        long millis = Long.parseLong(arguments[3]);
        SparkConf conf = new SparkConf(false);
        for (int i = 4; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            conf.set(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
        }
        Problems problems = new Problems("executor", "1");
        Settings settings = new Settings(conf, problems);
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "1", "here");
        java.util.List<EngineRun> runs = new java.util.ArrayList<>();
        for (Engine engine : Engines.find(settings, problems)) {
            EngineRun run = EngineRun.start(engine, process, settings, problems);
            if (run != null) {
                runs.add(run);
            }
        }
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, conf, UserGroupInformation.getCurrentUser());
        Thread[] burning = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            burning[i] = new Thread(() -> tasks(number), "burning-" + i);
            burning[i].start();
        }
        for (int i = 0; i < rotations; i++) {
            Thread.sleep(millis);
            for (EngineRun run : runs) {
                run.ship(store, address);
                String reason = run.engine.mustStop();
                if (reason != null) {
                    problems.add("stop", reason);
                }
            }
        }
        stopping = true;
        for (Thread each : burning) {
            each.join();
        }
        for (EngineRun run : runs) {
            run.shipLast(store, address);
            run.engine.close();
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("cpu_ns", CPU_NS);
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    private static void tasks(int number) {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        long before = bean.getCurrentThreadCpuTime();
        for (int i = 0; !stopping; i++) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.stageId = number;
            task.taskId = 1000L * number + i;
            task.sqlExecutionId = -1;
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            burn(300);
            TaskSpans.OF_THIS_JVM.taskEnded("success");
        }
        CPU_NS.put(String.valueOf(Thread.currentThread().getId()), bean.getCurrentThreadCpuTime() - before);
    }

    private static void burn(long millis) {
        long until = System.nanoTime() + millis * 1_000_000;
        java.util.concurrent.ThreadLocalRandom random = java.util.concurrent.ThreadLocalRandom.current();
        while (System.nanoTime() < until) {
            sink = left(random.nextInt(60, 160), random.nextLong());
        }
    }

    /** Stacks as deep and as various as those of Spark: each bit of {@code way} is one of two methods. */
    private static double left(int depth, long way) {
        return depth == 0 ? leaf() : (way & 1) == 0 ? left(depth - 1, way >> 1) + 1 : right(depth - 1, way >> 1) + 1;
    }

    private static double right(int depth, long way) {
        return depth == 0 ? leaf() : (way & 1) == 0 ? left(depth - 1, way >> 1) + 2 : right(depth - 1, way >> 1) + 2;
    }

    private static double leaf() {
        double sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += Math.sqrt(sum + i);
        }
        return sum;
    }
}
