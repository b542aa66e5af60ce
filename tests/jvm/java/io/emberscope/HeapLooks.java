package io.emberscope;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** Plays looks at heaps that grow and shrink, as slow as they can be, and prints what they took of the time. */
public final class HeapLooks {
    private static final long HOUR_NS = 3_600_000_000_000L;

    public static void main(String[] arguments) throws Exception {
        double most = 0;
        int looks = 0;
        long closest = Long.MAX_VALUE;
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            HeapSummary.Pace pace = new HeapSummary.Pace(60_000_000_000L);
            double nsPerByte = 0.02 + 1.98 * random.nextDouble();
            long now = 0;
            long spent = 0;
            long last = -1;
            while (now < 10 * HOUR_NS) {
                long used = (long) (Math.pow(random.nextDouble(), 3) * (32L << 30));
                long wait = pace.waitNs(now, used);
                if (wait > 0) {
                    now += Math.min(wait, 1_000_000_000);
                    continue;
                }
                closest = last < 0 ? closest : Math.min(closest, now - last);
                long took = (long) (nsPerByte * used);
                now += took;
                last = now;
                spent += took;
                pace.looked(now, took, used);
                most = Math.max(most, (double) spent / now);
                looks++;
            }
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("most", most);
        out.put("looks", looks);
        out.put("closest_ms", closest / 1_000_000);
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
