package io.emberscope;

import java.util.List;
import org.apache.spark.SparkConf;

/** Looks for an engine and prints what it found, for a JVM that may lack jdk.jfr. */
public final class WithoutFlightRecorder {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "1");
        List<Engine> engines = Engines.find(new Settings(new SparkConf(false), problems), problems);
        TaskSpans.OF_THIS_JVM.taskStarted(new TaskSpans.Task());
        TaskSpans.OF_THIS_JVM.taskEnded("success");
        java.util.Map<String, Object> out = new java.util.LinkedHashMap<>();
        out.put("engine", engines.isEmpty() ? null : engines.get(0).name());
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
