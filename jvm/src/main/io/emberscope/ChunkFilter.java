package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Copies one JFR chunk and keeps back what is not ours.
 *
 * <p>All recordings of a JVM share its chunks. Where the user records too, a chunk also holds what the user's settings
 * ask for: environment variables, system properties, command lines, events of the application. Only the event types
 * that we asked for may leave. Any other event is overwritten in place, so that every offset in the chunk stays right:
 * it keeps its size and start time, becomes an {@code emberscope.Withheld} and is filled with zeros, which read as null
 * or 0 in every field. Strings in the chunk's string pool are overwritten too unless our task spans wrote them.
 *
 * <p>A chunk that another engine wrote has types of its own: there the names of types decide, and which type has which
 * name is read from the chunk's metadata, which must be its first event. One of the types that may not leave is renamed
 * to {@code emberscope.Withheld} and lends its number to all of them.
 */
final class ChunkFilter {
    /** The bytes are not a chunk as we know it; nothing of it may be shipped. */
    static final class NotAChunk extends IOException {
        private static final long serialVersionUID = 1;

        NotAChunk(String message) {
            super(message);
        }
    }

    private static final int METADATA = 0;
    private static final int CHECKPOINT = 1;
    /** A withheld event has at most so many fields of one byte after its start time. */
    private static final int FEWEST_ZEROS = 3;

    private static final int LARGEST_IN_MEMORY = 16 << 20;

    private static final String WITHHELD = "emberscope.Withheld";
    private static final String SETTING = "jdk.ActiveSetting";

    final Set<Long> allowed;
    private final Predicate<String> allowedNames;
    long withheldType;
    private long settingType = -1;
    private ChunkTypes types;
    private final Map<String, String> settings = new HashMap<>();
    final long stringType;
    private final Predicate<String> ourString;
    private final Map<Long, Long> counts = new HashMap<>();

    /** {@code withheldType} is the type id of an event with at most three one-byte fields after its start time. */
    ChunkFilter(Set<Long> allowed, long withheldType, long stringType, Predicate<String> ourString) {
        this.allowed = allowed;
        this.allowedNames = null;
        this.withheldType = withheldType;
        this.stringType = stringType;
        this.ourString = ourString;
    }

    /** For chunks that describe types of their own: those of these names may leave, and string pools as they are. */
    ChunkFilter(Predicate<String> allowedNames) {
        this.allowed = new HashSet<>();
        this.allowedNames = allowedNames;
        this.withheldType = -1;
        this.stringType = -1;
        this.ourString = text -> true;
    }

    /** Copies the events that follow the header; {@code in} ends where the chunk ends. Returns how many were kept back. */
    long copy(InputStream in, long length, OutputStream out) throws IOException {
        long withheld = 0;
        long left = length;
        byte[] buffer = new byte[1 << 16];
        Varint size = new Varint();
        Varint type = new Varint();
        types = null;
        while (left > 0) {
            size.read(in);
            long body = size.value - size.length;
            if (body < 1 || body > left - size.length) {
                throw new NotAChunk("an event of " + size.value + " bytes where " + left + " are left");
            }
            left -= size.value;
            type.read(in);
            body -= type.length;
            if (body < 0) {
                throw new NotAChunk("an event that is shorter than its type");
            }
            counts.merge(type.value, 1L, Long::sum);
            if (allowedNames != null && (type.value == METADATA || types == null || type.value == settingType)) {
                size.write(out);
                type.write(out);
                out.write(described(type.value, whole(in, body)));
            } else if (type.value == METADATA || allowed.contains(type.value)) {
                size.write(out);
                type.write(out);
                pass(in, body, out, buffer);
            } else if (type.value == CHECKPOINT) {
                size.write(out);
                type.write(out);
                checkpoint(in, body, out, buffer);
            } else {
                size.write(out);
                withhold(in, type, body, out, buffer);
                withheld++;
            }
        }
        return withheld;
    }

    /** Whether any chunk has gone through it. */
    boolean sawAny() {
        return !counts.isEmpty();
    }

    /** Whether an event of this type came by. */
    boolean saw(long type) {
        return count(type) > 0;
    }

    /** How many events of this type came by. */
    long count(long type) {
        return counts.getOrDefault(type, 0L);
    }

    /** How many events of the type of this name came by, where names decide. */
    long count(String name) {
        return types == null ? 0 : count(types.idOf(name));
    }

    private static byte[] whole(InputStream in, long body) throws IOException {
        if (body > LARGEST_IN_MEMORY) {
            throw new NotAChunk("an event of " + body + " bytes");
        }
        byte[] bytes = new byte[(int) body];
        readFully(in, bytes);
        return bytes;
    }

    /** The metadata, from which it is learnt what may leave, or a setting of the recording, which is remembered. */
    private byte[] described(long type, byte[] body) throws NotAChunk {
        if (type != METADATA) {
            if (types == null) {
                throw new NotAChunk("it does not begin with its metadata");
            }
            Map<String, String> texts = types.texts(SETTING, body);
            settings.put(texts.get("name"), texts.get("value"));
            return body;
        }
        types = new ChunkTypes(body);
        allowed.clear();
        withheldType = -1;
        settingType = -1;
        for (ChunkTypes.Type each : types.byName.values()) {
            if (allowedNames.test(each.name)) {
                allowed.add(each.id);
                settingType = each.name.equals(SETTING) ? each.id : settingType;
            }
        }
        for (ChunkTypes.Type each : types.byName.values()) {
            if (!allowed.contains(each.id) && each.canBeEmptyIn(FEWEST_ZEROS) && types.rename(each, WITHHELD)) {
                withheldType = each.id;
                break;
            }
        }
        return body;
    }

