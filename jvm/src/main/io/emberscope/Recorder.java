package io.emberscope;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkConf;

/**
 * The recorder's one thread in a driver or executor: starts the engines, closes and ships their chunks every so often, and
 * the rest at the end. Spark's own threads only leave word here, none ever waits.
 *
 * <p>A JVM that Spark stops exits without waiting for {@code shutdown()} of a plugin: on SIGTERM it races the exit. So
 * a hook, registered at the start, waits for this thread; in Hadoop's hook manager it runs before file systems close.
 */
final class Recorder implements Runnable {
    /** Above Spark's own hook (40) and the one that closes file systems (10). */
    private static final int HOOK_PRIORITY = 50;

    /** Clusters kill a JVM 10 s after SIGTERM (standalone), so be done before. */
    private static final long EXIT_WAIT_MS = 7_000;

    private static final String THREAD = "emberscope-recorder";

    private static final long UNKNOWN_ADDRESS_TICK_MS = 500;
    private static final long TICK_MS = 1_000;
    private static final long SWEEP_AT_END_MS = 2_000;

    /** Finds out where the run lies; null while nobody knows. Asked on the recorder's thread. */
    interface Whereabouts {
        RunAddress ask(boolean last) throws Exception;
    }

    private final ChunkShipper.Process process;
    private final Settings settings;
    private final SparkConf conf;
    private final Problems problems;
    private final Whereabouts whereabouts;
    private final boolean samples;
    private final UserGroupInformation user;
    private final Semaphore wake = new Semaphore(0);
    private final CountDownLatch done = new CountDownLatch(1);
    private final Runnable hook = this::awaitEnd;
    private volatile boolean finishing;
    private volatile Map<String, Object> application;

    private final SpoolKeeper spool;
    private final List<EngineRun> running = new ArrayList<>();
    private RunAddress address;
    private RunStore store;
    private boolean swept;
    private boolean triedToDescribe;

    /** {@code samples}: whether to record at all, or only to write what the driver knows of the application. */
    Recorder(
            ChunkShipper.Process process,
            Settings settings,
            SparkConf conf,
            Problems problems,
            Whereabouts whereabouts,
            boolean samples)
            throws IOException {
        this.process = process;
        process.governor = Governor.of(settings, problems);
        this.settings = settings;
        this.conf = conf;
        this.problems = problems;
        this.whereabouts = whereabouts;
        this.samples = samples;
        this.spool = new SpoolKeeper(process, settings, conf, problems);
        // Spark acts for this user on its own threads; from Java 24 on a new thread no longer inherits that.
        this.user = UserGroupInformation.getCurrentUser();
    }

    void start() {
        try {
            addHook();
        } catch (IllegalStateException exiting) {
            return;
        }
        Thread thread = new Thread(this, THREAD);
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (Error noThreads) {
            done.countDown(); // Else the hook would wait for it.
            throw noThreads;
        }
    }

    /** Whether this is a recorder's own thread, and none of Spark's. */
    static boolean isAtWorkHere() {
        return Thread.currentThread().getName().equals(THREAD);
    }

    private void addHook() {
        try {
            ShutdownHookManager.get().addShutdownHook(hook, HOOK_PRIORITY, EXIT_WAIT_MS + 2_000, TimeUnit.MILLISECONDS);
        } catch (NoSuchMethodError older) {
            // Hadoop 2.7, which Spark 3.0 comes with, sets its hooks no limit.
            ShutdownHookManager.get().addShutdownHook(hook, HOOK_PRIORITY);
        }
    }

    /** Gives the document to be written as application.json, but for the engines at work and the places of spools. */
    void describe(Map<String, Object> document) {
        application = document;
        wake.release();
    }

    void finish() {
        finishing = true;
        wake.release();
    }

