package io.emberscope;

import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkConf;

/** Takes down more texts than a spool's file is meant to hold, then some that are new; says how often all were written. */
public final class ManyTexts {
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        Settings settings = new Settings(new SparkConf(false), problems);
        Spool spool = Spool.open(settings, Collections.singletonList(Paths.get(arguments[0])), problems);
        String filling = String.join("", Collections.nCopies(300, "x"));
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 8_000; i++) {
            all.add(filling + i);
        }
        int[] written = new int[1];
        spool.remember(all, () -> all);
        for (int i = 0; i < 100; i++) {
            String fresh = "a text that is new " + i;
            all.add(fresh);
            spool.remember(Collections.singletonList(fresh), () -> {
                written[0]++;
                return all;
            });
        }
        Set<String> found = Spool.strings(spool.directory);
        TaskSpans.OF_THIS_JVM.mayLeave("a.class.Name");
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("rewritten", written[0]);
        out.put("found", found.size() == all.size() && found.containsAll(all));
        out.put("keeps_names", TaskSpans.OF_THIS_JVM.strings().contains("a.class.Name"));
        out.put("problems", problems.documents());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
