package io.emberscope;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Our settings in async-profiler's own language. An option of the user replaces ours of the same name. */
final class AsyncOptions {
    /**
     * Options that would take the recording out of our hands: actions, other outputs, files, rotation of its own. Among
     * them {@code jfropts}: a recording kept in memory (4.5) has unreadable chunks after the first dump.
     */
    private static final Set<String> OURS = new HashSet<>(Arrays.asList(
            "start", "resume", "stop", "dump", "check", "status", "meminfo", "list", "version", "load", "server",
            "collapsed", "folded", "flamegraph", "html", "tree", "text", "traces", "flat", "summary", "otlp", "pprof",
            "jfr", "jfrsync", "jfropts", "file", "loop", "timeout", "log", "begin", "end"));

    /** No system information, properties, libraries, CPU load and heap summary: Flight Recorder has what is wanted of it. */
    private static final String NOTHING_BUT_SAMPLES = "31";

    private static final Set<String> CLOCKS = new HashSet<>(Arrays.asList("cpu", "ctimer", "itimer"));

    /** Those of {@code options} that are a time or a size between two samples. */
    private static final Set<String> RATES = new HashSet<>(Arrays.asList("interval", "wall", "alloc", "nativemem"));

    private final Map<String, String> options = new LinkedHashMap<>();
    private final Set<String> users = new HashSet<>();
    private final long askedPeriodNs;

    AsyncOptions(Settings settings, List<String> kinds, Problems problems) {
        askedPeriodNs = 1_000_000 * settings.millis(Settings.Key.RATE_CPU);
        if (kinds.contains("cpu")) {
            options.put("event", "cpu");
            options.put("interval", String.valueOf(askedPeriodNs));
        }
        if (kinds.contains("wall")) {
            options.put("wall", String.valueOf(1_000_000 * settings.millis(Settings.Key.RATE_WALL)));
        }
        if (kinds.contains("alloc") || kinds.contains("live")) {
            options.put("alloc", String.valueOf(settings.bytes(Settings.Key.RATE_ALLOC_BYTES)));
        }
        if (kinds.contains("live")) {
            options.put("live", null);
        }
        if (kinds.contains("lock")) {
            options.put("lock", settings.millis(Settings.Key.RATE_LOCK) + "ms");
        }
        if (kinds.contains("nativemem")) {
            options.put("nativemem", String.valueOf(settings.bytes(Settings.Key.RATE_NATIVEMEM)));
        }
        options.put("jstackdepth", String.valueOf(settings.count(Settings.Key.DEPTH, 1)));
        options.put("loglevel", "none");
        List<String> refused = new ArrayList<>();
        for (String option : settings.names(Settings.Key.ENGINE_OPTIONS)) {
            String[] pair = option.split("=", 2);
            if (OURS.contains(pair[0])) {
                refused.add(pair[0]);
            } else {
                users.add(pair[0]);
                options.remove(pair[0]);
                options.put(pair[0], pair.length > 1 ? pair[1] : null);
            }
        }
        if (!refused.isEmpty()) {
            problems.add("settings", Settings.Key.ENGINE_OPTIONS.key + ": left out, since the recorder sees to them itself: "
                    + String.join(", ", refused));
        }
    }

    /**
     * The command that starts a recording into a file, with 2^steps times as much between two samples as was asked for by
     * our settings; what an option of the user says holds.
     */
    String start(Path file, int steps) {
        StringBuilder out = new StringBuilder("start,jfr,jfropts=").append(NOTHING_BUT_SAMPLES).append(",file=").append(file);
        options.forEach((name, value) -> {
            boolean falls = RATES.contains(name) && !users.contains(name);
            String now = falls ? String.valueOf(Long.parseLong(value) << steps) : value;
            out.append(',').append(name).append(now == null ? "" : "=" + now);
        });
        return out.toString();
    }

    /** What one CPU sample stands for, by what the recording says of itself; null where an event counts something else. */
    Long periodNs(Map<String, String> said) {
        String event = said.getOrDefault("event", "cpu");
        String interval = said.getOrDefault("interval", String.valueOf(askedPeriodNs));
        return CLOCKS.contains(event) && interval.matches("[1-9]\\d{0,17}") ? Long.valueOf(interval) : null;
    }
}
