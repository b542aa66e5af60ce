package io.emberscope;

import io.emberscope.ChunkFilter.NotAChunk;
import java.io.ByteArrayOutputStream;

/** Reads integers and strings of JFR from an array, with every step checked. */
final class ChunkCursor {
    private final byte[] bytes;
    int position;

    ChunkCursor(byte[] bytes) {
        this.bytes = bytes;
    }

    int octet() throws NotAChunk {
        if (position >= bytes.length) {
            throw new NotAChunk("strings that end early");
        }
        return bytes[position++] & 0xff;
    }

    long varint() throws NotAChunk {
        long value = 0;
        for (int i = 0; i < 9; i++) {
            int octet = octet();
            value |= (long) (i == 8 ? octet : octet & 0x7f) << (7 * i);
            if (octet < 0x80) {
                break;
            }
        }
        return value;
    }

    String characters(long count) throws NotAChunk {
        StringBuilder out = new StringBuilder();
        for (long i = 0; i < count; i++) {
            out.append((char) varint());
        }
        return out.toString();
    }

    String text(long length, String charset) throws NotAChunk {
        if (length < 0 || length > bytes.length - position) {
            throw new NotAChunk("a string that is longer than what holds it");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream((int) length);
        out.write(bytes, position, (int) length);
        position += (int) length;
        try {
            return out.toString(charset);
        } catch (java.io.UnsupportedEncodingException impossible) {
            throw new NotAChunk(charset);
        }
    }
}
