package io.emberscope;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;

/**
 * The closed chunks in the files that async-profiler writes, found by their headers. A file is gone with the last of its
 * chunks that is still wanted.
 */
final class AsyncChunks implements Closeable {
    /** What stands for the size of a chunk that is still written to. */
    private static final long UNFINISHED = 1 << 30;

    /** A file and the closed chunks of it that may still be wanted. */
    private static final class Growing {
        final RandomAccessFile file;
        final Path name;
        final List<long[]> chunks = new ArrayList<>(); // {offset, size, end of its time in epoch ns}
        long position;

        Growing(RandomAccessFile file, Path name) {
            this.file = file;
            this.name = name;
        }

        void remove() throws IOException {
            file.close();
            if (name != null) {
                Files.deleteIfExists(name);
            }
        }
    }

    private final Deque<Growing> files = new ArrayDeque<>();

    /** From now on chunks are written to this file. Where it keeps its name, that goes with the last chunk. */
    void open(Path file, boolean keepsName) throws IOException {
        files.add(new Growing(new RandomAccessFile(file.toFile(), "r"), keepsName ? file : null));
    }

    /** Length of the file that is written to. */
    long length() throws IOException {
        return files.isEmpty() ? 0 : files.getLast().file.length();
    }

    /** Finds the chunks that were closed since the last time, and gives their number. */
    int collect() throws IOException {
        if (files.isEmpty()) {
            return 0;
        }
        int found = 0;
        Growing now = files.getLast();
        FileChannel channel = now.file.getChannel();
        long length = channel.size();
        while (now.position + Chunks.HEADER_BYTES <= length) {
            ByteBuffer header = ByteBuffer.allocate(Chunks.HEADER_BYTES);
            while (header.hasRemaining() && channel.read(header, now.position + header.position()) > 0) {
                // until it is whole
            }
            long size = header.getLong(8);
            boolean isChunk = header.getInt(0) == ('F' << 24 | 'L' << 16 | 'R' << 8);
            if (!isChunk || size < Chunks.HEADER_BYTES || size == UNFINISHED || size > length - now.position) {
                break;
            }
            now.chunks.add(new long[] {now.position, size, header.getLong(32) + header.getLong(40)});
            now.position += size;
            found++;
        }
        return found;
    }

    /** Lets go of chunks that end at or before a time, and of files that nothing is wanted from any more. */
    void forget(long untilNanos) throws IOException {
        for (Growing each : files) {
            each.chunks.removeIf(chunk -> chunk[2] <= untilNanos);
        }
        while (files.size() > 1 && files.getFirst().chunks.isEmpty()) {
            files.removeFirst().remove();
        }
    }

    /** Lets go of the oldest files (the newest has just been closed) until all take no more than {@code most} bytes. */
    void finish(long most) throws IOException {
        collect();
        long all = 0;
        for (Growing each : files) {
            all += each.file.length();
        }
        while (files.size() > 1 && all > most) {
            all -= files.getFirst().file.length();
            files.removeFirst().remove();
        }
    }

    /** All chunks that reach beyond a time, back to back; null where there are none. */
    InputStream after(long nanos) {
        List<InputStream> parts = new ArrayList<>();
        for (Growing each : files) {
            for (long[] chunk : each.chunks) {
                if (chunk[2] > nanos) {
                    parts.add(new Part(each.file.getChannel(), chunk[0], chunk[1]));
                }
            }
        }
        return parts.isEmpty() ? null : new SequenceInputStream(Collections.enumeration(parts));
    }

    /** Files that have a name keep it. */
    @Override
    public void close() throws IOException {
        for (Growing each : files) {
            each.file.close();
        }
        files.clear();
    }

    /** A stretch of a file that others read too. */
    private static final class Part extends InputStream {
        private final FileChannel channel;
        private long position;
        private long left;

        Part(FileChannel channel, long position, long length) {
            this.channel = channel;
            this.position = position;
            this.left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int got = channel.read(ByteBuffer.wrap(target, offset, (int) Math.min(length, left)), position);
            position += Math.max(got, 0);
            left -= Math.max(got, 0);
            return got;
        }
    }
}
