package app;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.api.java.UDF1;

/**
 * Functions that each do one thing for every row, for tests of what a recording shows of it. It is done
 * in a method with a name of its own.
 */
public final class Kinds {
    private static final long ROW_MS = 20;

    /** Spark asks a class for the interfaces that it names itself, so each function says once more that it is a UDF1. */
    public abstract static class Function implements Serializable {
        public Long call(Long number) throws Exception {
            return once(number);
        }

        abstract long once(long number) throws Exception;
    }

    /** One allocation site: 64 KiB again and again, let go at once, 25 MiB a row. */
    public static final class Allocates extends Function implements UDF1<Long, Long> {
        private static volatile byte[] last;

        @Override
        long once(long number) {
            long bytes = 0;
            for (int i = 0; i < 400; i++) {
                last = makesBuffer();
                bytes += last.length;
            }
            return bytes;
        }

        private static byte[] makesBuffer() {
            return new byte[1 << 16];
        }
    }

    /** A class that nothing but {@link Leaks} makes. */
    public static final class Leaked {
        final byte[] content = new byte[1 << 16];
    }

    /** A leak: what it makes is kept for ever, 64 KiB a row. */
    public static final class Leaks extends Function implements UDF1<Long, Long> {
        private static final List<Leaked> KEPT = new ArrayList<>();
        private static volatile byte[] last;

        @Override
        long once(long number) throws InterruptedException {
            synchronized (KEPT) {
                KEPT.add(makesLeaked());
            }
            // Young collections have to come by, or nobody can tell what outlives them.
            last = new byte[1 << 18];
            Thread.sleep(2);
            return number;
        }

        private static Leaked makesLeaked() {
            return new Leaked();
        }
    }

    /** One lock that all tasks of the JVM want and hold for most of their time. */
    public static final class Locks extends Function implements UDF1<Long, Long> {
        private static final Object ONLY_ONE = new Object();

        @Override
        long once(long number) throws InterruptedException {
            return waitsForTheOthers(number);
        }

        private static long waitsForTheOthers(long number) throws InterruptedException {
            synchronized (ONLY_ONE) {
                for (long until = System.nanoTime() + 2 * ROW_MS * 1_000_000; System.nanoTime() < until; ) {
                    Math.sqrt(number);
                }
            }
            return number;
        }
    }

    /** Time that passes and nothing is done. */
    public static final class Sleeps extends Function implements UDF1<Long, Long> {
        @Override
        long once(long number) throws InterruptedException {
            return takesANap(number);
        }

        private static long takesANap(long number) throws InterruptedException {
            Thread.sleep(ROW_MS);
            return number;
        }
    }

    /** Waits for the other end of a connection, which takes its time. */
    public static final class Waits extends Function implements UDF1<Long, Long> {
        private static final ThreadLocal<Socket> CONNECTION = new ThreadLocal<>();

        @Override
        long once(long number) throws IOException {
            if (CONNECTION.get() == null) {
                CONNECTION.set(connected());
            }
            return readsFromAfar(CONNECTION.get().getInputStream());
        }

        private static long readsFromAfar(InputStream in) throws IOException {
            return in.read();
        }

        /** The other end says one byte at a time. */
        private static Socket connected() throws IOException {
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
            Socket there = server.accept();
            server.close();
            Thread slow = new Thread(() -> {
                try (Socket end = there) {
                    while (true) {
                        Thread.sleep(ROW_MS);
                        end.getOutputStream().write(1);
                    }
                } catch (IOException | InterruptedException over) {
                    // The application ends.
                }
            }, "slow other end");
            slow.setDaemon(true);
            slow.start();
            return here;
        }
    }

    /** Memory outside of the heap, kept for ever: 64 KiB a row. */
    public static final class TakesNative extends Function implements UDF1<Long, Long> {
        private static final List<ByteBuffer> KEPT = new ArrayList<>();

        @Override
        long once(long number) throws InterruptedException {
            synchronized (KEPT) {
                KEPT.add(makesDirectBuffer());
            }
            Thread.sleep(2);
            return number;
        }

        private static ByteBuffer makesDirectBuffer() {
            return ByteBuffer.allocateDirect(1 << 16);
        }
    }

    /** Loads a class anew for each row, by a loader of its own, and keeps it. */
    public static final class LoadsClasses extends Function implements UDF1<Long, Long> {
        private static final List<Class<?>> KEPT = new ArrayList<>();

        @Override
        long once(long number) throws IOException {
            synchronized (KEPT) {
                for (int i = 0; i < 10; i++) {
                    KEPT.add(new Loader().again(Leaked.class));
                }
            }
            return number;
        }

        private static final class Loader extends ClassLoader {
            Loader() {
                super(Kinds.class.getClassLoader());
            }

            Class<?> again(Class<?> known) throws IOException {
                try (InputStream in = known.getResourceAsStream(known.getName().replaceFirst(".*\\.", "") + ".class")) {
                    byte[] bytes = new byte[1 << 14];
                    int length = 0;
                    for (int got = 0; got >= 0; got = in.read(bytes, length, bytes.length - length)) {
                        length += got;
                    }
                    return defineClass(known.getName(), bytes, 0, length);
                }
            }
        }
    }

    /** Stops the JVM for each row: a dump of all threads is an operation at a safepoint. */
    public static final class Stops extends Function implements UDF1<Long, Long> {
        @Override
        long once(long number) throws InterruptedException {
            Thread.sleep(2);
            return ManagementFactory.getThreadMXBean().dumpAllThreads(true, true).length;
        }
    }

    private Kinds() {}
}
