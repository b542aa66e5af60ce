import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;

/**
 * What an event with a stack costs the thread that it is of: CPU time of a thread that writes many of them, less the same
 * without stacks, by depth. usage: java SampleCost.java
 */
public final class SampleCost {
    @Name("cost.WithStack")
    @StackTrace(true)
    static final class WithStack extends Event {}

    @Name("cost.WithoutStack")
    @StackTrace(false)
    static final class WithoutStack extends Event {}

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int EVENTS = 20_000;

    public static void main(String[] arguments) throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(WithStack.class).withStackTrace().withThreshold(Duration.ZERO);
            recording.enable(WithoutStack.class).withoutStackTrace().withThreshold(Duration.ZERO);
            recording.start();
            System.out.println("java " + System.getProperty("java.version"));
            for (int round = 0; round < 2; round++) {
                for (int depth : new int[] {20, 60, 200, 1000}) {
                    long with = at(depth, true);
                    long without = at(depth, false);
                    if (round == 1) {
                        System.out.printf("depth %4d: %.1f us a sample%n", depth, (with - without) / 1e3 / EVENTS);
                    }
                }
            }
        }
    }

    /** CPU time in ns of writing all events at a depth. */
    private static long at(int depth, boolean stack) {
        if (depth > 0) {
            return at(depth - 1, stack);
        }
        long begin = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < EVENTS; i++) {
            if (stack) {
                new WithStack().commit();
            } else {
                new WithoutStack().commit();
            }
        }
        return THREADS.getCurrentThreadCpuTime() - begin;
    }
}
