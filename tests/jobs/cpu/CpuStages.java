package cpu;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * One Spark application with a stage of each nature, each of them of so many seconds of CPU: {@code CpuStages SECONDS
 * DIRECTORY [NAME...]}. The job description of a stage is its name.
 */
public final class CpuStages {
    private static final int TASKS = 4;
    private static final int PROBE = 2;

    /** A piece of work of some milliseconds. */
    interface Work {
        long piece(int seed) throws Exception;
    }

    /** Does pieces until the thread of the task has used so much CPU. */
    static final class Until implements Function<Integer, Long> {
        private static final long serialVersionUID = 1;
        private final String name;
        private final long cpuNs;

        Until(String name, long cpuNs) {
            this.name = name;
            this.cpuNs = cpuNs;
        }

        @Override
        public Long call(Integer task) throws Exception {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            long end = threads.getCurrentThreadCpuTime() + cpuNs;
            Work work = work(name);
            long sum = 0;
            for (int i = 0; threads.getCurrentThreadCpuTime() < end; i++) {
                sum += work.piece(task * 1_000_003 + i);
            }
            return sum;
        }
    }

    static Work work(String name) {
        switch (name) {
            case "Java loops":
                return CpuStages::loops;
            case "Java collections":
                return CpuStages::collections;
            case "serialisation, Java":
                return serialisation(new JavaSerializer(new SparkConf(false)).newInstance());
            case "serialisation, Kryo":
                return serialisation(new KryoSerializer(new SparkConf(false)).newInstance());
            case "zlib":
                return CpuStages::zlib;
            case "SHA-256":
                return CpuStages::digest;
            case "garbage":
                return new Garbage();
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Nothing but arithmetic on arrays. */
    static long loops(int seed) {
        int size = 160;
        double[][] left = new double[size][size];
        double[][] right = new double[size][size];
        double[][] product = new double[size][size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                left[i][j] = seed + i - j;
                right[i][j] = seed - i + j;
            }
        }
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                double sum = 0;
                for (int k = 0; k < size; k++) {
                    sum += left[i][k] * right[k][j];
                }
                product[i][j] = sum;
            }
        }
        return (long) product[seed & 127][3];
    }

    /** Strings, boxes and hash tables, as user code has them. */
    static long collections(int seed) {
        Map<String, List<Integer>> groups = new HashMap<>();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            groups.computeIfAbsent("key-" + random.nextInt(500), key -> new ArrayList<>()).add(i);
        }
        return groups.entrySet().stream()
                .filter(entry -> entry.getKey().hashCode() % 3 != 0)
                .mapToLong(entry -> entry.getValue().stream().mapToLong(Integer::longValue).sum())
                .sum();
    }

    static Work serialisation(SerializerInstance serializer) {
        ClassTag<Object> any = ClassTag$.MODULE$.apply(Object.class);
        return seed -> {
            ArrayList<Object> rows = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                rows.add(new HashMap<>(Map.of("id", seed + i, "name", "row " + i, "value", i * 0.5)));
            }
            ByteBuffer bytes = serializer.serialize(rows, any);
            return ((List<?>) serializer.deserialize(bytes, any)).size();
        };
    }

    /** Nearly all in native code. */
    static long zlib(int seed) throws Exception {
        byte[] text = new byte[1 << 20];
        Random random = new Random(seed);
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) ('a' + (random.nextInt() & i & 15));
        }
        byte[] packed = new byte[text.length * 2];
        Deflater deflater = new Deflater(6);
        deflater.setInput(text);
        deflater.finish();
        int size = deflater.deflate(packed);
        deflater.end();
        Inflater inflater = new Inflater();
        inflater.setInput(packed, 0, size);
        long total = inflater.inflate(text);
        inflater.end();
        return total;
    }

    /** Nearly all in a routine that the JVM puts in the place of the method. */
    static long digest(int seed) throws Exception {
        byte[] data = new byte[1 << 20];
        Arrays.fill(data, (byte) seed);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < 4; i++) {
            digest.update(data);
        }
        return digest.digest()[0];
    }

    /** Replaces parts of a large live set, so that the collector is always at work. */
    static final class Garbage implements Work {
        private final Object[][] live = new Object[600][];

        @Override
        public long piece(int seed) {
            Random random = new Random(seed);
            for (int i = 0; i < 200; i++) {
                Object[] fresh = new Object[1_500];
                for (int k = 0; k < fresh.length; k++) {
                    fresh[k] = new byte[random.nextInt(100)];
                }
                live[random.nextInt(live.length)] = fresh;
            }
            return live.length;
        }
    }

    private final JavaSparkContext context;
    private final SparkSession session;
    private final AtomicLong cpuNs = new AtomicLong();
    private final double seconds;

    private CpuStages(double seconds) {
        this.seconds = seconds;
        session = SparkSession.builder().appName("CPU stages").getOrCreate();
        context = new JavaSparkContext(session.sparkContext());
        session.sparkContext().addSparkListener(new SparkListener() {
            @Override
            public void onStageCompleted(SparkListenerStageCompleted stage) {
                cpuNs.addAndGet(stage.stageInfo().taskMetrics().executorCpuTime());
            }
        });
    }

    private void tasks(String name) {
        context.setJobDescription(name);
        List<Integer> numbers = IntStream.range(0, TASKS).boxed().collect(Collectors.toList());
        context.parallelize(numbers, TASKS).map(new Until(name, (long) (seconds / TASKS * 1e9))).collect();
    }

    /** A query whose work grows with a number: run once with a small one to learn which is right for so much CPU. */
    private void query(String name, IntFunction<Dataset<Row>> ofSize) throws Exception {
        session.sparkContext().listenerBus().waitUntilEmpty();
        context.setJobDescription(name + ", probe");
        run(ofSize.apply(PROBE));
        long before = cpuAfterAll();
        run(ofSize.apply(PROBE));
        double probe = Math.max(1, cpuAfterAll() - before);
        context.setJobDescription(name);
        run(ofSize.apply((int) Math.ceil(1.15 * PROBE * seconds * 1e9 / probe)));
    }

    private long cpuAfterAll() throws Exception {
        session.sparkContext().listenerBus().waitUntilEmpty();
        return cpuNs.get();
    }

    private static void run(Dataset<Row> query) {
        query.write().format("noop").mode("overwrite").save();
    }

    private Dataset<Row> rows(long each, int parts) {
        return session.range(0, each * parts, 1, parts).toDF();
    }

    private Map<String, IntFunction<Dataset<Row>>> queries(String directory) {
        String path = directory + "/table";
        context.setJobDescription("the table");
        rows(400_000, TASKS)
                .selectExpr("id", "id % 1000 AS few", "hash(id) AS many", "id * 0.37 AS real", "concat('text ', id % 5000) AS text",
                        "cast(id % 700 * 1.25 AS decimal(12, 2)) AS price")
                .write().mode("overwrite").option("compression", "none").parquet(path);
        Map<String, IntFunction<Dataset<Row>>> all = new LinkedHashMap<>();
        all.put("Parquet decoding", size -> {
            Dataset<Row> once = session.read().parquet(path);
            Dataset<Row> out = once;
            for (int i = 1; i < size; i++) {
                out = out.union(once);
            }
            return out.selectExpr("sum(id)", "sum(few)", "sum(many)", "sum(real)", "max(text)", "sum(price)");
        });
        all.put("sort", size -> rows(500_000, size).selectExpr("xxhash64(id) AS key", "id").sortWithinPartitions("key"));
        all.put("hash aggregation", size -> rows(1_000_000, size)
                .selectExpr("id % 200003 AS key", "id").groupBy("key").agg(Map.of("id", "avg")));
        return all;
    }

    public static void main(String[] arguments) throws Exception {
        CpuStages stages = new CpuStages(Double.parseDouble(arguments[0]));
        List<String> asked = Arrays.asList(arguments).subList(2, arguments.length);
        List<String> names = Arrays.asList("Java loops", "Java collections", "serialisation, Java", "serialisation, Kryo",
                "zlib", "SHA-256", "garbage");
        for (String name : names) {
            if (asked.isEmpty() || asked.contains(name)) {
                stages.tasks(name);
            }
        }
        for (Map.Entry<String, IntFunction<Dataset<Row>>> query : stages.queries(arguments[1]).entrySet()) {
            if (asked.isEmpty() || asked.contains(query.getKey())) {
                stages.query(query.getKey(), query.getValue());
            }
        }
        stages.session.stop();
    }
}
