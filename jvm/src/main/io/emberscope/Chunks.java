package io.emberscope;

import java.io.IOException;
import java.io.InputStream;

/** Splits a stream of JFR chunks, back to back, by their headers. */
final class Chunks {
    static final int HEADER_BYTES = 68;

    /** One chunk's header, as far as shipping needs it; big-endian fields at fixed places in all JFR 1 and 2 files. */
    static final class Header {
        final byte[] bytes;
        final long size;
        final long startNanos;
        final long durationNanos;

        Header(byte[] bytes) throws ChunkFilter.NotAChunk {
            this.bytes = bytes;
            if (bytes[0] != 'F' || bytes[1] != 'L' || bytes[2] != 'R' || bytes[3] != 0) {
                throw new ChunkFilter.NotAChunk("no chunk header");
            }
            size = number(8);
            startNanos = number(32);
            durationNanos = number(40);
            if (size < HEADER_BYTES) {
                throw new ChunkFilter.NotAChunk("a chunk of " + size + " bytes");
            }
        }

        private long number(int offset) {
            long value = 0;
            for (int i = offset; i < offset + 8; i++) {
                value = value << 8 | bytes[i] & 0xff;
            }
            return value;
        }

        /** Whether its JVM did not close it: it holds what was flushed last. */
        boolean isUnfinished() {
            return bytes[64] != 0;
        }

        /** Whether it was ever said what its events are. */
        boolean hasMetadata() {
            return number(24) >= HEADER_BYTES;
        }

        long bodyBytes() {
            return size - HEADER_BYTES;
        }
    }

    private final InputStream in;
    private long left;

    Chunks(InputStream in) {
        this.in = in;
    }

    /** Goes to the next chunk, past what was not read of this one. Null at the end. */
    Header next() throws IOException {
        ChunkFilter.skip(in, left, new byte[1 << 14]);
        left = 0;
        byte[] bytes = new byte[HEADER_BYTES];
        int filled = 0;
        while (filled < bytes.length) {
            int got = in.read(bytes, filled, bytes.length - filled);
            if (got < 0) {
                if (filled == 0) {
                    return null;
                }
                throw new ChunkFilter.NotAChunk("a header that ends early");
            }
            filled += got;
        }
        Header header = new Header(bytes);
        left = header.bodyBytes();
        return header;
    }

    /** The rest of the current chunk. */
    InputStream body() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                if (left == 0) {
                    return -1;
                }
                int octet = in.read();
                left -= octet < 0 ? 0 : 1;
                return octet;
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                if (left == 0) {
                    return -1;
                }
                int got = in.read(target, offset, (int) Math.min(length, left));
                left -= Math.max(got, 0);
                return got;
            }
        };
    }
}
