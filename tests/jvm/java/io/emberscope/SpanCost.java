package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.spark.SparkConf;

/** Prints what the span of a task costs its thread, in ns of CPU time: the two clock readings, and all of it. */
public final class SpanCost {
    private static final int TASKS = 200_000;

    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        Settings settings = new Settings(new SparkConf(false).set("spark.emberscope.events", "gc"), problems);
        Engine engine = Engines.find(settings, problems).get(0);
        engine.start(settings, problems);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int round = 0; round < 3; round++) {
            long begin = threads.getCurrentThreadCpuTime();
            long sum = 0;
            for (int i = 0; i < 2 * TASKS; i++) {
                sum += threads.getCurrentThreadCpuTime();
            }
            long middle = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < TASKS; i++) {
                TaskSpans.Task task = new TaskSpans.Task();
                task.taskId = i;
                task.description = "a description";
                TaskSpans.OF_THIS_JVM.taskStarted(task);
                TaskSpans.OF_THIS_JVM.taskEnded("success");
            }
            long end = threads.getCurrentThreadCpuTime();
            if (round == 2 && sum != 0) {
                System.out.println((middle - begin) / TASKS + " " + (end - middle) / TASKS);
            }
        }
        engine.close();
    }
}
