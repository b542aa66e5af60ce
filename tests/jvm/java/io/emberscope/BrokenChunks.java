package io.emberscope;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.Random;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;

/** Filters a real chunk that was cut or changed at random: it is passed or refused, and never anything else. */
public final class BrokenChunks {
    public static void main(String[] arguments) throws Exception {
        byte[] chunk = Files.readAllBytes(Paths.get(arguments[0]));
        EventType order = new EventTypes().string();
        int passed = 0;
        int refused = 0;
        Random random = new Random(7);
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            byte[] broken = chunk.clone();
            for (int flips = 1 + random.nextInt(20); flips > 0; flips--) {
                broken[random.nextInt(broken.length)] = (byte) random.nextInt(256);
            }
            int length = random.nextBoolean() ? broken.length : random.nextInt(broken.length);
            broken = Arrays.copyOf(broken, length);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            long strings = order.getField("customer").getTypeId();
            ChunkFilter filter = new ChunkFilter(Collections.singleton((long) random.nextInt(300)), 2000, strings, text -> false);
            try {
                Chunks chunks = new Chunks(new ByteArrayInputStream(broken));
                Chunks.Header header = chunks.next();
                if (header == null) {
                    refused++;
                    continue;
                }
                filter.copy(chunks.body(), header.bodyBytes(), out);
                if (out.size() != header.bodyBytes()) {
                    throw new AssertionError("passed " + out.size() + " of " + header.bodyBytes() + " bytes");
                }
                passed++;
            } catch (ChunkFilter.NotAChunk said) {
                refused++;
            }
        }
        System.out.println("{\"passed\": " + passed + ", \"refused\": " + refused + "}");
    }

    private static final class EventTypes {
        EventType string() {
            FlightRecorder.register(BesideAnotherRecording.Order.class);
            return EventType.getEventType(BesideAnotherRecording.Order.class);
        }
    }
}