    private void awaitEnd() {
        finish();
        try {
            if (!done.await(EXIT_WAIT_MS, TimeUnit.MILLISECONDS)) {
                problems.add("exit", "the last chunk was not shipped within " + EXIT_WAIT_MS + " ms");
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        boolean shipped = false;
        try {
            spool.open(samples);
            startEngines();
            long chunkMs = 1000L * settings.count(Settings.Key.CHUNK_SECONDS, 1);
            long nextChunkMs = now() + chunkMs;
            boolean last;
            do {
                long waitMs = Math.max(0, nextChunkMs - now());
                long tickMs = address == null ? UNKNOWN_ADDRESS_TICK_MS : TICK_MS;
                wake.tryAcquire(Math.min(waitMs, tickMs), TimeUnit.MILLISECONDS);
                last = finishing;
                boolean due = now() >= nextChunkMs;
                try {
                    shipped = tick(due, last);
                } catch (Throwable failed) {
                    // Such as want of memory, which may be over by the next time.
                    shipped = false;
                    problems.add("recorder", failed);
                }
                nextChunkMs = due ? now() + chunkMs : nextChunkMs;
            } while (!last);
        } catch (Throwable failed) {
            shipped = false;
            problems.add("recorder", failed);
        } finally {
            end(shipped);
            done.countDown();
        }
    }

    /** All that is to be done now; whether nothing is left to be shipped. */
    private boolean tick(boolean due, boolean last) {
        settings.fault("thread.tick");
        Map<EngineRun, String> mustStop = mustStop();
        boolean shipped = round(due || !mustStop.isEmpty(), last);
        if (!last) {
            stopEngines(mustStop);
        }
        spool.keep(address, running, due || !swept);
        // The driver looks once more when all is over; an executor that ends may have a quarter of a second.
        if (address != null && (last ? process.role.equals("driver") : due || !swept)) {
            spool.sweep(address, this::store, stopsSweeping(last));
            swept = true;
        }
        problems.tell();
        return shipped;
    }

    /** Looking after others ends when this process ends, and then soon. */
    private BooleanSupplier stopsSweeping(boolean last) {
        long atEnd = now() + SWEEP_AT_END_MS;
        return () -> finishing && (!last || now() > atEnd);
    }

    private RunStore store() throws IOException {
        if (store == null) {
            store = RunStore.open(address.directory, conf, user);
        }
        return store;
    }

    private void startEngines() {
        if (!samples) {
            return;
        }
        try {
            settings.fault("thread.start");
            List<Engine> engines = Engines.find(settings, problems);
            for (int i = 0; i < engines.size(); i++) { // It may grow.
                EngineRun run = EngineRun.start(engines.get(i), process, settings, problems);
                if (run != null) {
                    running.add(run);
                }
            }
            sayWhatIsMissing();
        } catch (Throwable failed) {
            problems.add("start", failed);
        }
    }

    /** What was asked for and nobody here records: no engine at work can, or this JVM is too old for it. */
    private void sayWhatIsMissing() {
        List<String> missing = settings.events();
        running.forEach(run -> missing.removeAll(run.engine.events()));
        if (!missing.isEmpty() && !running.isEmpty()) {
            problems.add(
                    "events", "no engine here records " + String.join(", ", missing) + " (Java " + System.getProperty("java.version") + ")");
        }
    }

    /** What they sampled so far was offered to the store; the application goes on without them. */
    private void stopEngines(Map<EngineRun, String> reasons) {
        reasons.forEach((run, reason) -> {
            problems.add("stop", reason);
            run.close();
            running.remove(run);
        });
    }

    /** Those that must not go on, and why. */
    private Map<EngineRun, String> mustStop() {
        Map<EngineRun, String> reasons = new LinkedHashMap<>();
        for (EngineRun run : running) {
            try {
                String spent = process.governor.mustStop();
                String reason = spent != null ? spent : run.engine.mustStop();
                if (reason != null) {
                    reasons.put(run, reason);
                }
            } catch (Throwable failed) {
                problems.add("stop", failed);
            }
        }
        return reasons;
    }

    /** Whether nothing is left to be shipped. */
    private boolean round(boolean due, boolean last) {
        boolean good = true;
        try {
            settings.fault("thread.ship");
            if (address == null) {
                address = whereabouts.ask(last);
            }
            if (address == null) {
                if (last) {
                    problems.add("ship", "the application ended before it had an id");
                }
                return false;
            }
            // A store that fails is tried once a chunk, like for chunks, not every second.
            boolean describes = application != null && (due || last || !triedToDescribe);
            boolean ships = !running.isEmpty() && (due || last);
            triedToDescribe |= describes;
            if (describes || ships) {
                store();
            }
            if (describes) {
                Map<String, Object> document = new LinkedHashMap<>(application);
                document.put("engine", EngineRun.names(running));
                document.put("spools", spool.places());
                store.put("application.json", Json.bytes(document));
                application = null;
            }
        } catch (Throwable failed) {
            failedToShip(failed, last);
            good = false;
        }
        if (store != null && (due || last)) {
            if (!last) {
                lookAtBudgets();
            }
            for (EngineRun run : running) {
                good &= ship(run, last);
            }
        }
        return good && (store != null || running.isEmpty());
    }

    /** What cannot be measured must not keep chunks from being shipped. */
    private void lookAtBudgets() {
        try {
            settings.fault("thread.budget");
            process.governor.look(running);
        } catch (Throwable failed) {
            problems.add("budget", failed);
        }
    }

    private boolean ship(EngineRun run, boolean last) {
        try {
            if (last) {
                return run.shipLast(store, address);
            }
            run.ship(store, address);
            return true;
        } catch (Throwable failed) {
            failedToShip(failed, last);
            return false;
        }
    }

    private void failedToShip(Throwable failed, boolean last) {
        // Where the exit came in between, the last round does it all again.
        if (last || !finishing) {
            problems.add("ship", failed);
        }
    }

    private void end(boolean shipped) {
        running.forEach(EngineRun::close);
        spool.close(shipped);
        try {
            if (store != null) {
                store.close();
            }
        } catch (Throwable failed) {
            problems.add("close", failed);
        }
        problems.tell();
        try {
            ShutdownHookManager.get().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // The hook is what waits for us.
        }
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }
}
