package io.emberscope;

import java.util.LinkedHashMap;
import java.util.Map;

/** Prints what the recorder takes for its process, beside the id that this JVM says it has. */
public final class OwnProcess {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("pid", ThisJvm.pid());
        out.put("really", ProcessHandle.current().pid());
        out.put("options", ThisJvm.options());
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
