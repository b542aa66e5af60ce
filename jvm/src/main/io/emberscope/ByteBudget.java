package io.emberscope;

/**
 * What a process may send: so many bytes in all, and so many a second.
 *
 * <p>Chunks go whole or not at all. By the second a chunk may go while no more is owed than some seconds pay for, and is
 * owed from then on: no thread waits, the chunk after it stays with its engine for a while. The end of the process owes
 * nothing. Of all bytes none are owed: what does not fit any more is refused. Before that, rates are halved with each
 * half of what is left, and the rest is kept for task spans.
 */
final class ByteBudget {
    static final long NO_LIMIT = 0;

    /** From here on only spans are recorded: this share of the budget is left, or room for so many chunks. */
    private static final double SPANS_BELOW = 1.0 / 16;

    private static final int SPANS_BELOW_CHUNKS = 4;

    /** Several engines send their chunks together: that is no haste. */
    private static final int BURST_SECONDS = 10;

    /** Room for the manifest of a chunk. */
    private static final int MANIFEST_BYTES = 2_048;

    private final long most;
    private final long perSecond;
    private long sent;
    private long owed;
    private long paidNanos;
    private long largest;
    private boolean spansOnly;
    private boolean exhausted;
    private boolean deferred;
    private int slowerSteps;

    /** Bytes; {@link #NO_LIMIT} for either. */
    ByteBudget(long most, long perSecond) {
        this.most = most;
        this.perSecond = perSecond;
    }

    /** Whether a chunk of this size may be sent now, and its manifest; {@code last}: the process ends. */
    boolean admits(long bytes, boolean last, long nowNanos) {
        if (most != NO_LIMIT && sent + bytes + MANIFEST_BYTES > most) {
            exhausted = true;
            return false;
        }
        pay(nowNanos);
        boolean free = last || owed <= perSecond * BURST_SECONDS;
        deferred |= !free;
        return free;
    }

    void sent(long bytes, long nowNanos) {
        pay(nowNanos);
        sent += bytes;
        owed += perSecond == NO_LIMIT ? 0 : bytes;
        largest = Math.max(largest, bytes);
    }

    private void pay(long nowNanos) {
        double seconds = (nowNanos - paidNanos) / 1e9;
        owed = owed <= 0 ? 0 : Math.max(0, owed - (long) (seconds * perSecond));
        paidNanos = nowNanos;
    }

    /** What may still be sent; null where there is no limit. */
    Long leftBytes() {
        return most == NO_LIMIT ? null : Long.valueOf(Math.max(0, most - sent));
    }

    long sentBytes() {
        return sent;
    }

    boolean isExhausted() {
        return exhausted;
    }

    /** By how many halvings rates must fall so that the bytes last. */
    int stepsForAll() {
        if (most == NO_LIMIT) {
            return 0;
        }
        long left = most - sent;
        // A thinner chunk is smaller: what was once too large to come again must not come back.
        spansOnly |= left < most * SPANS_BELOW || left < SPANS_BELOW_CHUNKS * largest;
        return spansOnly ? Governor.SPANS_ONLY : (int) (Math.log((double) most / left) / Math.log(2));
    }

    /** By how many halvings rates must fall because chunks had to wait; asked once for each chunk. */
    int stepsForSeconds() {
        slowerSteps = Math.max(0, Math.min(Governor.MOST_STEPS, slowerSteps + (deferred ? 1 : -1)));
        deferred = false;
        return slowerSteps;
    }
}
