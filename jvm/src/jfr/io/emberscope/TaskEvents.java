package io.emberscope;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/** Spark tasks as events of JDK Flight Recorder, so that samples and tasks lie in one stream with one clock. */
final class TaskEvents implements TaskSpans.Writer {
    @Registered(false)
    @StackTrace(false)
    public abstract static class TaskEvent extends Event {
        @Label("Stage")
        public int stageId;

        @Label("Stage attempt")
        public int stageAttempt;

        @Label("Task attempt id")
        public long taskId;

        @Label("Attempt of the task index")
        public int attempt;

        @Label("Partition")
        public int partition;

        @Label("SQL execution, -1 for none")
        public long sqlExecutionId;

        @Label("Job group")
        public String jobGroup;

        @Label("Job description")
        public String description;

        @Label("Java thread id")
        public long threadId;

        void of(TaskSpans.Task task) {
            stageId = task.stageId;
            stageAttempt = task.stageAttempt;
            taskId = task.taskId;
            attempt = task.attempt;
            partition = task.partition;
            sqlExecutionId = task.sqlExecutionId;
            jobGroup = task.jobGroup;
            description = task.description;
            threadId = task.threadId;
        }
    }

    @Name("emberscope.TaskStart")
    @Label("Task start")
    @Category("Emberscope")
    @Registered(true)
    @StackTrace(false)
    @Threshold("0 ms")
    public static final class TaskStart extends TaskEvent {
        @Label("CPU time of the thread at the start, -1 where it is not known")
        @Timespan(Timespan.NANOSECONDS)
        public long cpuStart;
    }

    @Name("emberscope.TaskSpan")
    @Label("Task")
    @Category("Emberscope")
    @Registered(true)
    @StackTrace(false)
    @Threshold("0 ms")
    public static final class TaskSpan extends TaskEvent {
        @Label("Outcome")
        public String outcome;

        @Label("CPU time of the thread at the start, -1 where it is not known")
        @Timespan(Timespan.NANOSECONDS)
        public long cpuStart;

        @Label("CPU time of the thread at the end, -1 where it is not known")
        @Timespan(Timespan.NANOSECONDS)
        public long cpuEnd;
    }

    /** Never written: stands in the place of an event of another recording that must not leave this JVM. */
    @Name("emberscope.Withheld")
    @Label("Withheld event of another recording")
    @Category("Emberscope")
    @StackTrace(false)
    public static final class Withheld extends Event {}

    @Override
    public void started(TaskSpans.Task task) {
        TaskStart start = new TaskStart();
        start.of(task);
        start.cpuStart = task.cpuStartNs;
        start.commit();
        TaskSpan span = new TaskSpan();
        span.of(task);
        span.begin();
        task.span = span;
    }

    @Override
    public void ended(TaskSpans.Task task, String outcome) {
        TaskSpan span = (TaskSpan) task.span;
        if (span != null) {
            span.outcome = outcome;
            span.cpuStart = task.cpuStartNs;
            span.cpuEnd = task.cpuEndNs;
            span.commit();
        }
    }
}
