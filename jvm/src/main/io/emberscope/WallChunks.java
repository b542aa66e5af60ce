package io.emberscope;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The open chunk of the wall sampler, and those that are closed but not shipped, in memory and within a budget. Guarded by
 * its own monitor, but for what tasks say of themselves: they leave word and go on.
 */
final class WallChunks implements TaskSpans.Writer {
    /** Shares of the budget: for the open chunk and its bytes when it is closed, and for closed ones. */
    private static final int OPEN_SHARE = 4;
    private static final int CLOSED_SHARE = 2;

    /** How often chunks are kept on the disk: every second, where that takes no more than a part in so many of the time. */
    private static final long SHORTEST_KEPT_NANOS = 1_000_000_000L;
    private static final long LONGEST_KEPT_NANOS = 5_000_000_000L;
    private static final long KEPT_PART = 500;

    private static final int MOST_WAITING = 1 << 14;

    /** What a task said: that it started, or, with an outcome, that it ended. */
    private static final class Word {
        final TaskSpans.Task task;
        final long time;
        final String outcome;

        Word(TaskSpans.Task task, long time, String outcome) {
            this.task = task;
            this.time = time;
            this.outcome = outcome;
        }
    }

    /** What is to be kept on the disk now; {@code closed} is null where those that are there are still the same. */
    static final class Kept {
        private final long since;
        private final List<byte[]> closed;
        private final byte[] open;

        private Kept(long since, List<byte[]> closed, byte[] open) {
            this.since = since;
            this.closed = closed;
            this.open = open;
        }
    }

    private static final class Closed {
        final byte[] bytes;
        final long endNanos;

        Closed(byte[] bytes, long endNanos) {
            this.bytes = bytes;
            this.endNanos = endNanos;
        }
    }

    private final long budgetBytes;
    private final Problems problems;
    private final ConcurrentLinkedQueue<Word> words = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger unheard = new AtomicInteger();
    private final Deque<Closed> closed = new ArrayDeque<>();
    private long closedBytes;
    /** Where chunks are kept on the disk for those who ship them after this process's death; null: nowhere. */
    private volatile Path kept;
    private long nextKept = System.nanoTime() + SHORTEST_KEPT_NANOS;
    private boolean closedSinceKept;
    private FlightFileWriter open;
    private long openTime;

    WallChunks(long budgetBytes, Problems problems) {
        this.budgetBytes = budgetBytes;
        this.problems = problems;
        Spool spool = Spool.ofThisJvm();
        kept = spool == null ? null : spool.directory;
        begin(0);
    }

    FlightFileWriter open() {
        return open;
    }

    long startNanos() {
        return open.startNanos;
    }

    /** Where the clock was set back time stands still until it is reached again, so that chunks follow each other. */
    private void begin(long earliestNanos) {
        openTime = System.nanoTime();
        open = new FlightFileWriter(Math.max(earliestNanos, ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now())), openTime);
    }

    void closeIfFull(Runnable flush) {
        if (open.bytes() > budgetBytes / OPEN_SHARE) {
            close(flush);
        }
    }

    /** {@code flush} puts into the open chunk what belongs there. */
    void close(Runnable flush) {
        drain();
        flush.run();
        FlightFileWriter full = open;
        long end = System.nanoTime();
        long endNanos = full.startNanos + end - openTime;
        begin(endNanos);
        byte[] bytes = full.finish(end);
        closed.add(new Closed(bytes, endNanos));
        closedBytes += bytes.length;
        closedSinceKept = true;
        while (closedBytes > budgetBytes / CLOSED_SHARE && closed.size() > 1) {
            closedBytes -= closed.removeFirst().bytes.length;
            problems.add("wall", "a chunk was lost: those that could not be shipped are beyond " + Settings.Key.BUDGET_MEMORY.key);
        }
    }

    /** Now and then the chunks, the open one as it would be if it were closed now; it stays open. Else null. */
    Kept dueToBeKept(Runnable flush) {
        long now = System.nanoTime();
        if (kept == null || now - nextKept < 0) {
            return null;
        }
        nextKept = now + LONGEST_KEPT_NANOS; // Unless it is written sooner.
        drain();
        flush.run();
        Kept due = new Kept(now, closedSinceKept ? closedOnes() : null, open.finish(now));
        closedSinceKept = false;
        return due;
    }

    /** Writes what {@link #dueToBeKept} gave; nobody needs to wait for that. */
    void keep(Kept due) {
        Path directory = kept;
        if (due == null || directory == null) {
            return;
        }
        Path hidden = directory.resolve("wall.tmp");
        try {
            if (due.closed != null) {
                write(hidden, due.closed, closedIn(directory));
            }
            write(hidden, Collections.singletonList(due.open), openIn(directory));
            long now = System.nanoTime();
            nextKept = now + Math.min(LONGEST_KEPT_NANOS, Math.max(SHORTEST_KEPT_NANOS, KEPT_PART * (now - due.since)));
        } catch (IOException | RuntimeException failed) {
            kept = null;
            problems.add("spool", failed);
            hidden.toFile().delete();
        }
    }

    private static void write(Path hidden, List<byte[]> chunks, Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(hidden)) {
            for (byte[] chunk : chunks) {
                out.write(chunk);
            }
        }
        Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    void keepNoMore() {
        kept = null;
    }

    private static Path closedIn(Path directory) {
        return directory.resolve("wall-closed.jfr");
    }

    private static Path openIn(Path directory) {
        return directory.resolve("wall.jfr");
    }

    /** A chunk that has just been closed may lie in both, and is whole in the first. */
    List<Path> places() {
        Path directory = kept;
        return directory == null ? Collections.emptyList() : Arrays.asList(closedIn(directory), openIn(directory));
    }

    /** Closed chunks that reach beyond a time (epoch ns); the others are let go of. */
    List<byte[]> after(long nanos) {
        while (!closed.isEmpty() && closed.getFirst().endNanos <= nanos) {
            closedBytes -= closed.removeFirst().bytes.length;
        }
        return closedOnes();
    }

    private List<byte[]> closedOnes() {
        List<byte[]> out = new ArrayList<>();
        closed.forEach(each -> out.add(each.bytes));
        return out;
    }

    @Override
    public void started(TaskSpans.Task task) {
        say(new Word(task, task.startTime, null));
    }

    @Override
    public void ended(TaskSpans.Task task, String outcome) {
        say(new Word(task, System.nanoTime(), outcome));
    }

    /** On the task's thread, which must not wait for anything. */
    private void say(Word word) {
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            unheard.incrementAndGet();
            return;
        }
        words.add(word);
    }

    /** Writes what tasks said. */
    void drain() {
        for (Word word = words.poll(); word != null; word = words.poll()) {
            waiting.decrementAndGet();
            if (word.outcome == null) {
                open.taskStart(word.task);
            } else {
                open.taskSpan(word.task, word.time, word.outcome);
            }
        }
        int missing = unheard.getAndSet(0);
        if (missing > 0) {
            problems.add("wall", "starts and ends of tasks came too fast to be written down: " + missing);
        }
    }
}
