package io.emberscope;

import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;

/** Records and ships in a JVM where the user records too (by -XX:StartFlightRecording), and prints what became of that. */
public final class BesideAnotherRecording {
    @Name("shop.Order")
    public static final class Order extends Event {
        public String customer;
    }

    public static void main(String[] arguments) throws Exception {
        String secret = arguments[1];
        Recording users = FlightRecorder.getFlightRecorder().getRecordings().get(0);
        Map<String, String> usersSettings = users.getSettings();
        secrets(secret, "before");

        Problems problems = new Problems("executor", "7");
        Settings settings = new Settings(new SparkConf(false), problems);
        Engine engine = Engines.find(settings, problems).get(0);
        engine.start(settings, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        RunStore store = RunStore.open(address.directory, new SparkConf(false), UserGroupInformation.getCurrentUser());
        ChunkShipper shipper = new ChunkShipper(new ChunkShipper.Process("executor", "7", "here"), engine, problems);
        for (int i = 0; i < 2; i++) {
            secrets(secret, "beside");
            task(i);
            try (InputStream chunks = engine.closed(shipper.afterNanos())) {
                shipper.ship(chunks, store, address, ChunkShipper.NO_END);
            }
        }
        secrets(secret, "beside");
        task(2);
        try (InputStream chunks = engine.closed(shipper.afterNanos())) {
            shipper.ship(chunks, store, address, 0);
        }
        engine.close();
        secrets(secret, "after");

        Map<String, Object> out = new LinkedHashMap<>();
        out.put("recordings", FlightRecorder.getFlightRecorder().getRecordings().size());
        out.put("state", users.getState().name());
        out.put("same_settings", users.getSettings().equals(usersSettings));
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }

    /** Long strings that come again go to the chunk's string pool; a started process is an event with its command. */
    private static void secrets(String secret, String when) throws Exception {
        for (int i = 0; i < 50; i++) {
            Order order = new Order();
            order.customer = when + " a customer named " + secret;
            order.commit();
        }
        for (int i = 0; i < 3; i++) {
            new ProcessBuilder("/bin/true", "--password", when + "-" + secret).start().waitFor();
        }
    }

    private static void task(int number) {
        for (int i = 0; i < 20; i++) {
            TaskSpans.Task task = new TaskSpans.Task();
            task.stageId = number;
            task.taskId = 100 * number + i;
            task.sqlExecutionId = -1;
            task.description = "a description of this very job, für alle";
            TaskSpans.OF_THIS_JVM.taskStarted(task);
            burn();
            TaskSpans.OF_THIS_JVM.taskEnded("success");
        }
    }

    private static void burn() {
        long until = System.nanoTime() + 20_000_000;
        double sum = 0;
        while (System.nanoTime() < until) {
            sum += Math.sqrt(sum + 1);
        }
        if (sum < 0) {
            throw new IllegalStateException();
        }
    }
}
