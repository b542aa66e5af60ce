import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;

/**
 * A recording in two chunks with every event that this JDK has, and an own one with fields of every kind.
 *
 * <p>Usage: {@code java AllEvents.java OUT.jfr ROUNDS [endless]}. With {@code endless} it begins chunks until it is killed.
 */
public class AllEvents {
  @Name("emberscope.test.Fields")
  public static class Fields extends Event {
    public byte aByte;
    public short aShort;
    public char aChar;
    public int anInt;
    public long aLong;
    public float aFloat;
    public double aDouble;
    public boolean aBoolean;
    public String text;
    public Class<?> type;
    public Thread thread;

    @Timespan(Timespan.MILLISECONDS)
    public long spanMs;

    @Timespan(Timespan.TICKS)
    public long spanTicks;

    @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
    public long momentMs;

    @DataAmount public long bytes;
  }

  static final String[] TEXTS = {
    null, "", "a", "plain text of more than sixteen characters", "t\u00e9xte", "\u65e5\u672c\u8a9e", "\ud83d\ude00 face",
    "alone \ud83d", "tab\tquote\"back\\slash\nline", "x".repeat(500)
  };
  static final Class<?>[] TYPES = {null, int.class, int[][].class, AllEvents.class, Runnable.class};
  static final Object LOCK = new Object();
  static volatile Object sink;

  static long fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }

  static void fields(int i, Random random) {
    Fields event = new Fields();
    event.begin();
    event.aByte = (byte) random.nextInt();
    event.aShort = (short) random.nextInt();
    event.aChar = (char) random.nextInt();
    event.anInt = random.nextInt() >> random.nextInt(32);
    event.aLong = i == 3 ? Long.MIN_VALUE : i == 4 ? Long.MAX_VALUE : random.nextLong() >> random.nextInt(64);
    event.aFloat = i % 7 == 0 ? Float.NaN : random.nextFloat();
    event.aDouble = i % 7 == 1 ? Double.NEGATIVE_INFINITY : -random.nextDouble();
    event.aBoolean = random.nextBoolean();
    event.text = TEXTS[i % TEXTS.length];
    event.type = TYPES[i % TYPES.length];
    event.thread = i % 3 == 0 ? null : Thread.currentThread();
    event.spanMs = i;
    event.spanTicks = i * 1000L;
    event.momentMs = 1_700_000_000_000L + i;
    event.bytes = random.nextLong();
    event.commit();
  }

  static void work(int rounds, long seed) {
    try {
      Random random = new Random(seed);
      Path file = Files.createTempFile("all", ".txt");
      for (int i = 0; i < rounds; i++) {
        sink = fibonacci(24) + "" + new byte[100_000].length;
        fields(i, random);
        synchronized (LOCK) {
          LOCK.wait(1);
          Files.writeString(file, "round " + i);
          sink = Files.readString(file);
        }
        try {
          throw new IllegalStateException("round " + i);
        } catch (IllegalStateException expected) {
          sink = expected;
        }
        if (i == rounds / 2) {
          Thread.currentThread().setName("renamed " + seed);
        }
      }
      Files.delete(file);
    } catch (Exception fault) {
      throw new IllegalStateException(fault);
    }
  }

  static Recording everything() {
    Recording recording = new Recording();
    for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
      recording.enable(type.getName()).withoutThreshold().withStackTrace();
    }
    recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(5));
    recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(5));
    recording.enable("jdk.CPUTimeSample").with("throttle", "2ms");
    recording.enable("jdk.CompilerPhase").withThreshold(Duration.ofMillis(1));
    recording.disable("jdk.CompilerInlining");
    return recording;
  }

  static void threads(int rounds) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int number = 0; number < 3; number++) {
      long seed = number;
      Thread thread = new Thread(() -> work(rounds, seed), "worker-\u00e9-" + number);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    System.gc();
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[1]);
    try (Recording recording = everything(); Recording second = everything()) {
      recording.setDestination(Path.of(arguments[0]));
      recording.start();
      threads(rounds);
      while (arguments.length > 2) {
        try (Recording third = everything()) {
          third.start();
          threads(rounds);
        }
      }
      second.start(); // begins a chunk
      threads(rounds);
      second.stop();
      recording.stop();
    }
  }
}
