package io.emberscope;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Puts more different deep stacks into the chunks of the wall sampler than memory could hold, and prints what it held. */
public final class ManyStacks {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "1");
        long budget = new Settings(new SparkConf(false), problems).bytes(Settings.Key.BUDGET_MEMORY);
        WallChunks chunks = new WallChunks(budget, problems);
        long mostOpen = 0;
        long mostClosed = 0;
        long written = 0;
        byte[] last = new byte[0];
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            StackTraceElement[] stack = new StackTraceElement[400];
            for (int frame = 0; frame < stack.length; frame++) {
                boolean shared = frame >= stack.length / 2;
                stack[frame] = new StackTraceElement("a.b.C" + (shared ? 0 : i), "method" + frame % 50, "C.java", shared ? frame : i);
            }
            int key = chunks.open().stack(stack, false);
            chunks.open().wallSample(System.nanoTime(), 1, "worker", WallState.RUNNABLE, key, 1, 50_000_000, i);
            mostOpen = Math.max(mostOpen, chunks.open().bytes());
            chunks.closeIfFull(() -> {});
            List<byte[]> closed = chunks.after(0);
            long bytes = closed.stream().mapToLong(chunk -> chunk.length).sum();
            mostClosed = Math.max(mostClosed, bytes);
            if (!closed.isEmpty() && closed.get(closed.size() - 1) != last) {
                last = closed.get(closed.size() - 1);
                written += last.length;
            }
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("budget", budget);
        out.put("most_open", mostOpen);
        out.put("most_closed", mostClosed);
        out.put("written", written);
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
