package io.emberscope;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The stacks of one chunk, each distinct one once: a prefix tree over distinct frames, from the root of a stack to its
 * leaf, so that what stacks share is kept once. A stack is the number of its leaf's node; it is its key in the file.
 */
final class FlightStacks {
    private static final int WHOLE = 0;
    private static final int CUT = 1;
    private static final int JAVA = 1;
    private static final int NATIVE = 2;

    /** What a frame takes in the file, at most, with less than two million methods. */
    private static final int FRAME_BYTES = 8;

    private final Numbers nodes = new Numbers();
    private final Numbers frames = new Numbers();
    private final Numbers methods = new Numbers();
    private final Map<String, Integer> classes = new LinkedHashMap<>();
    private final Map<String, Integer> names = new LinkedHashMap<>();
    private int[] depths = new int[1 << 10];
    private boolean[] isStack = new boolean[1 << 10];
    private long textBytes;
    private long traceBytes;

    FlightStacks() {
        nodes.number(-1, WHOLE);
        nodes.number(-1, CUT);
    }

    /** The key of a stack, leaf first as Java gives it; {@code cut} where its root side is missing. */
    int stack(StackTraceElement[] stack, boolean cut) {
        int node = cut ? CUT : WHOLE;
        for (int i = stack.length - 1; i >= 0; i--) {
            int parent = node;
            node = nodes.number(parent, frame(stack[i]));
            if (node >= depths.length) {
                depths = Arrays.copyOf(depths, 2 * node);
                isStack = Arrays.copyOf(isStack, 2 * node);
            }
            depths[node] = depths[parent] + 1;
        }
        if (node > CUT && !isStack[node]) {
            isStack[node] = true;
            traceBytes += 8 + (long) FRAME_BYTES * depths[node];
        }
        return node > CUT ? node : 0;
    }

    /** Memory that this holds, and what it will take when it is written, both rather too much than too little. */
    long bytes() {
        return nodes.bytes() + frames.bytes() + methods.bytes() + 5L * depths.length + textBytes + traceBytes;
    }

    private int frame(StackTraceElement frame) {
        int method = methods.number(text(classes, frame.getClassName()), text(names, frame.getMethodName()));
        return frames.number(method, frame.isNativeMethod() ? -1 : Math.max(0, frame.getLineNumber()));
    }

    private int text(Map<String, Integer> numbers, String text) {
        Integer known = numbers.get(text);
        if (known == null) {
            known = numbers.size();
            numbers.put(text, known);
            textBytes += 100 + 2L * text.length();
        }
        return known;
    }

    /** How many pools {@link #write} writes. */
    int pools() {
        return methods.size == 0 ? 0 : 5;
    }

    /** Adds the pools of traces, methods, classes, symbols and frame types; none where there is no stack. */
    void write(FlightBytes out) {
        if (methods.size == 0) {
            return;
        }
        traces(out);
        // Keys are numbers from 1; symbols are the classes, the methods' names, and last the unknown descriptor.
        int descriptor = classes.size() + names.size() + 1;
        out.number(FlightTypes.METHOD).number(methods.size);
        for (int i = 0; i < methods.size; i++) {
            out.number(i + 1).number(methods.first(i) + 1).number(classes.size() + methods.second(i) + 1);
            out.number(descriptor).number(0).octet(0);
        }
        out.number(FlightTypes.CLASS).number(classes.size());
        for (int i = 1; i <= classes.size(); i++) {
            out.number(i).number(0).number(i).number(0).number(0);
        }
        out.number(FlightTypes.SYMBOL).number(descriptor);
        int key = 0;
        for (String name : classes.keySet()) {
            out.number(++key).text(symbol(name));
        }
        for (String name : names.keySet()) {
            out.number(++key).text(name);
        }
        out.number(descriptor).text("()");
        out.number(FlightTypes.FRAME_TYPE).number(2).number(JAVA).text("Java").number(NATIVE).text("Native");
    }

    private void traces(FlightBytes out) {
        int count = 0;
        for (int node = 0; node < nodes.size; node++) {
            count += isStack[node] ? 1 : 0;
        }
        out.number(FlightTypes.STACK_TRACE).number(count);
        for (int node = 0; node < nodes.size; node++) {
            if (isStack[node]) {
                trace(node, out);
            }
        }
    }

    private void trace(int leaf, FlightBytes out) {
        int root = leaf;
        while (root > CUT) {
            root = nodes.first(root);
        }
        out.number(leaf).octet(root == CUT ? 1 : 0).number(depths[leaf]);
        for (int node = leaf; node > CUT; node = nodes.first(node)) {
            int frame = nodes.second(node);
            int line = frames.second(frame);
            out.number(frames.first(frame) + 1).number(Math.max(0, line)).number(0).number(line < 0 ? NATIVE : JAVA);
        }
    }

    /** A class as JFR spells it: with slashes, and a plus before the address of a hidden one. */
    static String symbol(String name) {
        int address = name.lastIndexOf('/');
        String plain = address < 0 ? name : name.substring(0, address) + '+' + name.substring(address + 1);
        return plain.replace('.', '/');
    }

    /** Numbers distinct pairs of integers from 0 on: a hash table with open addressing. */
    private static final class Numbers {
        private long[] pairs = new long[1 << 9];
        private int[] slots = new int[1 << 10];
        int size;

        int number(int first, int second) {
            long pair = (long) first << 32 | second & 0xffff_ffffL;
            int slot = slot(pair);
            while (slots[slot] != 0) {
                int known = slots[slot] - 1;
                if (pairs[known] == pair) {
                    return known;
                }
                slot = slot + 1 & slots.length - 1;
            }
            if (size == pairs.length) {
                grow();
                slot = slot(pair);
                while (slots[slot] != 0) {
                    slot = slot + 1 & slots.length - 1;
                }
            }
            pairs[size] = pair;
            slots[slot] = ++size;
            return size - 1;
        }

        int first(int number) {
            return (int) (pairs[number] >> 32);
        }

        int second(int number) {
            return (int) pairs[number];
        }

        long bytes() {
            return 8L * pairs.length + 4L * slots.length;
        }

        private void grow() {
            pairs = Arrays.copyOf(pairs, 2 * size);
            slots = new int[4 * size];
            for (int i = 0; i < size; i++) {
                int slot = slot(pairs[i]);
                while (slots[slot] != 0) {
                    slot = slot + 1 & slots.length - 1;
                }
                slots[slot] = i + 1;
            }
        }

        private int slot(long pair) {
            long mixed = pair * 0x9e3779b97f4a7c15L;
            return (int) (mixed >>> 40) & slots.length - 1;
        }
    }
}
