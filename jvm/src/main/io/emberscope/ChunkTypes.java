package io.emberscope;

import io.emberscope.ChunkFilter.NotAChunk;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The types that one chunk describes in its own metadata event: whoever did not register them knows them only from there. */
final class ChunkTypes {
    /** A field of a type: enough to step over its value. */
    static final class Field {
        final String name;
        final long type;
        final boolean pooled;
        /** Whether one zero is a value of it. */
        boolean isShort;

        Field(String name, long type, boolean pooled) {
            this.name = name;
            this.type = type;
            this.pooled = pooled;
        }
    }

    /** A described type; {@code named} is the place of its name in the strings. */
    static final class Type {
        final long id;
        final String name;
        final int named;
        final boolean isEvent;
        final List<Field> fields = new ArrayList<>();

        Type(long id, String name, int named, boolean isEvent) {
            this.id = id;
            this.name = name;
            this.named = named;
            this.isEvent = isEvent;
        }

        /** Whether an event of it, start time first, can be read where so many zeros follow that time. */
        boolean canBeEmptyIn(int zeros) {
            boolean timed = !fields.isEmpty() && fields.get(0).name.equals("startTime");
            return isEvent && timed && fields.size() - 1 <= zeros && fields.stream().allMatch(field -> field.isShort);
        }
    }

    private static final int MOST_STRINGS = 1 << 20;
    private static final int DEEPEST = 64;

    final Map<String, Type> byName = new HashMap<>();
    private final byte[] body;
    private final String[] strings;
    /** Where the bytes of each string begin, its head of encoding and length before them, and where they end. */
    private final int[] heads;

    private final int[] ends;
    /** {@code body}: the metadata event after its size and type. */
    ChunkTypes(byte[] body) throws NotAChunk {
        this.body = body;
        ChunkCursor at = new ChunkCursor(body);
        at.varint(); // start
        at.varint(); // duration
        at.varint(); // id of the metadata
        long count = at.varint();
        if (count < 0 || count > Math.min(MOST_STRINGS, body.length)) {
            throw new NotAChunk("metadata of " + count + " strings");
        }
        strings = new String[(int) count];
        heads = new int[strings.length];
        ends = new int[strings.length];
        for (int i = 0; i < strings.length; i++) {
            heads[i] = at.position;
            strings[i] = text(at);
            ends[i] = at.position;
        }
        element(at, null, 0);
        List<Long> ofOneZero = new ArrayList<>();
        for (String name : new String[] {"boolean", "byte", "char", "short", "int", "long", "java.lang.String"}) {
            ofOneZero.add(idOf(name));
        }
        byName.values().forEach(
                type -> type.fields.forEach(field -> field.isShort = field.pooled || ofOneZero.contains(field.type)));
    }

    private void element(ChunkCursor at, Type owner, int depth) throws NotAChunk {
        if (depth > DEEPEST) {
            throw new NotAChunk("metadata that is too deep");
        }
        String kind = string(at.varint());
        Map<String, Integer> attributes = new HashMap<>();
        long count = at.varint();
        for (long i = 0; i < count; i++) {
            String key = string(at.varint());
            long value = at.varint();
            string(value);
            attributes.put(key, (int) value);
        }
        Type type = owner;
        if (kind.equals("class")) {
            String parent = attributes.containsKey("superType") ? string(attributes.get("superType")) : "";
            int named = attribute(attributes, "name");
            type = new Type(number(attributes, "id"), string(named), named, parent.equals("jdk.jfr.Event"));
            byName.put(type.name, type);
        } else if (kind.equals("field") && owner != null) {
            boolean pooled = attributes.containsKey("constantPool") && string(attributes.get("constantPool")).equals("true");
            owner.fields.add(new Field(string(attribute(attributes, "name")), number(attributes, "class"), pooled));
        }
        long children = at.varint();
        for (long i = 0; i < children; i++) {
            element(at, type, depth + 1);
        }
    }

    private static int attribute(Map<String, Integer> attributes, String name) throws NotAChunk {
        Integer found = attributes.get(name);
        if (found == null) {
            throw new NotAChunk("a description without its " + name);
        }
        return found;
    }

    private long number(Map<String, Integer> attributes, String name) throws NotAChunk {
        try {
            return Long.parseLong(string(attribute(attributes, name)));
        } catch (NumberFormatException other) {
            throw new NotAChunk("a description whose " + name + " is no number");
        }
    }

    private String string(long index) throws NotAChunk {
        if (index < 0 || index >= strings.length || strings[(int) index] == null) {
            throw new NotAChunk("metadata that names a string that is not there");
        }
        return strings[(int) index];
    }

    long idOf(String name) {
        Type type = byName.get(name);
        return type == null ? -1 : type.id;
    }

    /**
     * Gives a type another name, in place: the metadata keeps its length, what is over stays as zeros at its end. False
     * where the new name is longer.
     */
    boolean rename(Type type, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int head = heads[type.named];
        int end = ends[type.named];
        if (bytes.length > 127 || head + 2 + bytes.length > end) {
            return false;
        }
        body[head] = 3;
        body[head + 1] = (byte) bytes.length;
        System.arraycopy(bytes, 0, body, head + 2, bytes.length);
        int from = head + 2 + bytes.length;
        System.arraycopy(body, end, body, from, body.length - end);
        Arrays.fill(body, body.length - (end - from), body.length, (byte) 0);
        return true;
    }

    /** The texts of an event of this type by the names of their fields; {@code event}: what follows its size and type. */
    Map<String, String> texts(String type, byte[] event) throws NotAChunk {
        ChunkCursor at = new ChunkCursor(event);
        long string = idOf("java.lang.String");
        Map<String, String> out = new HashMap<>();
        for (Field field : byName.get(type).fields) {
            if (field.type == string && !field.pooled) {
                out.put(field.name, text(at));
            } else {
                at.varint();
            }
        }
        return out;
    }

    private static String text(ChunkCursor at) throws NotAChunk {
        int encoding = at.octet();
        if (encoding == 0) {
            return null;
        }
        if (encoding == 1) {
            return "";
        }
        if (encoding < 3 || encoding > 5) {
            throw new NotAChunk("a string of encoding " + encoding);
        }
        long length = at.varint();
        return encoding == 4 ? at.characters(length) : at.text(length, encoding == 3 ? "UTF-8" : "ISO-8859-1");
    }
}
