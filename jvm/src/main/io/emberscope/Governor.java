package io.emberscope;

import java.util.List;
import java.util.Map;

/**
 * Holds what the recorder may cost a process: CPU ({@code budget.cpu}), bytes sent ({@code budget.bytes}) and bytes a
 * second ({@code budget.bandwidth}). Beyond them the engines take samples less often, in halvings; where there is room
 * again, more often. All on the recorder's thread.
 *
 * <p>CPU is that of our own threads, measured, and that of threads on being sampled, estimated by the engines, against
 * that of the whole process between two chunks. Sending, and closing chunks, cost too, and slower rates make that hardly
 * less: so rates fall only where the taking of samples is a part that counts.
 */
final class Governor {
    /** Sixty-four times slower than asked for. */
    static final int MOST_STEPS = 6;

    /** In place of steps: nothing but task spans is to be recorded. */
    static final int SPANS_ONLY = MOST_STEPS + 1;

    private static final int MOST_STEPS_AT_ONCE = 3;

    /** CPU times come in hundredths of a second: less than this tells nothing. */
    private static final long SHORTEST_NANOS = 9_500_000_000L;

    /** What an idle process is taken to use, in cores: else its own ticking would be most of what it does. */
    private static final double IDLE_CORES = 1;

    /** The taking of samples counts where it is at least this part of the budget. */
    private static final double COUNTS = 0.25;

    /** Slower rates help where sampling falls to this part of what it was, or lower. */
    private static final double HELPS = 0.75;

    /** Where they did not help, since somebody else's recording has the higher rate, they are not tried again so soon. */
    private static final int USELESS_CHUNKS = 20;

    /** So many chunks in a row must have had room before rates rise by a step. */
    private static final int CALM_CHUNKS = 2;

    /** CPU times so far in ns, by a clock in ns. */
    static final class Used {
        final long nowNanos;
        final long own;
        final long samplers;
        final long process;

        /** {@code samplers}: the part of own, and of the sampled threads, that is the taking of samples. */
        Used(long nowNanos, long own, long samplers, long process) {
            this.nowNanos = nowNanos;
            this.own = own;
            this.samplers = samplers;
            this.process = process;
        }
    }

    private final double cpuRatio;
    private final ByteBudget bytes;
    private final Problems problems;
    private final OwnCpu cpu = new OwnCpu();
    private Used before;
    private int cpuSteps;
    private int calmChunks;
    private int stepsBefore;
    private double samplingBefore;
    private int uselessChunks;
    private int steps;
    private String heldBy;

    Governor(double cpuRatio, ByteBudget bytes, Problems problems) {
        this.cpuRatio = cpuRatio;
        this.bytes = bytes;
        this.problems = problems;
    }

    static Governor of(Settings settings, Problems problems) {
        ByteBudget bytes = new ByteBudget(
                Math.max(0, settings.bytes(Settings.Key.BUDGET_BYTES)), Math.max(0, settings.bytes(Settings.Key.BUDGET_BANDWIDTH)));
        return new Governor(settings.ratio(Settings.Key.BUDGET_CPU), bytes, problems);
    }

    /** Holds nothing back. */
    static Governor withoutLimits() {
        return new Governor(1, new ByteBudget(ByteBudget.NO_LIMIT, ByteBudget.NO_LIMIT), new Problems("", ""));
    }

    /** Looks at what was used since the last time; called before a chunk is closed. The first look sees the start only. */
    void look(List<EngineRun> running) {
        cpu.find();
        long own = cpu.nanos();
        long sampled = 0;
        for (EngineRun run : running) {
            sampled += run.engine.sampledNanos();
        }
        look(new Used(System.nanoTime(), own + sampled, cpu.samplersNanos() + sampled, OwnCpu.processNanos()));
    }

    void look(Used now) {
        if (before == null || now.nowNanos - before.nowNanos >= SHORTEST_NANOS) {
            if (cpuRatio < 1 && before != null && now.process >= 0 && before.process >= 0) {
                lookAtCpu(now);
            }
            before = now;
        }
        int forSeconds = bytes.stepsForSeconds();
        int forAll = bytes.stepsForAll();
        if (forAll == SPANS_ONLY && steps != SPANS_ONLY) {
            problems.add("budget", bytesSaid() + " are nearly used up, so only task spans are recorded from here on");
        }
        steps = Math.max(cpuSteps, Math.max(forSeconds, forAll));
        heldBy = steps == 0 ? null : steps == forAll ? "bytes" : steps == cpuSteps ? "cpu" : "bandwidth";
    }

    private void lookAtCpu(Used now) {
        double base = Math.max(now.process - before.process, IDLE_CORES * (now.nowNanos - before.nowNanos));
        double share = (now.own - before.own) / base;
        double sampling = (now.samplers - before.samplers) / base;
        if (samplingBefore > 0 && sampling > samplingBefore * HELPS) {
            cpuSteps = stepsBefore;
            uselessChunks = USELESS_CHUNKS;
        }
        samplingBefore = 0;
        if (uselessChunks > 0) {
            uselessChunks--;
            return;
        }
        if (share > cpuRatio && sampling > cpuRatio * COUNTS) {
            double room = Math.max(cpuRatio - (share - sampling), cpuRatio * COUNTS);
            int more = (int) Math.ceil(Math.log(sampling / room) / Math.log(2));
            stepsBefore = cpuSteps;
            cpuSteps = Math.min(MOST_STEPS, cpuSteps + Math.max(1, Math.min(MOST_STEPS_AT_ONCE, more)));
            samplingBefore = cpuSteps > stepsBefore ? sampling : 0;
            calmChunks = 0;
        } else if (cpuSteps > 0 && (share + sampling <= cpuRatio || sampling <= cpuRatio * COUNTS / 2)) {
            // A step back doubles the samples: there must be room for as many again.
            calmChunks++;
            if (calmChunks >= CALM_CHUNKS) {
                cpuSteps--;
                calmChunks = 0;
            }
        } else {
            calmChunks = 0;
        }
    }

    /** Rates are to be lower than asked for by so many halvings, or {@link #SPANS_ONLY}. */
    int steps() {
        return steps;
    }

    /** The budget that asks for it: cpu, bytes or bandwidth; null where rates are as asked for. */
    String heldBy() {
        return heldBy;
    }

    ByteBudget bytes() {
        return bytes;
    }

    /** Why nothing may be recorded any more, or null. */
    String mustStop() {
        return bytes.isExhausted() ? bytesSaid() + " are used up, so nothing is recorded any more" : null;
    }

    private String bytesSaid() {
        return "the bytes that this process may send (" + Settings.Key.BUDGET_BYTES.key + ")";
    }

    /** What the recorder used until now, for a manifest. */
    void describe(Map<String, Object> manifest) {
        long process = OwnCpu.processNanos();
        manifest.put("own_cpu_ns", cpu.nanos());
        manifest.put("process_cpu_ns", process < 0 ? null : process);
    }
}
