package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.stream.Collectors;

/** One engine at work in this process, and the shipping of what it records. All on the recorder's thread. */
final class EngineRun {
    private static final long TAIL_WAIT_MS = 4_000;

    final Engine engine;
    private final ChunkShipper shipper;
    private final Governor governor;
    private final Problems problems;

    private EngineRun(Engine engine, ChunkShipper shipper, Governor governor, Problems problems) {
        this.engine = engine;
        this.shipper = shipper;
        this.governor = governor;
        this.problems = problems;
    }

    /** Starts the engine; null, with the problem said, where it cannot be started. */
    static EngineRun start(Engine engine, ChunkShipper.Process process, Settings settings, Problems problems) {
        try {
            engine.start(settings, problems);
            return new EngineRun(engine, new ChunkShipper(process, engine, problems), process.governor, problems);
        } catch (Engine.Unavailable unavailable) {
            problems.add("engine", unavailable.getMessage());
            return null;
        } catch (Throwable failed) {
            problems.add("start", failed);
            letGo(engine);
            return null;
        }
    }

    /** What it has begun already would go on with nobody to ship it. */
    private static void letGo(Engine engine) {
        try {
            engine.close();
        } catch (Throwable notBegun) {
            // Why it could not be started is said.
        }
    }

    /** Names of the engines at work, {@code jfr + wall-sampler}; null where there is none. */
    static String names(List<EngineRun> running) {
        String names = running.stream().map(run -> run.engine.name()).sorted().collect(Collectors.joining(" + "));
        return names.isEmpty() ? null : names;
    }

    /** Ends the engine. Never throws. */
    void close() {
        try {
            engine.close();
        } catch (Throwable failed) {
            problems.add("close", failed);
        }
    }

    /** The rates of chunks that are not shipped yet, for {@link Rates#read}. */
    String rates() {
        return shipper.rates.written(shipper.afterNanos());
    }

    /** Ships what was closed since the last time. */
    void ship(RunStore store, RunAddress address) throws Exception {
        InputStream closed = engine.closed(shipper.afterNanos());
        try {
            shipper.rates.set(governor.steps(), governor.heldBy());
        } catch (Throwable failed) {
            // What was closed is to be read, and let go of, all the same.
            problems.add("rate", failed);
        }
        ship(closed, store, address, ChunkShipper.NO_END);
    }

    /**
     * An exiting JVM may stop the engine at any moment: what cannot be read then comes from the engine's own tail. Whether
     * all is shipped.
     */
    boolean shipLast(RunStore store, RunAddress address) throws Exception {
        // Chunks are timed by another clock than this one, so allow for a little.
        long endNanos = (System.currentTimeMillis() - 50) * 1_000_000;
        Exception failure = null;
        long before = shipper.shippedUntilNanos();
        try {
            ship(engine.last(shipper.afterNanos()), store, address, endNanos);
        } catch (Exception failed) {
            failure = failed;
        }
        // A chunk of a moment ago seems to reach to the end too, and what came after it may be in the tail alone.
        boolean ended = shipper.hasShippedUntil(endNanos) && shipper.shippedUntilNanos() > before;
        if (!ended) {
            InputStream tail = engine.tail(TAIL_WAIT_MS);
            if (tail != null) {
                failure = null;
                ship(tail, store, address, 0);
            }
            ended = tail != null || shipper.hasShippedUntil(endNanos);
        }
        if (ended) {
            // A chunk that was closed in time and shipped just before the end came is the last one too.
            shipper.sayLast(store);
        }
        if (failure != null) {
            throw failure;
        }
        return ended;
    }

    /** {@code chunks} may be null: there are none. */
    private void ship(InputStream chunks, RunStore store, RunAddress address, long endNanos) throws IOException {
        if (chunks != null) {
            try (InputStream in = chunks) {
                shipper.ship(in, store, address, endNanos);
            }
        }
    }
}
