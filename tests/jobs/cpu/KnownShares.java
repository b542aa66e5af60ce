package cpu;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.SparkSession;

/**
 * Tasks whose CPU is that of three methods, in the shares of 10, 20 and 70 %: {@code KnownShares SECONDS}, of CPU in all.
 *
 * <p>Prints the shares as the threads themselves measured them. A method keeps on for far longer than a sampling period,
 * and never for the same time, so that no rhythm of the work can meet that of the sampler.
 */
public final class KnownShares {
    private static final int TASKS = 4;
    private static final int[] PARTS = {1, 2, 7};

    static final class Burn implements Function<Integer, double[]> {
        private static final long serialVersionUID = 1;
        private final long cpuNs;

        Burn(long cpuNs) {
            this.cpuNs = cpuNs;
        }

        @Override
        public double[] call(Integer task) {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            Random random = new Random(task);
            double[] spent = new double[PARTS.length];
            double sum = 0;
            long now = threads.getCurrentThreadCpuTime();
            long end = now + cpuNs;
            while (now < end) {
                double length = 0.5 + random.nextDouble();
                for (int method = 0; method < PARTS.length; method++) {
                    long rounds = (long) (length * PARTS[method] * 20);
                    sum += method == 0 ? tenth(rounds) : method == 1 ? fifth(rounds) : most(rounds);
                    long then = now;
                    now = threads.getCurrentThreadCpuTime();
                    spent[method] += now - then;
                }
            }
            return sum < 0 ? new double[0] : spent;
        }
    }

    private static final int ROUND = 500_000;

    static double tenth(long rounds) {
        double sum = 1;
        for (long round = 0; round < rounds; round++) {
            for (int i = 0; i < ROUND; i++) {
                sum += Math.sqrt(sum + i);
            }
        }
        return sum;
    }

    static double fifth(long rounds) {
        double sum = 2;
        for (long round = 0; round < rounds; round++) {
            for (int i = 0; i < ROUND; i++) {
                sum += Math.sqrt(sum + i);
            }
        }
        return sum;
    }

    static double most(long rounds) {
        double sum = 3;
        for (long round = 0; round < rounds; round++) {
            for (int i = 0; i < ROUND; i++) {
                sum += Math.sqrt(sum + i);
            }
        }
        return sum;
    }

    public static void main(String[] arguments) {
        SparkSession session = SparkSession.builder().appName("known shares").getOrCreate();
        JavaSparkContext context = new JavaSparkContext(session.sparkContext());
        List<Integer> numbers = IntStream.range(0, TASKS).boxed().collect(Collectors.toList());
        long each = (long) (Double.parseDouble(arguments[0]) / TASKS * 1e9);
        double[] spent = context.parallelize(numbers, TASKS).map(new Burn(each)).reduce(KnownShares::added);
        double all = Arrays.stream(spent).sum();
        System.out.println(Arrays.stream(spent).mapToObj(one -> String.format("%.5f", one / all)).collect(Collectors.joining(" ")));
        session.stop();
    }

    private static double[] added(double[] left, double[] right) {
        return IntStream.range(0, left.length).mapToDouble(i -> left[i] + right[i]).toArray();
    }
}
