package io.emberscope;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;

/** Keeps what this process's spool says up to date, and sweeps those of dead processes. On the recorder's thread. */
final class SpoolKeeper {
    private final ChunkShipper.Process process;
    private final Settings settings;
    private final SparkConf conf;
    private final Problems problems;
    private List<Path> places = Collections.emptyList();
    private Spool spool;
    private boolean gaveUp;
    private String described = "";
    private Sweep sweep;

    SpoolKeeper(ChunkShipper.Process process, Settings settings, SparkConf conf, Problems problems) {
        this.process = process;
        this.settings = settings;
        this.conf = conf;
        this.problems = problems;
    }

    /** Before any engine starts, since engines put their files there. {@code samples}: whether there will be any. */
    void open(boolean samples) {
        try {
            places = Spool.places(settings, conf, System.getenv());
            sweep = new Sweep(places, problems);
            spool = samples ? Spool.open(settings, places, problems) : null;
            if (spool != null) {
                process.log.open(spool.directory.resolve(ChunkLog.NAME));
            }
        } catch (Throwable failed) {
            giveUp(failed);
        }
    }

    /** Where spools of this application may lie on this host. */
    List<String> places() {
        return places.stream().map(Path::toString).collect(Collectors.toList());
    }

    /** Each second: texts of tasks; {@code anew}: all the rest too, where it is known where the run lies. */
    void keep(RunAddress address, List<EngineRun> running, boolean anew) {
        if (spool == null || gaveUp) {
            return;
        }
        try {
            spool.remember(TaskSpans.OF_THIS_JVM.freshStrings(), TaskSpans.OF_THIS_JVM::strings);
            if (anew && address != null && !running.isEmpty()) {
                described = spool.describe(document(address, running));
            }
        } catch (Throwable failed) {
            giveUp(failed);
        }
    }

    private Map<String, Object> document(RunAddress address, List<EngineRun> running) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("schema", Spool.SCHEMA);
        out.put("run", address.directory);
        process.describe(out, address);
        out.put("bytes_left", process.governor.bytes().leftBytes());
        out.put("engines", running.stream().map(run -> run.engine.name()).collect(Collectors.joining(",")));
        for (EngineRun run : running) {
            out.putAll(LeftEngine.describe(run.engine));
            out.put(run.engine.name() + "." + LeftEngine.RATES, run.rates());
        }
        return out;
    }

    /** What it says may be wrong from now on, so nobody may act on it. */
    private void giveUp(Throwable failed) {
        problems.add("spool", failed);
        if (spool != null) {
            forget();
            gaveUp = true;
        }
    }

    private void forget() {
        try {
            spool.forget(described);
            described = "";
        } catch (IOException unwritable) {
            problems.add("spool", unwritable);
        }
    }

    /** Never throws: others are not to suffer from what the dead left. */
    void sweep(RunAddress address, Sweep.Opening store, BooleanSupplier stop) {
        try {
            if (sweep != null) {
                sweep.round(address, store, stop);
            }
        } catch (Throwable failed) {
            problems.add("sweep", failed);
        }
    }

    /** {@code shipped}: whether nothing is left; what somebody who sweeps can still ship stays, all else goes. */
    void close(boolean shipped) {
        try {
            process.log.close();
            if (spool != null) {
                spool.leave(described, shipped || described.isEmpty() || process.governor.bytes().isExhausted());
            }
        } catch (Throwable failed) {
            problems.add("spool", failed);
        }
    }
}
