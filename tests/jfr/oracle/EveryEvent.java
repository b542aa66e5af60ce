import java.io.PrintStream;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Every field of every event of a recording as the JDK's own reader has it, chunk by chunk, in the order of the file.
 *
 * <p>Usage: {@code java EveryEvent.java FILE [EVENT_TYPE]}. Each chunk is copied into a file of its own first, because
 * the JDK's reader takes the clock of a file's first chunk and the constants of earlier chunks for later ones. Lines,
 * fields parted by tabs: {@code C number} for a chunk; {@code S number state} for one that is not finished, which the
 * JDK reads as far as it was flushed, if it was; {@code E type values times} for an event; {@code X message} where the
 * JDK's reader gives up. Values are {@code name=value}, parted by U+001F; times are the start, and all time stamps and
 * spans of the event's own fields in nanoseconds, as the JDK converts them. A struct of more than LONGEST characters is
 * replaced by {@code #} and a digest of its text; with an event type, {@code D digest text} is written before it. How
 * values are written: {@code canonical.py} beside this.
 */
public class EveryEvent {
  static final int LONGEST = 120;
  static final int HEADER_BYTES = 68;
  static final byte UPDATING = -1;

  final PrintStream out;
  final String only;
  final Set<String> explained = new HashSet<>();
  Map<RecordedObject, String> known = new IdentityHashMap<>();

  EveryEvent(PrintStream out, String only) {
    this.out = out;
    this.only = only;
  }

  void escape(String text, StringBuilder to) {
    to.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
        to.append(c).append(text.charAt(++i));
      } else if (Character.isSurrogate(c)) {
        to.append('\ufffd');
      } else if (c < ' ' || c == '"' || c == '\\') {
        to.append(String.format("\\%02x", (int) c));
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  String digest(String text) throws Exception {
    byte[] sum = MessageDigest.getInstance("MD5").digest(text.getBytes("UTF-8"));
    String name = "#" + String.format("%016x", ByteBuffer.wrap(sum).getLong());
    if (only != null && explained.add(name)) {
      out.append("D\t").append(name).append('\t').append(text).append('\n');
    }
    return name;
  }

  String struct(RecordedObject object) throws Exception {
    String found = known.get(object);
    if (found != null) {
      return found;
    }
    StringBuilder text = new StringBuilder("{");
    for (ValueDescriptor field : object.getFields()) {
      text.append(text.length() > 1 ? "," : "").append(field.getName()).append('=');
      value(object.getValue(field.getName()), text);
    }
    text.append('}');
    String short_ = text.length() > LONGEST ? digest(text.toString()) : text.toString();
    if (object instanceof RecordedStackTrace || object instanceof RecordedFrame || object instanceof RecordedMethod
        || object instanceof RecordedClass || object instanceof RecordedThread) {
      known.put(object, short_);
    }
    return short_;
  }

  void value(Object value, StringBuilder to) throws Exception {
    if (value == null) {
      to.append('~');
    } else if (value instanceof String) {
      escape((String) value, to);
    } else if (value instanceof Float) {
      to.append('f').append(Integer.toHexString(Float.floatToRawIntBits((Float) value)));
    } else if (value instanceof Double) {
      to.append('d').append(Long.toHexString(Double.doubleToRawLongBits((Double) value)));
    } else if (value instanceof Character) {
      to.append((int) (Character) value);
    } else if (value instanceof RecordedObject) {
      to.append(struct((RecordedObject) value));
    } else if (value.getClass().isArray()) {
      to.append('[');
      for (int i = 0; i < Array.getLength(value); i++) {
        to.append(i > 0 ? "," : "");
        value(Array.get(value, i), to);
      }
      to.append(']');
    } else {
      to.append(value);
    }
  }

  static long epochNs(Instant time) {
    return Math.addExact(Math.multiplyExact(time.getEpochSecond(), 1_000_000_000L), time.getNano());
  }

  static String time(RecordedEvent event, ValueDescriptor field) {
    try {
      return Long.toString(
          field.getAnnotation(Timespan.class) != null
              ? event.getDuration(field.getName()).toNanos()
              : epochNs(event.getInstant(field.getName())));
    } catch (ArithmeticException beyond) {
      return "";
    }
  }

  void event(RecordedEvent event) throws Exception {
    StringBuilder values = new StringBuilder();
    StringBuilder times = new StringBuilder();
    for (ValueDescriptor field : event.getFields()) {
      values.append(values.length() > 0 ? "\u001f" : "").append(field.getName()).append('=');
      value(event.getValue(field.getName()), values);
      boolean isTime = field.getAnnotation(Timespan.class) != null || field.getAnnotation(Timestamp.class) != null;
      if (isTime && !field.isArray() && field.getTypeName().equals("long")) {
        times.append(times.length() > 0 ? "," : "").append(time(event, field));
      }
    }
    out.append("E\t").append(event.getEventType().getName()).append('\t');
    out.append(values).append('\t').append(times).append('\n');
  }

  void chunk(Path file) throws Exception {
    known = new IdentityHashMap<>();
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        if (only == null || event.getEventType().getName().equals(only)) {
          event(event);
        }
      }
    } catch (Exception | InternalError fault) {
      StringBuilder text = new StringBuilder();
      escape(fault.toString(), text);
      out.append("X\t").append(text).append('\n');
    }
  }

  void file(Path path) throws Exception {
    Path alone = Files.createTempFile("chunk", ".jfr");
    try (FileChannel source = FileChannel.open(path)) {
      int number = 0;
      for (long offset = 0; offset < source.size(); number++) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        source.read(header, offset);
        long size = header.getLong(8);
        if (size <= HEADER_BYTES || offset + size > source.size() || header.get(64) == UPDATING) {
          out.append("S\t" + number + "\t" + header.get(64) + "\n");
          return;
        } else {
          out.append(header.get(64) == 0 ? "C\t" + number + "\n" : "S\t" + number + "\t" + header.get(64) + "\n");
          try (FileChannel target =
              FileChannel.open(alone, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            for (long done = 0; done < size; ) {
              done += source.transferTo(offset + done, size - done, target);
            }
          }
          chunk(alone);
        }
        offset += size;
      }
    } finally {
      Files.delete(alone);
    }
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8");
    PrintStream buffered = new PrintStream(new java.io.BufferedOutputStream(out, 1 << 16), false, "UTF-8");
    new EveryEvent(buffered, arguments.length > 1 ? arguments[1] : null).file(Path.of(arguments[0]));
    buffered.flush();
  }
}
