package io.emberscope;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Starts an engine that fails when it has begun, with an exception or an error; prints what became of it. */
public final class HalfStarted {
    private static final class Failing extends IdleEngine {
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
        public void close() {
            closed++;
            throw new IllegalStateException("it was never whole");
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
