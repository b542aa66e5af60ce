package io.emberscope;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The driver's threads on which jobs are called for, planned and scheduled, and which of them are at work. Found by name
 * once in a while: they are few, and few are new.
 */
final class DriverThreads {
    private static final int MOST = 64;
    private static final long LOOK_NANOS = 1_000_000_000;

    private static final String[] NAMES = {
        // The program itself, and threads that it starts; those of Py4J, which act for Python, are called so too.
        "main", "Thread-", "pool-", "ForkJoinPool", "scala-execution-context-",
        // Spark's own.
        "dag-scheduler-event-loop", "task-result-getter-", "broadcast-exchange-", "subquery-", "shuffle-exchange-",
        "dynamicpruning-", "stream execution thread for ", "streaming-job-executor-",
        "SparkConnectExecuteThread", "HiveServer2-Background-Pool",
    };

    private long nextLook = Long.MIN_VALUE;
    private List<Long> ids = Collections.emptyList();

    /** Ids of threads to sample; {@code now} by {@code System.nanoTime()}. */
    List<Long> ids(long now) {
        if (nextLook == Long.MIN_VALUE || now - nextLook >= 0) {
            nextLook = now + LOOK_NANOS;
            ids = find();
        }
        return ids;
    }

    private static List<Long> find() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] all = new Thread[root.activeCount() + 64];
        int count = root.enumerate(all, true);
        List<Long> found = new ArrayList<>();
        for (int i = 0; i < count && found.size() < MOST; i++) {
            if (isOfInterest(all[i].getName())) {
                found.add(all[i].getId());
            }
        }
        return found;
    }

    private static boolean isOfInterest(String name) {
        for (String start : NAMES) {
            if (name.startsWith(start)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a stack (leaf first) is of a thread that waits for something to do, or has nothing to do with Spark. */
    static boolean isIdle(StackTraceElement[] stack) {
        boolean spark = false;
        boolean takes = false;
        boolean python = false;
        boolean command = false;
        for (StackTraceElement frame : stack) {
            String owner = frame.getClassName();
            String method = frame.getMethodName();
            if (owner.equals("java.util.concurrent.ThreadPoolExecutor") && method.equals("getTask")
                    || owner.equals("java.util.concurrent.ForkJoinPool") && method.equals("awaitWork")
                    || owner.startsWith("org.apache.spark.api.python.PythonGatewayServer")
                    || owner.startsWith("org.apache.spark.deploy.PythonRunner")
                    || owner.startsWith("org.jline.")) {
                return true;
            }
            takes |= owner.startsWith("java.util.concurrent.Linked") && method.startsWith("take");
            if (takes && owner.startsWith("org.apache.spark.util.EventLoop")) {
                return true;
            }
            command |= owner.startsWith("py4j.commands.");
            python |= owner.startsWith("py4j.");
            spark |= owner.startsWith("org.apache.spark.");
        }
        return python ? !command : !spark;
    }
}
