package io.emberscope;

import java.lang.management.ThreadInfo;

/** What a thread does, in the words of JFR's thread states, and one that it lacks: waiting in native code for I/O. */
enum WallState {
    RUNNABLE,
    WAITING_FOR_IO,
    SLEEPING,
    IN_OBJECT_WAIT,
    IN_OBJECT_WAIT_TIMED,
    PARKED,
    PARKED_TIMED,
    BLOCKED_ON_MONITOR_ENTER;

    /**
     * Java calls a thread runnable that waits for a socket, a file or a child process, since it does so in native code:
     * these are the packages whose native methods do nothing else. (Native code elsewhere, to unpack, say, is work.)
     */
    private static final String[] IO = {
        "java.net.", "java.io.", "sun.nio.ch.", "sun.nio.fs.", "java.lang.ProcessImpl", "java.lang.UNIXProcess",
        "java.lang.ProcessHandleImpl", "io.netty.channel.epoll.", "io.netty.channel.kqueue.",
        "org.apache.hadoop.net.unix.", "org.apache.hadoop.io.nativeio.",
    };

    static WallState of(ThreadInfo info, StackTraceElement[] stack) {
        String innermost = stack.length == 0 ? "" : stack[0].getClassName();
        Thread.State state = info.getThreadState();
        boolean timed = state == Thread.State.TIMED_WAITING;
        if (state == Thread.State.BLOCKED) {
            return BLOCKED_ON_MONITOR_ENTER;
        }
        if (!timed && state != Thread.State.WAITING) {
            return info.isInNative() && isIo(innermost) ? WAITING_FOR_IO : RUNNABLE;
        }
        // How it waits is told by the method that it waits in.
        if (innermost.equals("java.lang.Thread")) {
            return SLEEPING;
        }
        if (innermost.equals("java.lang.Object")) {
            return timed ? IN_OBJECT_WAIT_TIMED : IN_OBJECT_WAIT;
        }
        return timed ? PARKED_TIMED : PARKED;
    }

    private static boolean isIo(String className) {
        for (String start : IO) {
            if (className.startsWith(start)) {
                return true;
            }
        }
        return false;
    }
}
