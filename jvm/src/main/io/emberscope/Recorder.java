package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkConf;

/**
 * The recorder's one thread in a driver or executor: starts the engine, closes and ships a chunk every so often, and
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

    private static final long TAIL_WAIT_MS = 4_000;
    private static final long UNKNOWN_ADDRESS_TICK_MS = 500;
    private static final long TICK_MS = 1_000;

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
    private volatile byte[] application;

    private Engine engine;
    private ChunkShipper shipper;
    private RunAddress address;
    private RunStore store;

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
        this.settings = settings;
        this.conf = conf;
        this.problems = problems;
        this.whereabouts = whereabouts;
        this.samples = samples;
        // Spark acts for this user on its own threads; from Java 24 on a new thread no longer inherits that.
        this.user = UserGroupInformation.getCurrentUser();
    }

    void start() {
        try {
            ShutdownHookManager.get().addShutdownHook(hook, HOOK_PRIORITY, EXIT_WAIT_MS + 2_000, TimeUnit.MILLISECONDS);
        } catch (IllegalStateException exiting) {
            return;
        }
        Thread thread = new Thread(this, "emberscope-recorder");
        thread.setDaemon(true);
        thread.start();
    }

    /** Gives the document to be written as application.json. */
    void describe(byte[] document) {
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
        try {
            startEngine();
            long chunkMs = 1000L * settings.count(Settings.Key.CHUNK_SECONDS, 1);
            long nextChunkMs = now() + chunkMs;
            boolean last;
            do {
                long waitMs = Math.max(0, nextChunkMs - now());
                long tickMs = address == null ? UNKNOWN_ADDRESS_TICK_MS : TICK_MS;
                wake.tryAcquire(Math.min(waitMs, tickMs), TimeUnit.MILLISECONDS);
                last = finishing;
                boolean due = now() >= nextChunkMs;
                String mustStop = engine == null ? null : engine.mustStop();
                round(due || mustStop != null, last);
                if (mustStop != null && !last) {
                    stopEngine(mustStop);
                }
                nextChunkMs = due ? now() + chunkMs : nextChunkMs;
                problems.tell();
            } while (!last);
        } catch (Throwable failed) {
            problems.add("recorder", failed);
        } finally {
            end();
            done.countDown();
        }
    }

    private void startEngine() {
        if (!samples) {
            return;
        }
        try {
            settings.fault("thread.start");
            Engine wanted = Engines.find(settings, problems);
            if (wanted != null) {
                wanted.start(settings, problems);
                engine = wanted;
                shipper = new ChunkShipper(process, engine, problems);
            }
        } catch (Throwable failed) {
            problems.add("start", failed);
        }
    }

    /** What it sampled so far was offered to the store; the application goes on without it. */
    private void stopEngine(String reason) {
        problems.add("stop", reason);
        try {
            engine.close();
        } catch (Throwable failed) {
            problems.add("close", failed);
        }
        engine = null;
        shipper = null;
    }

    private void round(boolean due, boolean last) {
        try {
            settings.fault("thread.ship");
            if (address == null) {
                address = whereabouts.ask(last);
            }
            if (address == null) {
                if (last) {
                    problems.add("ship", "the application ended before it had an id");
                }
                return;
            }
            boolean describes = application != null;
            boolean ships = shipper != null && (due || last);
            if ((describes || ships) && store == null) {
                store = RunStore.open(address.directory, conf, user);
            }
            if (describes) {
                store.put("application.json", application);
                application = null;
            }
            if (ships && last) {
                shipLast();
            } else if (ships) {
                ship(engine.closed(shipper.afterNanos()), ChunkShipper.NO_END);
            }
        } catch (Throwable failed) {
            // Where the exit came in between, the last round does it all again.
            if (last || !finishing) {
                problems.add("ship", failed);
            }
        }
    }

    /** An exiting JVM may stop the engine at any moment: what cannot be read then comes from the engine's own tail. */
    private void shipLast() throws Exception {
        // Chunks are timed by another clock than this one, so allow for a little.
        long endNanos = (System.currentTimeMillis() - 50) * 1_000_000;
        Exception failure = null;
        try {
            ship(engine.closed(shipper.afterNanos()), endNanos);
        } catch (Exception failed) {
            failure = failed;
        }
        if (!shipper.hasShippedUntil(endNanos)) {
            InputStream tail = engine.tail(TAIL_WAIT_MS);
            if (tail != null) {
                failure = null;
                ship(tail, 0);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** {@code chunks} may be null: there are none. */
    private void ship(InputStream chunks, long endNanos) throws IOException {
        if (chunks != null) {
            try (InputStream in = chunks) {
                shipper.ship(in, store, address, endNanos);
            }
        }
    }

    private void end() {
        try {
            if (engine != null) {
                engine.close();
            }
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
