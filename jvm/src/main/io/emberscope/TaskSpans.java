package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;

/**
 * Which task runs on which thread of this JVM, written into the recording by an engine's {@link Writer}. There is one
 * for the whole JVM because in local mode the executor's hooks and the driver's recorder share it.
 */
final class TaskSpans {
    static final TaskSpans OF_THIS_JVM = new TaskSpans();

    /** Longest job group or description that is kept, in characters. */
    private static final int LONGEST = 256;

    private static final int STRINGS_KEPT = 4096;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** A running task attempt. */
    static final class Task {
        int stageId;
        int stageAttempt;
        long taskId;
        int attempt;
        int partition;
        long sqlExecutionId;
        String jobGroup;
        String description;
        long threadId;
        /** CPU time of its thread, ns, where its span starts and ends; -1 where this JVM does not know. */
        volatile long cpuStartNs = -1;

        volatile long cpuEndNs = -1;
        String threadName;
        /** When it was seen to start, by {@code System.nanoTime()}. */
        long startTime;
        /** The engine's open span, made by {@link Writer#started}. */
        volatile Object span;
    }

    /** How an engine writes spans. */
    interface Writer {
        /** Writes the start of a task and opens its span in {@link Task#span}. */
        void started(Task task);

        /** Closes and writes the span. */
        void ended(Task task, String outcome);
    }

    private final Map<Long, Task> running = new ConcurrentHashMap<>();
    private final Set<String> strings = Collections.synchronizedSet(Collections.newSetFromMap(
            new LinkedHashMap<String, Boolean>(64, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                    return size() > STRINGS_KEPT;
                }
            }));
    private final Set<String> others = ConcurrentHashMap.newKeySet();
    /** Strings that nobody has taken down yet; where nobody does, those that find no room are left out. */
    private final BlockingQueue<String> fresh = new ArrayBlockingQueue<>(STRINGS_KEPT);
    private volatile Writer writer;
    private volatile Writer standIn;

    private TaskSpans() {}

    /** From now on spans are written; tasks that run already are seen from here on. */
    void startWriting(Writer engineWriter) {
        writer = engineWriter;
        announceTo(engineWriter);
    }

    /** Has no effect where another engine writes by now. */
    void stopWriting(Writer engineWriter) {
        if (writer == engineWriter) {
            writer = null;
            announceTo(standIn);
        }
    }

    /** Writes spans whenever no other engine does. */
    void standIn(Writer engineWriter) {
        standIn = engineWriter;
        if (writer == null) {
            announceTo(engineWriter);
        }
    }

    /** Has no effect where another engine, of a later application in this JVM, stands in by now. */
    void stopStandingIn(Writer engineWriter) {
        if (standIn == engineWriter) {
            standIn = null;
        }
    }

    private void announceTo(Writer engineWriter) {
        if (engineWriter != null) {
            for (Task task : running.values()) {
                // Its span starts here, not where the task did.
                task.startTime = System.nanoTime();
                task.cpuStartNs = cpuNs(task.threadId);
                engineWriter.started(task);
            }
        }
    }

    private Writer writer() {
        Writer first = writer;
        return first != null ? first : standIn;
    }

    /** The tasks that run now: a view that changes with them. */
    Collection<Task> running() {
        return running.values();
    }

    /** The task that runs on a thread, or null. */
    Task on(long threadId) {
        return running.get(threadId);
    }

    /** Strings that spans of late carried: ours, so they may leave this JVM. */
    boolean wrote(String text) {
        return strings.contains(text);
    }

    /** On the task's own thread, where Spark's task context is set. */
    void taskStarted() {
        TaskContext context = TaskContext.get();
        if (context == null) {
            return;
        }
        Task task = new Task();
        task.stageId = context.stageId();
        task.stageAttempt = context.stageAttemptNumber();
        task.taskId = context.taskAttemptId();
        task.attempt = context.attemptNumber();
        task.partition = context.partitionId();
        task.sqlExecutionId = number(context.getLocalProperty("spark.sql.execution.id"));
        task.jobGroup = capped(context.getLocalProperty("spark.jobGroup.id"));
        task.description = capped(context.getLocalProperty("spark.job.description"));
        taskStarted(task);
    }

    void taskStarted(Task task) {
        Thread thread = Thread.currentThread();
        task.threadId = thread.getId();
        task.threadName = thread.getName();
        task.startTime = System.nanoTime();
        remember(task.jobGroup);
        remember(task.description);
        task.cpuStartNs = cpuNs();
        running.put(task.threadId, task);
        Writer now = writer();
        if (now != null) {
            now.started(task);
        }
    }

    /** On the task's own thread; Spark's task context is gone by then, and a failed task may never have started. */
    void taskEnded(String outcome) {
        Task task = running.remove(Thread.currentThread().getId());
        Writer now = writer();
        if (task != null && now != null) {
            task.cpuEndNs = cpuNs();
            now.ended(task, outcome);
        }
    }

    /** CPU time of this thread: less than a microsecond, {@code SpanCost} measures it. */
    private static long cpuNs() {
        try {
            return THREADS.getCurrentThreadCpuTime();
        } catch (UnsupportedOperationException unknown) {
            return -1;
        }
    }

    private static long cpuNs(long threadId) {
        try {
            return THREADS.getThreadCpuTime(threadId);
        } catch (UnsupportedOperationException unknown) {
            return -1;
        }
    }

    private void remember(String text) {
        if (text != null && strings.add(text)) {
            fresh.offer(text);
        }
    }

    /** A text of ours in events of another kind: it may leave this JVM after its death too. Only so many are kept. */
    void mayLeave(String text) {
        if (others.size() < STRINGS_KEPT && others.add(text)) {
            fresh.offer(text);
        }
    }

    /** The strings that came since the last call. */
    List<String> freshStrings() {
        List<String> out = new ArrayList<>();
        fresh.drainTo(out);
        return out;
    }

    /** All of them that may leave this JVM. */
    List<String> strings() {
        List<String> out = new ArrayList<>(others);
        synchronized (strings) {
            out.addAll(strings);
        }
        return out;
    }

    private static String capped(String text) {
        return text == null || text.length() <= LONGEST ? text : text.substring(0, LONGEST);
    }

    private static long number(String text) {
        if (text == null) {
            return -1;
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException other) {
            return -1;
        }
    }
}
