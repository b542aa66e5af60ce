package app;

import org.apache.spark.sql.api.java.UDF1;

/** A rate for each row, behind one lock for the whole JVM or without any. Each takes 25 ms, most of it a request. */
public final class Rates {
    private static final Rates SHARED = new Rates();

    private synchronized double askTogether(long number) throws InterruptedException {
        return ask(number);
    }

    private static double ask(long number) throws InterruptedException {
        Thread.sleep(20);
        double rate = number;
        for (long until = System.nanoTime() + 5_000_000; System.nanoTime() < until; ) {
            rate = Math.sqrt(rate + 1) * 0.9;
        }
        return rate;
    }

    public static final class Locked implements UDF1<Long, Double> {
        @Override
        public Double call(Long number) throws InterruptedException {
            return SHARED.askTogether(number);
        }
    }

    public static final class Free implements UDF1<Long, Double> {
        @Override
        public Double call(Long number) throws InterruptedException {
            return ask(number);
        }
    }

    private Rates() {}
}
