package io.emberscope;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/**
 * Runs tasks that each do one thing in a method of that name, on threads of their own, while the recorder records wall-clock
 * samples; then it ends as Spark would end it. The stage of a task is the number of what it does.
 */
public final class WallJob {
    static final int KINDS = 6;
    private static final Object LOCK = new Object();
    private static final AtomicInteger TASKS = new AtomicInteger();

    /** Store, length of the long tasks in ms, number of short tasks on each thread; then settings. */
    public static void main(String[] arguments) throws Exception {
        Problems problems = new Problems("executor", "7");
        SparkConf conf = new SparkConf(false).set("spark.emberscope.chunk.seconds", "1");
        for (int i = 3; i < arguments.length; i++) {
            conf.set("spark.emberscope." + arguments[i].split("=")[0], arguments[i].split("=")[1]);
        }
        Settings settings = new Settings(conf, problems);
        RunAddress address = new RunAddress(RunStore.resolve(arguments[0]), "default", "app-1", "1");
        ChunkShipper.Process process = new ChunkShipper.Process("executor", "7", "here");
        Recorder recorder = new Recorder(process, settings, conf, problems, last -> address, true);
        recorder.start();
        while (!Shipped.any(Paths.get(arguments[0]))) {
            Thread.sleep(10);
        }
        ServerSocket server = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        List<Thread> threads = new ArrayList<>();
        for (int kind = 0; kind < KINDS; kind++) {
            int own = kind;
            Thread thread = new Thread(() -> run(own, server, arguments), "Executor task launch worker-" + kind);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        recorder.finish();
        System.out.write(Json.bytes(java.util.Collections.singletonMap("problems", problems.documents())));
        System.out.flush();
    }

    private static void run(int kind, ServerSocket server, String[] arguments) {
        try {
            task(kind, Integer.parseInt(arguments[1]), server);
            for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
                task(ThreadLocalRandom.current().nextInt(KINDS), ThreadLocalRandom.current().nextInt(1, 12), server);
            }
        } catch (Exception failed) {
            failed.printStackTrace();
        }
    }

    private static void task(int kind, int ms, ServerSocket server) throws Exception {
        TaskSpans.Task task = new TaskSpans.Task();
        task.taskId = TASKS.getAndIncrement();
        task.stageId = kind;
        task.sqlExecutionId = -1;
        TaskSpans.OF_THIS_JVM.taskStarted(task);
        switch (kind) {
            case 0:
                computes(ms);
                break;
            case 1:
                sleeps(ms);
                break;
            case 2:
                parks(ms);
                break;
            case 3:
                waits(ms);
                break;
            case 4:
                locks(ms);
                break;
            default:
                reads(ms, server);
        }
        TaskSpans.OF_THIS_JVM.taskEnded("success");
    }

    private static void computes(int ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        double sum = 0;
        while (System.nanoTime() < until) {
            sum += Math.sqrt(sum + 1);
        }
        if (sum < 0) {
            throw new IllegalStateException();
        }
    }

    private static void sleeps(int ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    private static void parks(int ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    private static void waits(int ms) throws InterruptedException {
        Object nobodyNotifies = new Object();
        synchronized (nobodyNotifies) {
            nobodyNotifies.wait(ms);
        }
    }

    private static void locks(int ms) throws InterruptedException {
        Thread holder = new Thread(() -> {
            synchronized (LOCK) {
                try {
                    Thread.sleep(ms);
                } catch (InterruptedException told) {
                    Thread.currentThread().interrupt();
                }
            }
        });
        holder.start();
        while (holder.getState() == Thread.State.NEW || holder.getState() == Thread.State.RUNNABLE) {
            Thread.yield();
        }
        enters();
        holder.join();
    }

    private static void enters() {
        synchronized (LOCK) {
            TASKS.get();
        }
    }

    private static void reads(int ms, ServerSocket server) throws Exception {
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket silent = server.accept()) {
            client.setSoTimeout(ms);
            InputStream in = client.getInputStream();
            in.read();
        } catch (java.net.SocketTimeoutException expected) {
            TASKS.get();
        }
    }
}
