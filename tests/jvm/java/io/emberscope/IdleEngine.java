package io.emberscope;

import java.io.InputStream;
import java.util.Collections;
import java.util.List;

/** An engine that records nothing; others are this one but for what they are made for. */
class IdleEngine implements Engine {
    @Override
    public void start(Settings settings, Problems problems) throws Exception {}

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
    public void close() {}

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
        return "idle";
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
