package io.emberscope;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Settings of Flight Recorder by which samples are taken less often than asked for. */
final class FlightRates {
    /** Events whose number is the sampling rate, each with a stack taken on, or of, the thread that it is of. */
    static final List<String> SAMPLES = Collections.unmodifiableList(Arrays.asList(
            "jdk.ExecutionSample", "jdk.NativeMethodSample", "jdk.CPUTimeSample", "jdk.ObjectAllocationSample"));

    /** What a sample costs its thread: measured, docs/recorder_limits.md has how. */
    static final long NANOS_PER_SAMPLE = 10_000;

    private FlightRates() {}

    /** The same settings with the time between two samples 2^steps times as long; spans alone where no steps are left. */
    static Map<String, String> slowed(Map<String, String> asked, int steps) {
        Map<String, String> out = new HashMap<>(asked);
        if (steps == Governor.SPANS_ONLY) {
            // Left out, not switched off: FlightSettings says why.
            out.keySet().removeIf(key -> !key.matches("(emberscope\\.Task|jdk\\.ActiveSetting#|jdk\\.DataLoss#).*"));
            return out;
        }
        for (String sample : SAMPLES) {
            out.computeIfPresent(sample + "#period", (key, value) -> slowed(value, steps));
            out.computeIfPresent(sample + "#throttle", (key, value) -> slowed(value, steps));
        }
        return out;
    }

    /** A period such as {@code 20 ms}, or a rate such as {@code 150/s}, which stays at least one a second. */
    private static String slowed(String value, int steps) {
        Long nanos = FlightSettings.nanos(value);
        if (nanos != null) {
            return (nanos << steps) / 1_000_000 + " ms";
        }
        return value.endsWith("/s") && !value.equals("0/s")
                ? Math.max(1, Long.parseLong(value.substring(0, value.length() - 2)) >> steps) + "/s"
                : value;
    }
}
