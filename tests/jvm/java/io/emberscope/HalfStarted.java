package io.emberscope;

import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Starts an engine that fails when it has begun, with an exception or an error; prints what became of it. */
public final class HalfStarted {
    private static final class Failing implements Engine {
        private final boolean isError;
        private int closed;

        Failing(boolean isError) {
            this.isError = isError;
        }

        @Override
        public void start(Settings settings, Problems problems) throws Exception {
            if (isError) {
                throw new NoClassDefFoundError("half of it is missing");
            }
            throw new IOException("half of it is missing");
        }

        @Override
        public String mustStop() {
            return null;
        }

        @Override
        public InputStream closed(long afterNanos) {
            return null;
        }

        @Override
        public InputStream tail(long waitMs) {
            return null;
        }

        @Override
        public void close() {
            closed++;
            throw new IllegalStateException("it was never whole");
        }

        @Override
        public ChunkFilter filter() {
            return null;
        }

        @Override
        public long firstNanos() {
            return 0;
        }

        @Override
        public String name() {
            return "failing";
        }

        @Override
        public List<String> events() {
            return Collections.emptyList();
        }

        @Override
        public Long samplePeriodNs() {
            return null;
        }

        @Override
        public int stackDepth() {
            return 1;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> out = new LinkedHashMap<>();
        for (boolean isError : new boolean[] {false, true}) {
            Problems problems = new Problems("executor", "1");
            Settings settings = new Settings(new SparkConf(false), problems);
            Failing engine = new Failing(isError);
            ChunkShipper.Process process = new ChunkShipper.Process("executor", "1", "here");
            Map<String, Object> said = new LinkedHashMap<>();
            said.put("runs", EngineRun.start(engine, process, settings, problems) != null);
            said.put("closed", engine.closed);
            said.put("problems", problems.documents().size());
            out.put(isError ? "error" : "exception", said);
        }
        System.out.write(Json.bytes(out));
        System.out.flush();
    }
}
