package io.emberscope;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;

/** The settings {@code spark.emberscope.*}. A value that cannot be read is a problem, and the default holds. */
final class Settings {
    static final String PREFIX = "spark.emberscope.";

    /** Keys and defaults; what they mean is documented in docs/settings.md, and a test keeps the two alike. */
    enum Key {
        ENABLED("enabled", "boolean", "true"),
        STORE("store", "path", ""),
        GROUP("group", "name", "default"),
        ENGINE("engine", "name", "auto"),
        ENGINE_PATH("engine.path", "path", ""),
        ENGINE_OPTIONS("engine.options", "names", ""),
        ENGINE_RETRY("engine.retry", "boolean", "false"),
        EVENTS("events", "names", "cpu,wall,alloc,lock,gc"),
        DRIVER_ENABLED("driver.enabled", "boolean", "true"),
        FRACTION("fraction", "ratio", "1.0"),
        CHUNK_SECONDS("chunk.seconds", "count", "30"),
        RATE_CPU("rate.cpu", "time", "20ms"),
        RATE_WALL("rate.wall", "time", "200ms"),
        RATE_ALLOC("rate.alloc", "count", "150"),
        RATE_ALLOC_BYTES("rate.alloc.bytes", "size", "2m"),
        RATE_NATIVEMEM("rate.nativemem", "size", "1m"),
        RATE_LOCK("rate.lock", "time", "20ms"),
        RATE_IO("rate.io", "time", "10ms"),
        RATE_HEAP("rate.heap", "time", "60s"),
        RATE_SAFEPOINT("rate.safepoint", "time", "1ms"),
        RATE_JIT("rate.jit", "time", "50ms"),
        RATE_CLASSES("rate.classes", "time", "10ms"),
        RATE_SERIES("rate.series", "time", "1s"),
        DEPTH("depth", "count", "1024"),
        BUDGET_CPU("budget.cpu", "ratio", "0.015"),
        BUDGET_BANDWIDTH("budget.bandwidth", "size", "4m"),
        BUDGET_BYTES("budget.bytes", "size", "0"),
        BUDGET_MEMORY("budget.memory", "size", "10m"),
        BUDGET_DISK("budget.disk", "size", "256m"),
        BUDGET_FREE("budget.free", "size", "128m"),
        SPOOL("spool", "path", ""),
        STATUS("status", "path", ""),
        INVOCATION("invocation", "name", ""),
        FAULT("fault", "names", "");

        final String key;
        final String type;
        final String standard;

        Key(String name, String type, String standard) {
            this.key = PREFIX + name;
            this.type = type;
            this.standard = standard;
        }
    }

    private interface Reader<T> {
        T read(String text);
    }

    private final SparkConf conf;
    private final Problems problems;
    private final Set<String> faults;
    private final Map<Key, Object> values = new ConcurrentHashMap<>();

    Settings(SparkConf conf, Problems problems) {
        this.conf = conf;
        this.problems = problems;
        this.faults = new HashSet<>(names(Key.FAULT));
    }

    String text(Key key) {
        return conf.get(key.key, key.standard).trim();
    }

    /** Whether somebody asked for a value, rather than leaving it to its default. */
    boolean isSet(Key key) {
        return conf.contains(key.key);
    }

    boolean flag(Key key) {
        return read(key, text -> {
            if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
                throw new IllegalArgumentException("neither true nor false");
            }
            return text.equalsIgnoreCase("true");
        });
    }

    /** A whole number that is at least {@code least}. */
    int count(Key key, int least) {
        return read(key, text -> {
            int value = Integer.parseInt(text);
            if (value < least) {
                throw new IllegalArgumentException("less than " + least);
            }
            return value;
        });
    }

    double ratio(Key key) {
        return read(key, text -> {
            double value = Double.parseDouble(text);
            if (!(value >= 0 && value <= 1)) {
                throw new IllegalArgumentException("not between 0 and 1");
            }
            return value;
        });
    }

    /** Milliseconds, at least one; a bare number is milliseconds. */
    long millis(Key key) {
        return read(key, text -> {
            long value = new SparkConf(false).set(key.key, text).getTimeAsMs(key.key, key.standard);
            if (value < 1) {
                throw new IllegalArgumentException("less than 1 ms");
            }
            return value;
        });
    }

    long bytes(Key key) {
        return read(key, text -> new SparkConf(false).set(key.key, text).getSizeAsBytes(key.key, key.standard));
    }

    List<String> names(Key key) {
        List<String> out = new ArrayList<>();
        for (String name : text(key).split(",")) {
            if (!name.trim().isEmpty()) {
                out.add(name.trim());
            }
        }
        return out;
    }

    /** Each once: some are asked for every second, and one that cannot be used is one problem. */
    @SuppressWarnings("unchecked") // Each key is read as one type.
    private <T> T read(Key key, Reader<T> reader) {
        Object value = values.get(key);
        if (value == null) {
            value = parsed(key, reader);
            values.put(key, value);
        }
        return (T) value;
    }

    private <T> T parsed(Key key, Reader<T> reader) {
        String text = text(key);
        try {
            return reader.read(text);
        } catch (RuntimeException wrong) {
            problems.add("settings", key.key + "=" + text + " cannot be used, so " + key.standard + " holds: " + wrong.getMessage());
            return reader.read(key.standard);
        }
    }

    /** Every kind of events that an engine may record. */
    static final List<String> KINDS = Collections.unmodifiableList(Arrays.asList(
            "cpu", "wall", "alloc", "live", "heap", "lock", "gc", "safepoint", "nativemem", "io", "jit", "classes"));

    /** Kinds of events asked for, in their fixed order; unknown ones are a problem. */
    List<String> events() {
        List<String> known = KINDS;
        List<String> asked = names(Key.EVENTS);
        for (String kind : asked) {
            if (!known.contains(kind)) {
                problems.add("settings", Key.EVENTS.key + ": " + kind + " is none of " + known);
            }
        }
        List<String> out = new ArrayList<>(known);
        out.retainAll(asked);
        return out;
    }

    /** For tests: whether {@code spark.emberscope.fault} names this hook. */
    boolean hasFault(String hook) {
        return !faults.isEmpty() && faults.contains(hook);
    }

    /** For tests: throws where a fault is asked for. */
    void fault(String hook) {
        if (hasFault(hook)) {
            throw new IllegalStateException("fault in " + hook + ", asked for by " + Key.FAULT.key);
        }
    }

    /** Prints the catalogue, for the test that compares it with the documentation. */
    public static void main(String[] arguments) {
        for (Key key : Key.values()) {
            System.out.println(key.key + '\t' + key.type + '\t' + key.standard);
        }
    }
}
