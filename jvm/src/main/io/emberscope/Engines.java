package io.emberscope;

/** Chooses the engine; the ones that need more than Java 8 are loaded by name, where the JVM has what they need. */
final class Engines {
    private static final String FLIGHT_RECORDER = "io.emberscope.FlightRecording";

    private Engines() {}

    /** Null, with a problem said, where this JVM has nothing to record with. */
    static Engine find(Settings settings, Problems problems) throws Exception {
        String asked = settings.text(Settings.Key.ENGINE);
        if (!asked.equals("auto") && !asked.equals("jfr")) {
            problems.add("settings", Settings.Key.ENGINE.key + "=" + asked + " is not known, so jfr is used");
        }
        try {
            Class.forName("jdk.jfr.FlightRecorder");
        } catch (ClassNotFoundException | LinkageError missing) {
            problems.add("start", "this JVM (" + System.getProperty("java.version") + ") has no JDK Flight Recorder");
            return null;
        }
        return (Engine) Class.forName(FLIGHT_RECORDER).getDeclaredConstructor().newInstance();
    }
}
