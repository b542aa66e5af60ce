package io.emberscope;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Ships made chunks through a store that fails when told to, and prints the names and contents that it has then. */
public final class FailingStore {
    static boolean failing;
    static final Map<String, byte[]> FILES = new TreeMap<>();

    /** Keeps the newest three chunks, of a second each. */
    static final class Made extends IdleEngine {
        final List<byte[]> chunks = new ArrayList<>();
        int count;

        static byte[] chunk(int number, int events) {
            int size = 68 + 4 * events;
            ByteBuffer out = ByteBuffer.allocate(size);
            out.put(new byte[] {'F', 'L', 'R', 0}).putShort((short) 2).putShort((short) 1).putLong(size).putLong(0).putLong(0);
            out.putLong(number * 1_000_000_000L).putLong(1_000_000_000L);
            out.position(68);
            for (int i = 0; i < events; i++) {
                // One that is allowed: size 4, type 9, two bytes.
                out.put(new byte[] {4, 9, 1, 2});
            }
            return out.array();
        }

        @Override
        public InputStream closed(long afterNanos) {
            count++;
            chunks.add(chunk(count, 1));
            if (chunks.size() > 3) {
                chunks.remove(0);
            }
            return tail(0);
        }

        @Override
        public InputStream tail(long waitMs) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (byte[] chunk : chunks) {
                out.write(chunk, 0, chunk.length);
            }
            return new ByteArrayInputStream(out.toByteArray());
        }

        @Override
        public ChunkFilter filter() {
            return new ChunkFilter(Collections.singleton(9L), 10, 11, text -> false);
        }

        @Override
        public String name() {
            return "made";
        }
    }

    static final class Memory extends RunStore {
        @Override
        OutputStream create(String path) {
            return new ByteArrayOutputStream() {
                @Override
                public void close() throws IOException {
                    if (failing) {
                        throw new IOException("No space left on device");
                    }
                    FILES.put(path, toByteArray());
                }
            };
        }

        @Override
        void rename(String from, String to) {
            FILES.put(to, FILES.remove(from));
        }

        @Override
        void delete(String path) {
            FILES.remove(path);
        }

        @Override
        public void close() {}
    }

    /**
     * Each argument is a round: ok, fail, cut, where a header that ends early follows what is whole, back, where time
     * stood still for a chunk, or end, where the engine has ended by itself and left nothing more.
     */
    public static void main(String[] arguments) throws Exception {
        Made engine = new Made();
        Problems problems = new Problems("executor", "1");
        ChunkShipper shipper = new ChunkShipper(new ChunkShipper.Process("executor", "1", "here"), engine, problems);
        RunAddress address = new RunAddress("file:///nowhere", "default", "app-1", "1");
        for (String round : arguments) {
            failing = round.equals("fail");
            try {
                if (round.equals("end")) {
                    shipper.ship(engine.tail(0), new Memory(), address, 0);
                    shipper.sayLast(new Memory());
                    continue;
                }
                if (round.equals("back")) {
                    engine.chunks.add(Made.chunk(engine.count, 2));
                }
                InputStream closed = engine.closed(shipper.afterNanos());
                if (round.equals("cut")) {
                    closed = new SequenceInputStream(closed, new ByteArrayInputStream(new byte[] {'F', 'L', 'R', 0, 0, 2}));
                }
                shipper.ship(closed, new Memory(), address, ChunkShipper.NO_END);
            } catch (IOException failed) {
                problems.add("ship", failed);
            }
        }
        Map<String, Object> out = new LinkedHashMap<>();
        for (Map.Entry<String, byte[]> file : FILES.entrySet()) {
            out.put(file.getKey(), file.getKey().endsWith(".json") ? new String(file.getValue(), "UTF-8") : "");
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("files", out);
        document.put("problems", problems.documents());
        System.out.write(Json.bytes(document));
        System.out.flush();
    }
}
