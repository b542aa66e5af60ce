package io.emberscope;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/** A sampler inside this JVM that writes self-contained chunks. All calls come from the recorder's own thread. */
interface Engine {
    /** It cannot be used here, for a reason that is to be said as it is. */
    final class Unavailable extends Exception {
        private static final long serialVersionUID = 1;

        Unavailable(String reason) {
            super(reason);
        }
    }

    /** Starts sampling. Takes seconds on a busy machine. */
    void start(Settings settings, Problems problems) throws Exception;

    /** Why it must not go on sampling, or null where it may. Cheap: asked every second. */
    String mustStop();

    /** Closes the current chunk. Gives all closed chunks that reach beyond a time (epoch ns); some may be repeated. */
    InputStream closed(long afterNanos) throws Exception;

    /** The same for the last time: nothing is sampled any more after it. */
    default InputStream last(long afterNanos) throws Exception {
        return closed(afterNanos);
    }

    /** Kinds of events that another engine leaves to this one. */
    default void take(List<String> kinds) {}

    /** Where the exiting JVM has stopped this engine behind our back: all chunks that it left. Null where it has not. */
    InputStream tail(long waitMs) throws Exception;

    /** Lets go of everything, files too. */
    void close() throws Exception;

    /** What may leave this JVM. */
    ChunkFilter filter();

    /** Chunks that started before this (epoch ns) belong to somebody else. */
    long firstNanos();

    String name();

    /** Kinds of events that are really recorded on this JVM. */
    List<String> events();

    /** CPU sampling period that holds now, or null where CPU is not sampled. */
    Long samplePeriodNs();

    int stackDepth();

    /**
     * Takes samples less often from now on: the time between two is 2^steps times what was asked for, or with {@link
     * Governor#SPANS_ONLY} none but task spans are written. Called when a chunk was just closed. False where it cannot.
     */
    default boolean slow(int steps) throws Exception {
        return false;
    }

    /** CPU time in ns that threads of the application spent on being sampled so far: an estimate, none is measured. */
    default long sampledNanos() {
        return 0;
    }

    /** Files and directories in which its chunks lie on the local disk, for whoever ships them after this process's death. */
    default List<Path> places() {
        return Collections.emptyList();
    }
}