    /** What recordings said of themselves in chunks that went by ({@code jdk.ActiveSetting}), where names decide. */
    Map<String, String> settings() {
        return Collections.unmodifiableMap(settings);
    }

    private void withhold(InputStream in, Varint type, long body, OutputStream out, byte[] buffer) throws IOException {
        Varint start = new Varint();
        start.read(in);
        long rest = body - start.length;
        if (rest < 0) {
            throw new NotAChunk("an event that is shorter than its start time");
        }
        Varint renamed = Varint.of(Math.max(withheldType, 0));
        long fill = type.length + rest - renamed.length;
        if (fill >= FEWEST_ZEROS && withheldType >= 0) {
            renamed.write(out);
        } else {
            type.write(out);
            fill = rest;
        }
        start.write(out);
        skip(in, rest, buffer);
        Arrays.fill(buffer, (byte) 0);
        while (fill > 0) {
            int step = (int) Math.min(fill, buffer.length);
            out.write(buffer, 0, step);
            fill -= step;
        }
    }

    /** Start, duration, distance to the checkpoint before, flags, number of pools; then pools of type, count, entries. */
    private void checkpoint(InputStream in, long body, OutputStream out, byte[] buffer) throws IOException {
        Varint field = new Varint();
        long left = body;
        long pools = 0;
        for (int i = 0; i < 6; i++) {
            if (i == 3) {
                int flags = in.read();
                out.write(flags);
                left--;
                continue;
            }
            field.read(in);
            field.write(out);
            left -= field.length;
            if (i == 4) {
                pools = field.value;
                if (pools == 0) {
                    break;
                }
            }
        }
        if (left < 0) {
            throw new NotAChunk("a checkpoint that is shorter than its head");
        }
        if (pools == 0 || field.value != stringType) {
            pass(in, left, out, buffer);
            return;
        }
        if (pools != 1 || left > LARGEST_IN_MEMORY) {
            throw new NotAChunk("a string pool of an unknown shape");
        }
        byte[] strings = new byte[(int) left];
        readFully(in, strings);
        hideStrings(strings);
        out.write(strings);
    }

    private void hideStrings(byte[] pool) throws NotAChunk {
        ChunkCursor at = new ChunkCursor(pool);
        long count = at.varint();
        for (long i = 0; i < count; i++) {
            at.varint(); // key
            int encoding = at.octet();
            if (encoding == 0 || encoding == 1) {
                continue;
            }
            if (encoding < 3 || encoding > 5) {
                throw new NotAChunk("a string of encoding " + encoding);
            }
            long length = at.varint();
            int from = at.position;
            String text = encoding == 4 ? at.characters(length) : at.text(length, encoding == 3 ? "UTF-8" : "ISO-8859-1");
            if (!ourString.test(text)) {
                hide(pool, from, at.position, encoding == 4);
            }
        }
    }

    /** Overwrites with asterisks; in a sequence of varints each keeps its length, padded with empty groups. */
    private static void hide(byte[] bytes, int from, int to, boolean varints) {
        boolean first = true;
        for (int i = from; i < to; i++) {
            boolean more = varints && bytes[i] < 0;
            bytes[i] = (byte) ((first ? '*' : 0) | (more ? 0x80 : 0));
            first = !more;
        }
    }

    private static void pass(InputStream in, long length, OutputStream out, byte[] buffer) throws IOException {
        long left = length;
        while (left > 0) {
            int got = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (got < 0) {
                throw new NotAChunk("it ends early");
            }
            out.write(buffer, 0, got);
            left -= got;
        }
    }

    static void skip(InputStream in, long length, byte[] buffer) throws IOException {
        long left = length;
        while (left > 0) {
            int got = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (got < 0) {
                throw new NotAChunk("it ends early");
            }
            left -= got;
        }
    }

    private static void readFully(InputStream in, byte[] target) throws IOException {
        int filled = 0;
        while (filled < target.length) {
            int got = in.read(target, filled, target.length - filled);
            if (got < 0) {
                throw new NotAChunk("it ends early");
            }
            filled += got;
        }
    }

    /** JFR's integer: seven bits a byte, low ones first, at most nine bytes, the ninth whole. Kept as it was written. */
    private static final class Varint {
        private final byte[] raw = new byte[9];
        int length;
        long value;

        static Varint of(long value) {
            Varint out = new Varint();
            out.value = value;
            long rest = value;
            do {
                out.raw[out.length++] = (byte) ((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
                rest >>>= 7;
            } while (rest != 0);
            return out;
        }

        void read(InputStream in) throws IOException {
            length = 0;
            value = 0;
            int octet;
            do {
                octet = in.read();
                if (octet < 0) {
                    throw new NotAChunk("it ends early");
                }
                value |= (long) (length == 8 ? octet : octet & 0x7f) << (7 * length);
                raw[length++] = (byte) octet;
            } while (octet >= 0x80 && length < 9);
        }

        void write(OutputStream out) throws IOException {
            out.write(raw, 0, length);
        }
    }
}
