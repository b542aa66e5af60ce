package io.emberscope;

import java.util.Collections;
import org.apache.spark.SparkConf;

/**
 * A recorder in a process that runs tasks until a problem of the second argument's kind is there; prints the problems.
 * The other arguments are settings.
 */
public final class RecordsForAWhile {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.chunk.seconds", "1");
        for (int i = 2; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            conf.set("spark.emberscope." + setting[0], setting[1]);
        }
        Settings settings = new Settings(conf, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");
        new Recorder(process, settings, conf, problems, last -> address, true).start();
        int tasks = 0;
        while (!problems.documents().toString().contains("where=" + arguments[1])) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.taskId = tasks++;
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            Thread.sleep(5);
            TaskSpans.OF_THIS_JVM.taskEnded("success");
        }
        // The recorder's own hook does the rest before the JVM is gone; Hadoop runs it ahead of this one.
        org.apache.hadoop.util.ShutdownHookManager.get().addShutdownHook(() -> print(problems), 20);
        System.exit(0);
    }

    private static void print(Problems problems) {
        byte[] said = Json.bytes(Collections.singletonMap("problems", problems.documents()));
        System.out.write(said, 0, said.length);
        System.out.flush();
    }
}
