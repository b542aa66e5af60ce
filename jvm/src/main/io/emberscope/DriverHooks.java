package io.emberscope;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** What Spark calls in the driver. Nothing thrown here may reach Spark: {@code init} is not guarded there. */
final class DriverHooks implements DriverPlugin {
    private final Problems problems = new Problems("driver", "driver");
    private Settings settings;
    private SparkContext spark;
    private String store;
    private Recorder recorder;
    private volatile RunAddress address;
    private byte[] writtenStatus;

    @Override
    public Map<String, String> init(SparkContext sc, PluginContext context) {
        try {
            spark = sc;
            settings = new Settings(context.conf(), problems);
            String status = settings.text(Settings.Key.STATUS);
            if (!status.isEmpty()) {
                problems.listener(all -> writeStatus(Paths.get(status), all));
            }
            OwnEventLog.leaveIfUnwritable(context.conf(), settings.text(Settings.Key.INVOCATION), problems);
            offerJar(sc, context.conf());
            settings.fault("driver.init");
            if (!settings.flag(Settings.Key.ENABLED)) {
                return Collections.emptyMap();
            }
            if (settings.text(Settings.Key.STORE).isEmpty()) {
                problems.add("settings", Settings.Key.STORE.key + " is not set, so nothing is recorded");
                return Collections.emptyMap();
            }
            store = RunStore.resolve(settings.text(Settings.Key.STORE));
            ChunkShipper.Process process = new ChunkShipper.Process("driver", "driver", context.hostname());
            boolean samples = settings.flag(Settings.Key.DRIVER_ENABLED);
            recorder = new Recorder(process, settings, context.conf(), problems, last -> address, samples);
            recorder.start();
            return Collections.singletonMap("store", store);
        } catch (Throwable failed) {
            problems.add("driver.init", failed);
            return Collections.emptyMap();
        }
    }

    /** Even where nothing is to be recorded: executors load every plugin. */
    private void offerJar(SparkContext sc, SparkConf conf) {
        try {
            OwnJar.offerToExecutors(sc, conf);
        } catch (Throwable failed) {
            problems.add("jar", failed);
        }
    }

    @Override
    public void registerMetrics(String appId, PluginContext context) {
        try {
            settings.fault("registerMetrics");
            if (recorder != null) {
                String attempt = context.conf().get("spark.app.attempt.id", "1");
                address = new RunAddress(store, settings.text(Settings.Key.GROUP), appId, attempt);
                recorder.describe(application(context.conf()));
                problems.tell();
            }
        } catch (Throwable failed) {
            problems.add("registerMetrics", failed);
        }
    }

    private Map<String, Object> application(SparkConf conf) {
        List<String> events = settings.events();
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("schema", "emberscope.application/1");
        out.put("app_id", address.appId);
        out.put("attempt", address.attempt);
        out.put("app_name", conf.get("spark.app.name", null));
        out.put("user", spark.sparkUser());
        out.put("spark_version", spark.version());
        out.put("scala_version", scalaVersion());
        out.put("java_version", System.getProperty("java.version"));
        out.put("master", conf.get("spark.master", null));
        out.put("started_ms", spark.startTime());
        out.put("event_log_enabled", conf.getBoolean("spark.eventLog.enabled", false));
        out.put("event_log_dir", conf.get("spark.eventLog.dir", null));
        String invocation = settings.text(Settings.Key.INVOCATION);
        out.put("invocation", invocation.isEmpty() ? null : invocation);
        out.put("engine", null); // The recorder knows which are at work.
        out.put("events", events);
        out.put("sample_period_ns", events.contains("cpu") ? settings.millis(Settings.Key.RATE_CPU) * 1_000_000 : null);
        out.put("chunk_seconds", settings.count(Settings.Key.CHUNK_SECONDS, 1));
        out.put("recorder_version", version());
        return out;
    }

    /** By reflection, so that the jar has no link to a version of Scala. */
    private static String scalaVersion() {
        try {
            Method version = Class.forName("scala.util.Properties").getMethod("versionNumberString");
            return (String) version.invoke(null);
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }

    private static String version() {
        return DriverHooks.class.getPackage().getImplementationVersion();
    }

    @Override
    public Object receive(Object message) {
        try {
            settings.fault("receive");
            Map<?, ?> map = (Map<?, ?>) message;
            if ("attempt".equals(map.get("ask"))) {
                return address == null ? "" : address.attempt;
            }
            for (Object each : (Iterable<?>) map.get("problems")) {
                Map<?, ?> problem = (Map<?, ?>) each;
                problems.add(
                        (String) problem.get("role"),
                        (String) problem.get("executor_id"),
                        (String) problem.get("where"),
                        (String) problem.get("message"),
                        ((Number) problem.get("count")).longValue());
            }
        } catch (Throwable failed) {
            problems.add("receive", failed);
        }
        return null;
    }

    /** Asked for each second: only what is new is written. */
    private synchronized void writeStatus(Path file, Problems all) {
        RunAddress where = address;
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("schema", "emberscope.status/1");
        out.put("app_id", where == null ? null : where.appId);
        out.put("run_dir", where == null ? null : where.directory);
        out.put("problems", all.documents());
        byte[] bytes = Json.bytes(out);
        if (Arrays.equals(bytes, writtenStatus)) {
            return;
        }
        Path hidden = file.resolveSibling("." + file.getFileName() + ".tmp");
        try {
            Files.write(hidden, bytes);
            Files.move(hidden, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            writtenStatus = bytes;
        } catch (java.io.IOException unwritable) {
            // There is no other place to say so.
        }
    }

    @Override
    public void shutdown() {
        try {
            settings.fault("driver.shutdown");
            if (recorder != null) {
                recorder.finish();
            }
        } catch (Throwable failed) {
            problems.add("driver.shutdown", failed);
        }
    }
}
