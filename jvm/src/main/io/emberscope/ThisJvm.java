package io.emberscope;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;

/** What this JVM knows of its own process. */
final class ThisJvm {
    private ThisJvm() {}

    /** The process id, null where it is not known. */
    static Long pid() {
        try {
            return Long.valueOf(Files.readSymbolicLink(Paths.get("/proc/self")).toString());
        } catch (IOException | RuntimeException notOnLinux) {
            return pidByName();
        }
    }

    /** The name holds that of the host too, and to look that up can take seconds: so it is the second choice. */
    private static Long pidByName() {
        try {
            return Long.valueOf(ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        } catch (NumberFormatException unknown) {
            return null;
        }
    }

    /** The options that this JVM was started with. */
    static List<String> options() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments();
    }
}
