package io.emberscope;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** The engine of a dead process: the files that it left, and what its spool's document says of them. */
final class LeftEngine implements Engine {
    /** A chunk in a file. A chunk that was not closed is as long as its header said at the last flush. */
    private static final class Place {
        final Path file;
        final long offset;
        final Chunks.Header header;

        Place(Path file, long offset, Chunks.Header header) {
            this.file = file;
            this.offset = offset;
            this.header = header;
        }
    }

    static final String RATES = "rates";

    private final String name;
    private final Map<String, String> said;
    private final Set<String> strings;
    private final BooleanSupplier stop;
    private final TreeMap<Long, Place> chunks = new TreeMap<>();

    /** {@code stop}: where it says so, no further chunk is given. */
    LeftEngine(String name, Map<String, String> said, Set<String> strings, BooleanSupplier stop) throws IOException {
        this.name = name;
        this.said = said;
        this.strings = strings;
        this.stop = stop;
        for (String place : of("places").split("\n")) {
            Path path = Paths.get(place);
            if (!place.isEmpty() && Files.exists(path)) {
                try (Stream<Path> files = Files.walk(path, 2, new FileVisitOption[0])) {
                    for (Path file : (Iterable<Path>) files.sorted()::iterator) {
                        if (Files.isRegularFile(file) && file.toString().endsWith(".jfr")) {
                            find(file);
                        }
                    }
                } catch (UncheckedIOException gone) {
                    throw gone.getCause();
                }
            }
        }
    }

    /** What {@link Spool#describe} is to say of an engine, so that this class can take its place. */
    static Map<String, String> describe(Engine engine) {
        Map<String, String> out = new LinkedHashMap<>();
        ChunkFilter filter = engine.filter();
        String prefix = engine.name() + ".";
        List<String> places = new ArrayList<>();
        engine.places().forEach(place -> places.add(place.toAbsolutePath().toString()));
        List<String> allowed = new ArrayList<>();
        filter.allowed.stream().sorted().forEach(type -> allowed.add(type.toString()));
        Long period = engine.samplePeriodNs();
        out.put(prefix + "places", String.join("\n", places));
        out.put(prefix + "events", String.join(",", engine.events()));
        out.put(prefix + "period_ns", period == null ? "" : period.toString());
        out.put(prefix + "depth", String.valueOf(engine.stackDepth()));
        out.put(prefix + "first_ns", String.valueOf(engine.firstNanos()));
        out.put(prefix + "allowed", String.join(",", allowed));
        out.put(prefix + "withheld", String.valueOf(filter.withheldType));
        out.put(prefix + "strings", String.valueOf(filter.stringType));
        return out;
    }

    private String of(String key) {
        return said.getOrDefault(name + "." + key, "");
    }

    /** The chunks of one file, back to back. Of one that lies in two files the finished one counts. */
    private void find(Path file) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            long offset = 0;
            while (in.length() - offset >= Chunks.HEADER_BYTES) {
                byte[] bytes = new byte[Chunks.HEADER_BYTES];
                in.seek(offset);
                in.readFully(bytes);
                Chunks.Header header = new Chunks.Header(bytes);
                // Until the first flush nothing says what its events are.
                if (header.size > in.length() - offset || !header.hasMetadata()) {
                    return;
                }
                Place other = chunks.get(header.startNanos);
                if (header.startNanos >= firstNanos() && (other == null || other.header.isUnfinished())) {
                    chunks.put(header.startNanos, new Place(file, offset, header));
                }
                if (header.isUnfinished()) {
                    return;
                }
                offset += header.size;
            }
        } catch (ChunkFilter.NotAChunk | EOFException notWritten) {
            // A file that was only begun.
        }
    }

    /** Starts of the chunks that are there, in epoch ns. */
    Collection<Long> chunks() {
        return Collections.unmodifiableSet(chunks.keySet());
    }

    /** How often it took samples, as {@link Rates#written} has it. */
    String rates() {
        return of(RATES);
    }

    /** Where the last chunk ends. */
    long endNanos() {
        return chunks.isEmpty() ? 0 : chunks.lastKey() + chunks.lastEntry().getValue().header.durationNanos;
    }

    @Override
    public InputStream closed(long afterNanos) {
        java.util.Iterator<Place> left = chunks.values().iterator();
        return new SequenceInputStream(new Enumeration<InputStream>() {
            @Override
            public boolean hasMoreElements() {
                return left.hasNext() && !stop.getAsBoolean();
            }

            @Override
            public InputStream nextElement() {
                return open(left.next());
            }
        });
    }

    /** Reads as many bytes as its header says: behind them may lie some that were written since. */
    private static InputStream open(Place place) {
        try {
            RandomAccessFile file = new RandomAccessFile(place.file.toFile(), "r");
            file.seek(place.offset);
            InputStream in = Channels.newInputStream(file.getChannel());
            return new InputStream() {
                private long left = place.header.size;

                @Override
                public int read() throws IOException {
                    byte[] one = new byte[1];
                    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
                }

                @Override
                public int read(byte[] target, int offset, int length) throws IOException {
                    int got = left == 0 ? -1 : in.read(target, offset, (int) Math.min(length, left));
                    left -= Math.max(got, 0);
                    return got;
                }

                @Override
                public void close() throws IOException {
                    file.close();
                }
            };
        } catch (IOException gone) {
            return new ByteArrayInputStream(new byte[0]);
        }
    }

    @Override
    public ChunkFilter filter() {
        if (AsyncProfiler.isNameOf(name)) {
            return AsyncProfiler.ownFilter();
        }
        Set<Long> allowed = new HashSet<>();
        Arrays.stream(of("allowed").split(",")).filter(id -> !id.isEmpty()).forEach(id -> allowed.add(Long.valueOf(id)));
        return new ChunkFilter(allowed, Long.parseLong(of("withheld")), Long.parseLong(of("strings")), strings::contains);
    }

    @Override
    public long firstNanos() {
        return Long.parseLong(of("first_ns"));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> events() {
        return Arrays.asList(of("events").split(","));
    }

    @Override
    public Long samplePeriodNs() {
        return of("period_ns").isEmpty() ? null : Long.valueOf(of("period_ns"));
    }

    @Override
    public int stackDepth() {
        return Integer.parseInt(of("depth"));
    }

    @Override
    public void start(Settings settings, Problems problems) {}

    @Override
    public String mustStop() {
        return null;
    }

    @Override
    public InputStream tail(long waitMs) {
        return null;
    }

    @Override
    public void close() {}
}
