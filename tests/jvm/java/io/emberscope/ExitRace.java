package io.emberscope;

import org.apache.spark.SparkConf;

/**
 * Records until a line comes on standard input, then is told to finish as Spark does, while a signal may be on its way.
 * Arguments: the store, how to end, settings as {@code name=value}.
 */
public final class ExitRace {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.chunk.seconds", "1");
        for (int i = 2; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            conf.set(Settings.PREFIX + setting[0], setting[1]);
        }
        Settings settings = new Settings(conf, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");
        Recorder recorder = new Recorder(process, settings, conf, problems, last -> address, true);
        recorder.start();
        int tasks = 0;
        while (System.in.available() == 0) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.taskId = tasks++;
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            Thread.sleep(5);
            TaskSpans.OF_THIS_JVM.taskEnded("success");
        }
        System.out.println(tasks);
        if (arguments[1].equals("finish")) {
            recorder.finish();
        }
        Thread.sleep(60_000);
    }
}
