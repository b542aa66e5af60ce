package io.emberscope;

import jdk.jfr.Event;
import jdk.jfr.Name;
import org.apache.spark.SparkConf;

/**
 * Records short tasks until it is killed, and says the number of each that has ended. Beside them go events of its own
 * that hold a secret. Arguments: the store, the secret, settings as {@code name=value}.
 */
public final class Killed {
    @Name("shop.Order")
    public static final class Order extends Event {
        public String customer;
    }

    public static void main(String[] arguments) throws Exception {
        SparkConf conf = new SparkConf(false);
        for (int i = 2; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            conf.set(Settings.PREFIX + setting[0], setting[1]);
        }
        Problems problems = new Problems("executor", "7");
        problems.listener(all -> all.documents().forEach(System.err::println));
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");
        new Recorder(process, new Settings(conf, problems), conf, problems, last -> address, true).start();
        for (int tasks = 0; ; tasks++) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.taskId = tasks;
            task.description = "a description of this very job, für alle";
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            for (int i = 0; i < 3; i++) {
                Order order = new Order();
                order.customer = "a customer whose name is " + arguments[1];
                order.commit();
            }
            Thread.sleep(2);
            TaskSpans.OF_THIS_JVM.taskEnded("success");
            System.out.println(tasks);
        }
    }
}
