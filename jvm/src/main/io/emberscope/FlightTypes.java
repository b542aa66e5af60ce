package io.emberscope;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The types that {@link FlightFileWriter} writes, described as JFR describes them: a table of strings and a tree of elements
 * over it. Structs have the fields of the JDK's own, in its order, since some readers look at nothing but the order.
 */
final class FlightTypes {
    static final int BOOLEAN = 4;
    static final int INT = 10;
    static final int LONG = 11;
    static final int STRING = 20;
    static final int THREAD = 21;
    static final int CLASS = 22;
    static final int CLASS_LOADER = 23;
    static final int PACKAGE = 24;
    static final int SYMBOL = 25;
    static final int METHOD = 26;
    static final int FRAME_TYPE = 27;
    static final int STACK_FRAME = 28;
    static final int STACK_TRACE = 29;
    static final int THREAD_STATE = 30;
    private static final int LABEL = 40;
    private static final int CATEGORY = 41;
    private static final int TIMESTAMP = 42;
    private static final int TIMESPAN = 43;
    static final int WALL_SAMPLE = 101;
    static final int TASK_START = 102;
    static final int TASK_SPAN = 103;
    static final Set<Long> EVENTS = Collections.unmodifiableSet(
            new HashSet<>(Arrays.asList((long) WALL_SAMPLE, (long) TASK_START, (long) TASK_SPAN)));

    private static final class Element {
        final String name;
        final Map<String, String> attributes = new LinkedHashMap<>();
        final List<Element> children = new ArrayList<>();

        Element(String name, String... pairs) {
            this.name = name;
            for (int i = 0; i < pairs.length; i += 2) {
                attributes.put(pairs[i], pairs[i + 1]);
            }
        }

        Element with(Element child) {
            children.add(child);
            return this;
        }

        /** A field that holds its value, or of a struct one after the other. */
        Element field(String field, int type, String... pairs) {
            Element child = new Element("field", "name", field, "class", String.valueOf(type));
            for (int i = 0; i < pairs.length; i += 2) {
                child.attributes.put(pairs[i], pairs[i + 1]);
            }
            return with(child);
        }

        /** A field that holds a key of a pool. */
        Element key(String field, int type) {
            return field(field, type, "constantPool", "true");
        }

        /** A field that is a time or a span of time, as the annotation says. */
        Element time(String field, int annotation, String unit) {
            field(field, LONG);
            children.get(children.size() - 1)
                    .with(new Element("annotation", "class", String.valueOf(annotation), "value", unit));
            return this;
        }

        Element ticks(String field, int annotation) {
            return time(field, annotation, "TICKS");
        }
    }

    private static final FlightBytes DESCRIPTION = described();

    private FlightTypes() {}

    /** What follows the id of the metadata in its event: the same for all chunks, not to be changed. */
    static FlightBytes description() {
        return DESCRIPTION;
    }

    private static FlightBytes described() {
        Element types = new Element("metadata");
        for (String[] primitive : new String[][] {{"boolean", "" + BOOLEAN}, {"int", "" + INT}, {"long", "" + LONG}}) {
            types.with(new Element("class", "name", primitive[0], "id", primitive[1]));
        }
        type(types, STRING, "java.lang.String");
        structs(types);
        annotation(types, LABEL, "jdk.jfr.Label");
        annotation(types, CATEGORY, "jdk.jfr.Category", "dimension", "1");
        annotation(types, TIMESTAMP, "jdk.jfr.Timestamp");
        annotation(types, TIMESPAN, "jdk.jfr.Timespan");
        event(types, WALL_SAMPLE, "emberscope.WallSample", "Wall-clock sample")
                .ticks("startTime", TIMESTAMP)
                .key("sampledThread", THREAD)
                .key("stackTrace", STACK_TRACE)
                .key("state", THREAD_STATE)
                .field("samples", INT)
                .ticks("timeSpan", TIMESPAN)
                .field("taskId", LONG);
        task(types, TASK_START, "emberscope.TaskStart", "Task start").time("cpuStart", TIMESPAN, "NANOSECONDS");
        task(types, TASK_SPAN, "emberscope.TaskSpan", "Task")
                .field("outcome", STRING)
                .time("cpuStart", TIMESPAN, "NANOSECONDS")
                .time("cpuEnd", TIMESPAN, "NANOSECONDS");
        return written(new Element("root").with(types).with(new Element("region", "locale", "en", "gmtOffset", "0")));
    }

