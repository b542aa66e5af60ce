package io.emberscope;

import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the engines of a process and what each of them records, so that nothing is recorded twice. Those that need more
 * than Java 8 are loaded by name, where the JVM has what they need.
 */
final class Engines {
    private static final String FLIGHT_RECORDER = "io.emberscope.FlightRecording";

    private Engines() {}

    /** Engines to be started, in this order; none, with a problem said, where this JVM has nothing to record with. */
    static List<Engine> find(Settings settings, Problems problems) throws Exception {
        String asked = settings.text(Settings.Key.ENGINE);
        if (!asked.equals("auto") && !asked.equals("jfr")) {
            problems.add("settings", Settings.Key.ENGINE.key + "=" + asked + " is not known, so jfr is used");
        }
        List<Engine> found = new ArrayList<>();
        List<String> kinds = settings.events();
        boolean wall = kinds.remove("wall");
        try {
            Class.forName("jdk.jfr.FlightRecorder");
            found.add(flightRecorder(kinds));
        } catch (ClassNotFoundException | LinkageError missing) {
            problems.add("start", "this JVM (" + System.getProperty("java.version") + ") has no JDK Flight Recorder");
        }
        if (wall) {
            found.add(new WallSampler());
        }
        return found;
    }

    private static Engine flightRecorder(List<String> kinds) throws Exception {
        return (Engine) Class.forName(FLIGHT_RECORDER).getDeclaredConstructor(List.class).newInstance(kinds);
    }
}
