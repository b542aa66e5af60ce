package io.emberscope;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
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

    private static final long KEPT_EVERY_NANOS = 5_000_000_000L;

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
    /** Where the open chunk is kept on the disk for those who ship it after this process's death; null: nowhere. */
    private volatile Path kept;
    private long lastKept = System.nanoTime();
    private FlightFileWriter open;
    private long openTime;

    WallChunks(long budgetBytes, Problems problems) {
        this.budgetBytes = budgetBytes;
        this.problems = problems;
        Spool spool = Spool.ofThisJvm();
        kept = spool == null ? null : spool.directory.resolve("wall.jfr");
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
        Instant now = Instant.now();
        open = new FlightFileWriter(Math.max(earliestNanos, now.getEpochSecond() * 1_000_000_000 + now.getNano()), openTime);
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
        while (closedBytes > budgetBytes / CLOSED_SHARE && closed.size() > 1) {
            closedBytes -= closed.removeFirst().bytes.length;
            problems.add("wall", "a chunk was lost: those that could not be shipped are beyond " + Settings.Key.BUDGET_MEMORY.key);
        }
    }

    /** Now and then the open chunk, as it would be if it were closed now; it stays open. Else null. */
    byte[] dueToBeKept(Runnable flush) {
        long now = System.nanoTime();
        if (kept == null || now - lastKept < KEPT_EVERY_NANOS) {
            return null;
        }
        lastKept = now;
        drain();
        flush.run();
        return open.finish(now);
    }

    /** Writes what {@link #dueToBeKept} gave; nobody needs to wait for that. */
    void keep(byte[] chunk) {
        Path file = kept;
        if (chunk == null || file == null) {
            return;
        }
        try {
            Path hidden = file.resolveSibling("wall.tmp");
            Files.write(hidden, chunk);
            Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException | RuntimeException failed) {
            problems.add("spool", failed);
            kept = null;
        }
    }

    List<Path> places() {
        Path file = kept;
        return file == null ? Collections.emptyList() : Collections.singletonList(file);
    }

    /** Closed chunks that reach beyond a time (epoch ns); the others are let go of. */
    List<byte[]> after(long nanos) {
        while (!closed.isEmpty() && closed.getFirst().endNanos <= nanos) {
            closedBytes -= closed.removeFirst().bytes.length;
        }
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
