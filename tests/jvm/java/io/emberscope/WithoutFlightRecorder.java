package io.emberscope;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;

/** Looks for engines and prints what it found, for a JVM that may lack jdk.jfr. */
public final class WithoutFlightRecorder {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "1");
        List<Engine> engines = Engines.find(new Settings(new SparkConf(false), problems), problems);
        TaskSpans.OF_THIS_JVM.taskStarted(new TaskSpans.Task());
        TaskSpans.OF_THIS_JVM.taskEnded("success");
        java.util.Map<String, Object> out = new java.util.LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        engines.forEach(engine -> names.add(engine.name()));
        out.put("engines", names);
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
