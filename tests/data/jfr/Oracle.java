import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK's own reader says of the sample events of a recording, one line each, fields parted by tabs: event,
 * epoch ns, Java thread id, OS thread id, truncated, value, stack (root first, U+0001 between
 * frames, {@code type:class.method:line}).
 *
 * <p>Usage: {@code java Oracle.java IN.jfr}
 */
public class Oracle {
  static final Map<String, String> VALUES =
      Map.ofEntries(
          Map.entry("jdk.ExecutionSample", ""),
          Map.entry("jdk.NativeMethodSample", ""),
          Map.entry("jdk.CPUTimeSample", "samplingPeriod"),
          Map.entry("jdk.ObjectAllocationSample", "weight"),
          Map.entry("jdk.ObjectAllocationInNewTLAB", "tlabSize"),
          Map.entry("jdk.ObjectAllocationOutsideTLAB", "allocationSize"),
          Map.entry("jdk.JavaMonitorEnter", "duration"),
          Map.entry("jdk.ThreadPark", "duration"),
          Map.entry("jdk.OldObjectSample", "objectSize"));

  static long epochNs(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }

  static String value(RecordedEvent event, String field) {
    if (field.isEmpty() || !event.hasField(field)) {
      return "";
    }
    return field.equals("duration") || field.equals("samplingPeriod")
        ? Long.toString(event.getDuration(field).toNanos())
        : Long.toString(event.getLong(field));
  }

  static String stack(RecordedStackTrace trace) {
    if (trace == null) {
      return "";
    }
    StringJoiner joined = new StringJoiner("\u0001");
    List<RecordedFrame> frames = trace.getFrames();
    for (int i = frames.size() - 1; i >= 0; i--) {
      RecordedMethod method = frames.get(i).getMethod();
      String name = method == null ? "?" : method.getType().getName() + "." + method.getName();
      joined.add(frames.get(i).getType() + ":" + name + ":" + frames.get(i).getLineNumber());
    }
    return joined.toString();
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    try (RecordingFile file = new RecordingFile(Path.of(arguments[0]))) {
      while (file.hasMoreEvents()) {
        RecordedEvent event = file.readEvent();
        String field = VALUES.get(event.getEventType().getName());
        if (field == null) {
          continue;
        }
        RecordedThread thread =
            event.hasField("sampledThread") ? event.getThread("sampledThread") : event.getThread();
        RecordedStackTrace trace = event.getStackTrace();
        out.println(
            String.join(
                "\t",
                event.getEventType().getName(),
                Long.toString(epochNs(event.getStartTime())),
                thread == null ? "" : Long.toString(Math.max(0, thread.getJavaThreadId())),
                thread == null ? "" : Long.toString(thread.getOSThreadId()),
                Boolean.toString(trace != null && trace.isTruncated()),
                value(event, field),
                stack(trace)));
      }
    }
    out.flush();
  }
}
