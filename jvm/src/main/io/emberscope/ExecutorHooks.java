package io.emberscope;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** What Spark calls in an executor. Nothing thrown here may reach Spark: {@code init} is not guarded there. */
final class ExecutorHooks implements ExecutorPlugin {
    /** Executor ids that are recorded whatever the fraction: the first of each run, as cluster managers count. */
    private static final int ALWAYS_BELOW = 2;

    private Problems problems;
    private Settings settings;
    private volatile Recorder recorder;
    private boolean spans;

    @Override
    public void init(PluginContext context, Map<String, String> fromDriver) {
        problems = new Problems("executor", context.executorID());
        try {
            settings = new Settings(context.conf(), problems);
            settings.fault("executor.init");
            String store = fromDriver == null ? null : fromDriver.get("store");
            if (store == null || !settings.flag(Settings.Key.ENABLED)) {
                return;
            }
            // In local mode the driver's recorder already records this JVM.
            boolean driverRecordsUs =
                    context.executorID().equals("driver") && settings.flag(Settings.Key.DRIVER_ENABLED);
            // In local mode the executor is there before the application has its id, and it is chosen in any case.
            String appId = context.conf().get("spark.app.id", "");
            boolean chosen = chosen(appId, context.executorID(), settings.ratio(Settings.Key.FRACTION));
            spans = driverRecordsUs || chosen;
            if (chosen && !driverRecordsUs) {
                ChunkShipper.Process process =
                        new ChunkShipper.Process("executor", context.executorID(), host(context));
                Recorder.Whereabouts whereabouts = last -> address(context, store, appId, last);
                recorder = new Recorder(process, settings, context.conf(), problems, whereabouts, true);
                recorder.start();
            }
        } catch (Throwable failed) {
            problems.add("executor.init", failed);
        } finally {
            problems.listener(all -> tell(context, all));
        }
    }

    /** Sticky: the same executor of the same application is always chosen or never. */
    static boolean chosen(String appId, String executorId, double fraction) {
        try {
            if (Integer.parseInt(executorId) < ALWAYS_BELOW) {
                return true;
            }
        } catch (NumberFormatException notCounted) {
            return true;
        }
        int hash = (appId + '/' + executorId).hashCode() * 0x9e3779b1;
        return (hash >>> 1) / (double) Integer.MAX_VALUE < fraction || fraction >= 1;
    }

    /** The attempt is known to the driver alone (executors see it in no setting), and to nobody before it has begun. */
    private RunAddress address(PluginContext context, String store, String appId, boolean last) throws Exception {
        String attempt = context.conf().get("spark.app.attempt.id", null);
        if (attempt == null && !last) {
            attempt = (String) context.ask(new HashMap<>(Collections.singletonMap("ask", "attempt")));
            if (attempt == null || attempt.isEmpty()) {
                return null;
            }
        }
        String group = settings.text(Settings.Key.GROUP);
        String id = context.conf().get("spark.app.id", appId);
        return id.isEmpty() ? null : new RunAddress(store, group, id, attempt == null ? "1" : attempt);
    }

    /** Spark names it by the address that it listens on, which executors of most clusters do not have. */
    private static String host(PluginContext context) {
        try {
            return context.hostname();
        } catch (NullPointerException noAddress) {
            return SparkEnv.get().blockManager().blockManagerId().host();
        }
    }

    /** To find the driver can take a while: that is for the recorder's own thread, which tells each second what is new. */
    private void tell(PluginContext context, Problems all) {
        if (recorder == null || Recorder.isAtWorkHere()) {
            send(context, all);
        }
    }

    private static void send(PluginContext context, Problems all) {
        try {
            List<Map<String, Object>> growth = all.growth();
            if (!growth.isEmpty()) {
                HashMap<String, Object> message = new HashMap<>();
                message.put("problems", new ArrayList<>(growth));
                context.send(message);
            }
        } catch (IOException gone) {
            // The driver is no longer there to hear it.
        }
    }

    @Override
    public void onTaskStart() {
        try {
            if (spans) {
                settings.fault("onTaskStart");
                TaskSpans.OF_THIS_JVM.taskStarted();
            }
        } catch (Throwable failed) {
            problems.add("onTaskStart", failed);
        }
    }

    @Override
    public void onTaskSucceeded() {
        ended("onTaskSucceeded", "success");
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
        ended("onTaskFailed", reason instanceof TaskKilled ? "killed" : "failed");
    }

    private void ended(String hook, String outcome) {
        try {
            if (spans) {
                settings.fault(hook);
                TaskSpans.OF_THIS_JVM.taskEnded(outcome);
            }
        } catch (Throwable failed) {
            problems.add(hook, failed);
        }
    }

    @Override
    public void shutdown() {
        try {
            settings.fault("executor.shutdown");
            if (recorder != null) {
                recorder.finish();
            }
        } catch (Throwable failed) {
            problems.add("executor.shutdown", failed);
        }
    }
}
