package io.emberscope;

import java.util.Collections;
import java.util.TreeMap;
import jdk.jfr.Recording;

/** Works until its code is compiled, then starts Flight Recorder; with {@code -XX:+PrintCompilation} it tells what that cost. */
public final class LateStart {
    private static long work() {
        TreeMap<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < 20_000; i++) {
            counts.merge("key " + i * 31 % 997, i, Integer::sum);
        }
        return String.join(",", counts.keySet()).hashCode() + counts.values().stream().mapToLong(x -> x * 2L).sum();
    }

    public static void main(String[] arguments) throws Exception {
        long sum = 0;
        long end = System.nanoTime() + 3_000_000_000L;
        while (System.nanoTime() < end) {
            sum += work();
        }
        System.out.println("STARTS");
        System.out.flush();
        try (Recording recording = new Recording()) {
            recording.start();
            System.out.println("STARTED");
        }
        System.out.write(Json.bytes(Collections.singletonMap("sum", sum)));
        System.out.flush();
    }
}