    private static void structs(Element types) {
        type(types, THREAD, "java.lang.Thread")
                .field("osName", STRING)
                .field("osThreadId", LONG)
                .field("javaName", STRING)
                .field("javaThreadId", LONG);
        type(types, CLASS, "java.lang.Class")
                .key("classLoader", CLASS_LOADER)
                .key("name", SYMBOL)
                .key("package", PACKAGE)
                .field("modifiers", INT);
        type(types, CLASS_LOADER, "jdk.types.ClassLoader").key("type", CLASS).key("name", SYMBOL);
        type(types, PACKAGE, "jdk.types.Package").key("name", SYMBOL);
        simple(types, SYMBOL, "jdk.types.Symbol").field("string", STRING);
        type(types, METHOD, "jdk.types.Method")
                .key("type", CLASS)
                .key("name", SYMBOL)
                .key("descriptor", SYMBOL)
                .field("modifiers", INT)
                .field("hidden", BOOLEAN);
        simple(types, FRAME_TYPE, "jdk.types.FrameType").field("description", STRING);
        type(types, STACK_FRAME, "jdk.types.StackFrame")
                .key("method", METHOD)
                .field("lineNumber", INT)
                .field("bytecodeIndex", INT)
                .key("type", FRAME_TYPE);
        type(types, STACK_TRACE, "jdk.types.StackTrace")
                .field("truncated", BOOLEAN)
                .field("frames", STACK_FRAME, "dimension", "1");
        simple(types, THREAD_STATE, "jdk.types.ThreadState").field("name", STRING);
    }

    private static Element type(Element types, int id, String name, String... pairs) {
        Element type = new Element("class", "name", name, "id", String.valueOf(id));
        for (int i = 0; i < pairs.length; i += 2) {
            type.attributes.put(pairs[i], pairs[i + 1]);
        }
        types.with(type);
        return type;
    }

    /** A type that stands for its one field. */
    private static Element simple(Element types, int id, String name) {
        return type(types, id, name, "simpleType", "true");
    }

    /** {@code pairs}: attributes of its value. */
    private static void annotation(Element types, int id, String name, String... pairs) {
        type(types, id, name, "superType", "java.lang.annotation.Annotation").field("value", STRING, pairs);
    }

    private static Element event(Element types, int id, String name, String label) {
        return type(types, id, name, "superType", "jdk.jfr.Event")
                .with(new Element("annotation", "class", String.valueOf(LABEL), "value", label))
                .with(new Element("annotation", "class", String.valueOf(CATEGORY), "value-0", "Emberscope"));
    }

    /** As {@code TaskEvents} has them, and Flight Recorder writes them. */
    private static Element task(Element types, int id, String name, String label) {
        return event(types, id, name, label)
                .ticks("startTime", TIMESTAMP)
                .ticks("duration", TIMESPAN)
                .key("eventThread", THREAD)
                .field("stageId", INT)
                .field("stageAttempt", INT)
                .field("taskId", LONG)
                .field("attempt", INT)
                .field("partition", INT)
                .field("sqlExecutionId", LONG)
                .field("jobGroup", STRING)
                .field("description", STRING)
                .field("threadId", LONG);
    }

    private static FlightBytes written(Element root) {
        Map<String, Integer> strings = new LinkedHashMap<>();
        FlightBytes tree = new FlightBytes(1 << 12);
        write(root, strings, tree);
        FlightBytes out = new FlightBytes(1 << 12).number(strings.size());
        strings.keySet().forEach(out::text);
        return out.all(tree);
    }

    private static void write(Element element, Map<String, Integer> strings, FlightBytes out) {
        out.number(place(strings, element.name)).number(element.attributes.size());
        element.attributes.forEach((name, value) -> out.number(place(strings, name)).number(place(strings, value)));
        out.number(element.children.size());
        element.children.forEach(child -> write(child, strings, out));
    }

    private static int place(Map<String, Integer> strings, String text) {
        Integer known = strings.putIfAbsent(text, strings.size());
        return known == null ? strings.size() - 1 : known;
    }
}
