package app;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.text.SimpleDateFormat;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;

/** Functions with one fault each. A call repeats its fault for a millisecond, so that no machine is too fast for it. */
public final class HotSpots {
    private static final long ROW_NS = 1_000_000;

    interface Work {
        long once(long number) throws Exception;
    }

    /** Spark asks a class for the interfaces that it names itself, so each function says once more that it is a UDF1. */
    public abstract static class Function implements Work, Serializable {
        public Long call(Long number) throws Exception {
            long until = System.nanoTime() + ROW_NS;
            long sum = 0;
            while (System.nanoTime() < until) {
                sum += once(number + sum);
            }
            return sum & 0xffff;
        }
    }

    public static final class CompilesPattern extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            return ("flight " + number).replaceAll("(\\w+)\\s+([0-9a-f]+)[^a-z]*|(x|y)+z", "$2").length();
        }
    }

    public static final class Backtracks extends Function implements UDF1<Long, Long> {
        private static final Pattern NESTED = Pattern.compile("(\\w+\\s?)+:");

        @Override
        public long once(long number) {
            return NESTED.matcher("the flight " + number % 10 + " is late").matches() ? 1 : 0;
        }
    }

    public static final class Boxes extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            Long[] sums = new Long[2_000];
            sums[0] = number;
            for (int i = 1; i < sums.length; i++) {
                sums[i] = sums[i - 1] + i;
            }
            return sums[sums.length - 1];
        }
    }

    public static final class TakesRows implements UDF1<scala.collection.Seq<Row>, Long> {
        @Override
        public Long call(scala.collection.Seq<Row> rows) {
            return (long) rows.size();
        }
    }

    public static final class MakesFormats extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            return new SimpleDateFormat("yyyy-MM-dd HH:mm:ss").getNumberFormat().getMaximumFractionDigits();
        }
    }

    public static final class MakesClients extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) throws SQLException {
            try (Connection connection = DriverManager.getConnection("jdbc:derby:memory:flights;create=true")) {
                return connection.getHoldability();
            }
        }
    }

    public static final class ParsesDates extends Function implements UDF1<Long, Long> {
        private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("dd/MMM/yyyy HH:mm:ss");

        @Override
        public long once(long number) {
            return LocalDateTime.parse("17/Nov/2021 10:23:5" + number % 10, FORMAT).getSecond();
        }
    }

    public static final class Lists extends Function implements UDF1<Long, Long> {
        private static FileSystem files;

        @Override
        public long once(long number) throws IOException {
            if (files == null) {
                files = FileSystem.getLocal(new Configuration());
            }
            return files.listStatus(new Path("/")).length;
        }
    }

    public static final class Logs extends Function implements UDF1<Long, Long> {
        private static final Logger LOGGER = LogManager.getLogger(Logs.class);

        @Override
        public long once(long number) {
            LOGGER.warn("row {} looks odd", number);
            return 1;
        }
    }

    public static final class ParsesJson extends Function implements UDF1<Long, Long> {
        private static final ObjectMapper MAPPER = new ObjectMapper();

        @Override
        public long once(long number) throws IOException {
            return MAPPER.readTree("{\"id\":" + number % 7 + ",\"route\":{\"from\":\"FRA\",\"to\":[\"JFK\",\"EWR\"]}}").size();
        }
    }

    public static final class Compresses extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
                for (int i = 0; i < 200; i++) {
                    out.write(("row " + (number * 31 + i * 7919L) + ";").getBytes(StandardCharsets.UTF_8));
                }
            }
            return bytes.size();
        }
    }

    public static final class Throws extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            try {
                return Long.parseLong("n/a " + number);
            } catch (NumberFormatException notANumber) {
                return 0;
            }
        }
    }

    public static final class HashesStrings extends Function implements UDF1<Long, Long> {
        private static final String LONG = "a name that is long and only tells its end: ".repeat(40);

        @Override
        public long once(long number) {
            return (LONG + number).hashCode();
        }
    }

    public static final class FormatsStrings extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            return String.format("%s-%06d", "FRA", number % 1_000).length();
        }
    }

    public static final class Reflects extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) throws ReflectiveOperationException {
            return Class.forName("java.util.ArrayList").getMethod("size").getName().length();
        }
    }

    public static final class DrawsIds extends Function implements UDF1<Long, Long> {
        @Override
        public long once(long number) {
            return UUID.randomUUID().getMostSignificantBits();
        }
    }

    /** A record without schema, as RDDs of objects hold them. */
    public static final class Flight implements Serializable {
        private final String from;
        private final List<String> stops = new ArrayList<>();
        private final HashMap<String, Long> delays = new HashMap<>();

        Flight(long number) {
            from = "airport " + number % 300;
            for (int i = 0; i < 4; i++) {
                stops.add("stop " + number * i);
                delays.put("delay " + i, number);
            }
        }
    }

    /** Sends objects through a shuffle, which Java's serialisation writes and reads. */
    public static long shufflesObjects(JavaSparkContext context, int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i);
        }
        return context.parallelize(numbers, 2).map(number -> new Flight(number)).repartition(2).count();
    }

    private HotSpots() {}
}
