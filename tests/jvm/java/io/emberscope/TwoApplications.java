package io.emberscope;

import java.util.LinkedHashMap;
import java.util.Map;

/** Of two applications that follow each other in one JVM, the first lets go when the second has begun. */
public final class TwoApplications {
    private static final class Counting implements TaskSpans.Writer {
        int started;

        @Override
        public void started(TaskSpans.Task task) {
            started++;
        }

        @Override
        public void ended(TaskSpans.Task task, String outcome) {}
    }

    public static void main(String[] arguments) throws Exception {
        TaskSpans spans = TaskSpans.OF_THIS_JVM;
        Counting first = new Counting();
        Counting second = new Counting();
        Map<String, Object> out = new LinkedHashMap<>();

        spans.startWriting(first);
        spans.startWriting(second);
        spans.stopWriting(first);
        spans.taskStarted(new TaskSpans.Task());
        spans.taskEnded("success");
        spans.stopWriting(second);
        out.put("writing", second.started - first.started);

        spans.standIn(first);
        spans.standIn(second);
        spans.stopStandingIn(first);
        spans.taskStarted(new TaskSpans.Task());
        spans.taskEnded("success");
        spans.stopStandingIn(second);
        out.put("standing_in", second.started - first.started - 1);

        spans.taskStarted(new TaskSpans.Task());
        spans.taskEnded("success");
        out.put("after", second.started + first.started - 2);
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
