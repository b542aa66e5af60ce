import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.EventStream;

/**
 * A small program whose recording holds every kind of event that the reader turns into rows: two threads that run
 * "tasks" with known hot methods inside spans, allocation, a contended lock, garbage collections.
 *
 * <p>Usage: {@code java Workload.java OUT.jfr [TASKS_PER_THREAD [halt]]}. With {@code halt} the JVM ends as if it were
 * killed: OUT.jfr stays empty and the JFR repository keeps a chunk that nobody finished.
 */
public class Workload {
  @Name("emberscope.TaskStart")
  @StackTrace(false)
  public static class TaskStart extends Event {
    public int stageId;
    public int stageAttempt;
    public long taskId;
    public int attempt;
    public int partition;
    public long sqlExecutionId;
    public String jobGroup;
    public String description;
    public long threadId;
  }

  @Name("emberscope.TaskSpan")
  @StackTrace(false)
  public static class TaskSpan extends Event {
    public int stageId;
    public int stageAttempt;
    public long taskId;
    public int attempt;
    public int partition;
    public long sqlExecutionId;
    public String jobGroup;
    public String description;
    public long threadId;
    public String outcome;
  }

  static final Object LOCK = new Object();
  static volatile Object sink;

  static long burn(long rounds) {
    long x = rounds;
    for (long i = 0; i < rounds; i++) {
      x = x * 6364136223846793005L + 1442695040888963407L;
      x ^= x >>> 17;
    }
    return x;
  }

  static long nested(int depth, long rounds) {
    return depth == 0 ? burn(rounds) : nested(depth - 1, rounds) + 1;
  }

  static void allocate() {
    List<byte[]> kept = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      kept.add(new byte[4096]);
    }
    sink = kept;
  }

  static void contend() throws InterruptedException {
    synchronized (LOCK) {
      Thread.sleep(15);
    }
  }

  @SuppressWarnings("deprecation") // getId is all that every JDK from 8 to 25 has
  static void task(int stage, int index, long id) throws InterruptedException {
    String group = stage == 1 ? "group-\u00e9\u65e5\ud83d\ude00" : null;
    TaskStart start = new TaskStart();
    start.stageId = stage;
    start.stageAttempt = 0;
    start.taskId = id;
    start.attempt = index % 2;
    start.partition = index;
    start.sqlExecutionId = stage == 1 ? 7 : -1;
    start.jobGroup = group;
    start.description = "stage " + stage;
    start.threadId = Thread.currentThread().getId();
    start.commit();
    TaskSpan span = new TaskSpan();
    span.begin();
    LongUnaryOperator work = rounds -> stage == 1 ? burn(rounds) : nested(100, rounds);
    work.applyAsLong(40_000_000L);
    allocate();
    contend();
    span.stageId = stage;
    span.stageAttempt = 0;
    span.taskId = id;
    span.attempt = index % 2;
    span.partition = index;
    span.sqlExecutionId = stage == 1 ? 7 : -1;
    span.jobGroup = group;
    span.description = "stage " + stage;
    span.threadId = Thread.currentThread().getId();
    span.outcome = index == 0 ? "failed" : "success";
    span.commit();
  }

  /** Ends the JVM without a goodbye once the events so far are in the repository. */
  static void haltAfterFlush() throws Exception {
    CountDownLatch flushes = new CountDownLatch(2);
    EventStream stream = EventStream.openRepository();
    stream.onFlush(flushes::countDown);
    stream.startAsync();
    if (!flushes.await(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no flush in a minute");
    }
    Runtime.getRuntime().halt(0);
  }

  public static void main(String[] arguments) throws Exception {
    int tasks = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 4;
    try (Recording recording = new Recording()) {
      for (String name :
          List.of(
              "jdk.ActiveSetting", "jdk.ExecutionSample", "jdk.NativeMethodSample", "jdk.ObjectAllocationSample",
              "jdk.JavaMonitorEnter", "jdk.ThreadPark", "jdk.GarbageCollection", "jdk.GCHeapSummary", "jdk.CPULoad",
              "jdk.ResidentSetSize", "jdk.CPUTimeSample", "jdk.CPUTimeSamplesLost")) {
        recording.enable(name);
      }
      recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
      recording.enable("jdk.CPUTimeSample").with("throttle", "10ms");
      recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(20));
      recording.enable("jdk.JavaMonitorEnter").withThreshold(Duration.ofMillis(1));
      recording.enable("jdk.CPULoad").withPeriod(Duration.ofMillis(200));
      recording.enable("jdk.ResidentSetSize").withPeriod(Duration.ofMillis(200));
      recording.setDestination(Path.of(arguments[0]));
      recording.start();
      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        int stage = thread + 1;
        Thread worker =
            new Thread(
                () -> {
                  try {
                    for (int index = 0; index < tasks; index++) {
                      task(stage, index, stage * 1000L + index);
                      if (index == tasks / 2) {
                        System.gc();
                      }
                    }
                  } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                  }
                },
                "worker-" + stage);
        threads.add(worker);
        worker.start();
      }
      for (Thread worker : threads) {
        worker.join();
      }
      if (arguments.length > 2) {
        haltAfterFlush();
      }
      recording.stop();
    }
  }
}
