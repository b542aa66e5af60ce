package io.emberscope;

import java.util.Map;
import java.util.TreeMap;

/**
 * How often one engine took samples, and when that was changed: a chunk is shipped after its end, perhaps long after,
 * and its manifest must say what held while it was recorded. Changes are made between two chunks.
 */
final class Rates {
    private static final int REMEMBERED = 256;

    /** What held for a while. */
    private static final class Rate {
        final int steps;
        final String heldBy;
        final Long periodNs;

        Rate(int steps, String heldBy, Long periodNs) {
            this.steps = steps;
            this.heldBy = heldBy;
            this.periodNs = periodNs;
        }
    }

    private final Engine engine;

    /** Those that hold no more, by their end (epoch ns). */
    private final TreeMap<Long, Rate> past = new TreeMap<>();

    private int steps;
    private String heldBy;
    private boolean known = true;

    Rates(Engine engine) {
        this.engine = engine;
    }

    /** Called when a chunk was just closed. */
    void set(int newSteps, String newHeldBy) throws Exception {
        if (newSteps == steps) {
            return;
        }
        Rate held = new Rate(steps, heldBy, engine.samplePeriodNs());
        if (!engine.slow(newSteps)) {
            return;
        }
        past.put(System.currentTimeMillis() * 1_000_000, held);
        while (past.size() > REMEMBERED) {
            past.pollFirstEntry();
        }
        steps = newSteps;
        heldBy = newHeldBy;
    }

    /**
     * What held until when for chunks that reach beyond a time (epoch ns), and what holds: for {@link #read} of whoever
     * ships them after this process's death.
     */
    String written(long afterNanos) {
        StringBuilder out = new StringBuilder();
        past.tailMap(afterNanos, false).forEach((end, rate) -> write(out, end, rate));
        write(out, Long.MAX_VALUE, new Rate(steps, heldBy, engine.samplePeriodNs()));
        return out.toString();
    }

    private static void write(StringBuilder out, long end, Rate rate) {
        out.append(end).append(',').append(rate.steps).append(',').append(rate.heldBy == null ? "" : rate.heldBy);
        out.append(',').append(rate.periodNs == null ? "" : rate.periodNs.toString()).append(';');
    }

    /** The rates of a dead process; where it did not write them down they are not known. */
    void read(String written) {
        for (String each : written.split(";")) {
            String[] words = each.split(",", -1);
            if (words.length == 4) {
                Long period = words[3].isEmpty() ? null : Long.valueOf(words[3]);
                past.put(Long.valueOf(words[0]), new Rate(Integer.parseInt(words[1]), words[2].isEmpty() ? null : words[2], period));
            }
        }
        known = !past.isEmpty();
    }

    /** The rates of a chunk. Its middle counts: a change comes a little after its beginning or its end. */
    void describe(Map<String, Object> manifest, long startNanos, long durationNanos) {
        Map.Entry<Long, Rate> then = past.ceilingEntry(startNanos + durationNanos / 2);
        Rate rate = then != null ? then.getValue() : new Rate(steps, heldBy, engine.samplePeriodNs());
        boolean spansOnly = rate.steps == Governor.SPANS_ONLY;
        manifest.put("sample_period_ns", rate.periodNs);
        manifest.put("rate_ratio", !known ? null : Double.valueOf(spansOnly ? 0.0 : 1.0 / (1 << rate.steps)));
        manifest.put("rate_held_by", rate.heldBy);
    }
}
