package io.emberscope;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/** What Flight Recorder is told before it starts, by the JVM's own command. */
final class FlightOptions {
    private FlightOptions() {}

    /**
     * Sets stack depth, memory and the place of its files before JFR starts, without options of the JVM. Returns the
     * depth that holds.
     */
    static int set(Settings settings, Problems problems, boolean runsAlready) {
        int asked = settings.count(Settings.Key.DEPTH, 1);
        try {
            if (!runsAlready) {
                List<String> options = new ArrayList<>();
                options.add("stackdepth=" + asked);
                options.add("memorysize=" + settings.bytes(Settings.Key.BUDGET_MEMORY));
                if (Spool.ofThisJvm() != null && !userChoseRepository()) {
                    options.add("repositorypath=\"" + Spool.ofThisJvm().directory + "\"");
                }
                command(options.toArray(new String[0]));
            }
            Matcher holds = Pattern.compile("Stack depth: (\\d+)").matcher(command());
            int depth = holds.find() ? Integer.parseInt(holds.group(1)) : 64;
            if (depth != asked) {
                problems.add("depth", "stacks are cut at " + depth + " frames, not " + asked + ": JFR ran already");
            }
            return depth;
        } catch (Exception refused) {
            problems.add("depth", refused);
            return 64;
        }
    }

    private static boolean userChoseRepository() {
        return ThisJvm.options().stream()
                .anyMatch(option -> option.startsWith("-XX:FlightRecorderOptions") && option.contains("repository="));
    }

    private static String command(String... options) throws Exception {
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Object[] arguments = {options};
        String[] signature = {String[].class.getName()};
        return (String) ManagementFactory.getPlatformMBeanServer().invoke(commands, "jfrConfigure", arguments, signature);
    }
}
