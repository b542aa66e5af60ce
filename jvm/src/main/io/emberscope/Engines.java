package io.emberscope;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Chooses the engines of a process and what each of them records, so that nothing is recorded twice. Those that need more
 * than Java 8 are loaded by name, where the JVM has what they need.
 */
final class Engines {
    private static final String FLIGHT_RECORDER = "io.emberscope.FlightRecording";

    private Engines() {}

    /**
     * Engines to be started, in this order; none, with a problem said, where this JVM has nothing to record with. One that
     * cannot be started may add another to the end.
     */
    static List<Engine> find(Settings settings, Problems problems) throws Exception {
        List<String> kinds = settings.events();
        List<String> taken = new ArrayList<>(kinds);
        taken.retainAll(AsyncProfiler.KINDS);
        if (!isAsked(settings)) {
            taken.remove("wall"); // Our own sampler looks at threads that have work alone, and costs less.
        }
        List<Engine> found = new ArrayList<>();
        Engine asyncProfiler = asyncProfiler(settings, problems, taken, left -> leave(left, found));
        if (asyncProfiler != null) {
            kinds.removeAll(taken);
        }
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
        if (asyncProfiler != null) {
            found.add(asyncProfiler);
        }
        return found;
    }

    private static boolean isAsked(Settings settings) {
        return settings.text(Settings.Key.ENGINE).equals("async-profiler");
    }

    /** To be recorded by the others: those that have been started, and one that then still has to be. */
    private static void leave(List<String> kinds, List<Engine> engines) {
        engines.forEach(engine -> engine.take(kinds));
        if (kinds.contains("wall")) {
            engines.add(new WallSampler());
        }
    }

    /** Null where it is not wanted, not there, or not safe here; that is said where somebody may have counted on it. */
    private static Engine asyncProfiler(Settings settings, Problems problems, List<String> kinds, Consumer<List<String>> heir) {
        String asked = settings.text(Settings.Key.ENGINE);
        boolean byName = isAsked(settings);
        if (!byName && !asked.equals("auto")) {
            if (!asked.equals("jfr")) {
                problems.add("settings", Settings.Key.ENGINE.key + "=" + asked + " is not known, so jfr is used");
            }
            return null;
        }
        String path = settings.text(Settings.Key.ENGINE_PATH);
        if (kinds.isEmpty()) {
            return null;
        }
        String reason;
        try {
            AsyncLibrary.Source source = AsyncLibrary.find(path);
            if (source == null && !byName && path.isEmpty()) {
                return null;
            }
            EngineCanary canary = source == null ? null : EngineCanary.open(AsyncLibrary.checksum(source));
            reason = source == null
                    ? "there is no library for this machine " + (path.isEmpty() ? "" : "at " + path + " or ") + "on the class path"
                    : reason(canary, byName && settings.flag(Settings.Key.ENGINE_RETRY));
            if (reason == null && !byName && AsyncLibrary.wouldBeWarnedOf()) {
                reason = "Java would print a warning; --enable-native-access=ALL-UNNAMED allows it";
            }
            if (reason == null) {
                return new AsyncProfiler(source, canary, kinds, heir);
            }
        } catch (IOException | RuntimeException failed) {
            reason = failed.toString();
        }
        problems.add("engine", AsyncProfiler.NOT_USED + reason);
        return null;
    }

    private static String reason(EngineCanary canary, boolean retry) throws IOException {
        String other = AsyncLibrary.other();
        if (other != null) {
            return "another profiler is in this JVM, and two would disturb each other (" + other + ")";
        }
        if (canary == null) {
            return "no directory of this host can keep a note that it was started, which is how a crash is told the next time";
        }
        if (retry) {
            canary.forgive();
        }
        return canary.reason();
    }

    private static Engine flightRecorder(List<String> kinds) throws Exception {
        return (Engine) Class.forName(FLIGHT_RECORDER).getDeclaredConstructor(List.class).newInstance(kinds);
    }
}
