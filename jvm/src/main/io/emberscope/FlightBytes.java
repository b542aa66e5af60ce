package io.emberscope;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing array of bytes, with the integers and texts of JFR files. Adding returns this. */
final class FlightBytes {
    private static final int UTF_8 = 3;

    private byte[] bytes;
    private int size;

    FlightBytes(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    /** Leaves the first {@code length} bytes. */
    void cut(int length) {
        size = length;
    }

    byte[] toArray() {
        return Arrays.copyOf(bytes, size);
    }

    FlightBytes octet(int value) {
        room(1);
        bytes[size++] = (byte) value;
        return this;
    }

    /** Seven bits a byte, low ones first; the ninth byte is whole. */
    FlightBytes number(long value) {
        room(9);
        long rest = value;
        for (int i = 0; i < 8 && (rest & ~0x7fL) != 0; i++) {
            bytes[size++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
        return this;
    }

    /** A field of type int: a negative one takes five bytes, not nine. */
    FlightBytes number(int value) {
        return number(value & 0xffff_ffffL);
    }

    /** Big-endian, as in the header. */
    FlightBytes fixed(long value, int width) {
        room(width);
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes[size++] = (byte) (value >>> shift);
        }
        return this;
    }

    FlightBytes text(String text) {
        if (text == null) {
            return octet(0);
        }
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        octet(UTF_8).number(encoded.length);
        return raw(encoded, encoded.length);
    }

    /** An event: its size, which counts itself, and then {@code body}, which begins with the type. */
    FlightBytes event(FlightBytes body) {
        int width = 1;
        while (body.size + width >= 1 << (7 * width)) {
            width++;
        }
        room(9 + body.size); // Where there is no memory, nothing is written, not half of it.
        number(body.size + width);
        return raw(body.bytes, body.size);
    }

    /** Begins an event of unknown size: there is room for four bytes of it, as the JVM has. Gives its place. */
    int begin() {
        int place = size;
        fixed(0, 4);
        return place;
    }

    /** Ends the event that was begun at {@code place}. */
    void end(int place) {
        int length = size - place;
        for (int i = 0; i < 4; i++) {
            bytes[place + i] = (byte) (length >>> (7 * i) & 0x7f | (i < 3 ? 0x80 : 0));
        }
    }

    FlightBytes all(FlightBytes other) {
        return raw(other.bytes, other.size);
    }

    /** Puts bytes in the place of those at the beginning. */
    void replaceStart(FlightBytes start) {
        System.arraycopy(start.bytes, 0, bytes, 0, start.size);
    }

    private FlightBytes raw(byte[] source, int length) {
        room(length);
        System.arraycopy(source, 0, bytes, size, length);
        size += length;
        return this;
    }

    private void room(int wanted) {
        if (bytes.length - size < wanted) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length + (bytes.length >> 1), size + wanted));
        }
    }
}
