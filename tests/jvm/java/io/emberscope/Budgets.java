package io.emberscope;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** What governor and byte budget make of made figures; prints what the first argument asks for. */
public final class Budgets {
    private static final long SECOND = 1_000_000_000L;

    public static void main(String[] arguments) throws Exception {
        String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
        Object said = arguments[0].equals("cpu") ? cpu(rest) : arguments[0].equals("bytes") ? bytes(rest) : arguments[0].equals("law") ? law(rest) : ownCpu();
        System.out.write(Json.bytes(Collections.singletonMap("said", said)));
        System.out.flush();
    }

    /**
     * Budget of CPU, then per window of 10 s: CPU of the process in ms, of sending, and of sampling at the rate asked
     * for, which falls with the rate, or with "!" does not. Gives the steps that hold after each window.
     */
    private static List<Integer> cpu(String[] arguments) {
        ByteBudget bytes = new ByteBudget(ByteBudget.NO_LIMIT, ByteBudget.NO_LIMIT);
        Governor governor = new Governor(Double.parseDouble(arguments[0]), bytes, new Problems("executor", "1"));
        long own = 0;
        long samplers = 0;
        long process = 0;
        governor.look(new Governor.Used(0, own, samplers, process));
        List<Integer> out = new ArrayList<>();
        for (int i = 1; i < arguments.length; i++) {
            String[] window = arguments[i].split(",");
            process += Long.parseLong(window[0]) * 1_000_000;
            boolean goesOn = window[2].endsWith("!");
            long sampling = (Long.parseLong(window[2].replace("!", "")) * 1_000_000) >> (goesOn ? 0 : governor.steps());
            samplers += sampling;
            own += Long.parseLong(window[1]) * 1_000_000 + sampling;
            governor.look(new Governor.Used(10 * SECOND * i, own, samplers, process));
            out.add(governor.steps());
        }
        return out;
    }

    /** All bytes, bytes by the second, then sizes of chunks, one each second, thinner with each step of the rates. */
    private static Map<String, Object> bytes(String[] arguments) {
        ByteBudget bytes = new ByteBudget(Long.parseLong(arguments[0]), Long.parseLong(arguments[1]));
        Problems problems = new Problems("executor", "1");
        Governor governor = new Governor(1, bytes, problems);
        List<Integer> steps = new ArrayList<>();
        List<Long> sent = new ArrayList<>();
        for (int i = 2; i < arguments.length; i++) {
            boolean last = arguments[i].endsWith("!");
            long size = Long.parseLong(arguments[i].replace("!", "")) >> governor.steps();
            long now = i * SECOND;
            governor.look(new Governor.Used(now, 0, 0, 0));
            if (bytes.admits(size, last, now)) {
                bytes.sent(size, now);
                sent.add(size);
            } else {
                sent.add(0L);
            }
            steps.add(governor.steps());
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("sent", sent);
        out.put("steps", steps);
        out.put("held_by", governor.heldBy());
        out.put("stop", governor.mustStop());
        out.put("problems", problems.documents());
        return out;
    }

    /** So many random budgets with random chunks: how many sent more than the budget, and how many less than they could. */
    private static Map<String, Object> law(String[] arguments) {
        Random random = new Random(Long.parseLong(arguments[0]));
        int over = 0;
        int refusedWhatFits = 0;
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            long most = 1 + random.nextInt(50_000);
            ByteBudget bytes = new ByteBudget(most, ByteBudget.NO_LIMIT);
            long sent = 0;
            for (int k = 0; k < 40; k++) {
                long size = 1 + random.nextInt(8_000);
                bytes.stepsForAll();
                boolean admitted = bytes.admits(size, false, k);
                refusedWhatFits += !admitted && sent + size + 2_048 <= most ? 1 : 0;
                if (admitted) {
                    bytes.sent(size, k);
                    sent += size;
                }
            }
            over += sent > most ? 1 : 0;
        }
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("over", over);
        out.put("refused_what_fits", refusedWhatFits);
        return out;
    }

    /** CPU that a thread of ours and one of somebody else used, by the JVM; and what is found to be ours, then and later. */
    private static Map<String, Object> ownCpu() throws Exception {
        OwnCpu cpu = new OwnCpu();
        long[] used = new long[2];
        CountDownLatch burnt = new CountDownLatch(2);
        CountDownLatch seen = new CountDownLatch(1);
        Thread ours = new Thread(() -> burn(used, 0, burnt, seen), "emberscope-burns");
        Thread others = new Thread(() -> burn(used, 1, burnt, seen), "an-emberscope-burns");
        long before = cpu.nanos();
        ours.start();
        others.start();
        burnt.await();
        cpu.find();
        long found = cpu.nanos();
        seen.countDown();
        ours.join();
        others.join();
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("before", before);
        out.put("ours", used[0]);
        out.put("others", used[1]);
        out.put("found", found);
        out.put("later", cpu.nanos());
        out.put("process", OwnCpu.processNanos());
        return out;
    }

    private static void burn(long[] used, int place, CountDownLatch burnt, CountDownLatch seen) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double sum = 0;
        while (threads.getCurrentThreadCpuTime() < SECOND / 2 || sum < 0) {
            for (int i = 0; i < 100_000; i++) {
                sum += Math.sqrt(sum + i);
            }
        }
        used[place] = threads.getCurrentThreadCpuTime();
        burnt.countDown();
        try {
            seen.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
