"""What exit codes mean: of Spark's own (SparkExitCode, ExecutorExitCode, ApplicationMaster), of YARN, of signals."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Code(Struct, frozen=True):
    """`short` ends a title (“… ended with exit code 52: …”), `means` is the mechanism, `look` what to do next."""

    short: str
    means: str
    look: str


_TRACE: Final = "Read the end of that process's stderr: the exception stands there."

PROCESS: Final[dict[int, Code]] = {
    1: Code(
        "an error of the program or of its start",
        "1 is what a JVM or a Python program ends with after an exception "
        "that nobody caught, or where it could not start. The code says no more.",
        _TRACE,
    ),
    50: Code(
        "an exception that nobody caught",
        "50 is Spark's own: a thread of the executor ended with an exception that nobody caught.",
        _TRACE,
    ),
    51: Code(
        "an exception while it handled another",
        "51 is Spark's own: the handler of uncaught exceptions failed too, "
        "mostly since there was no memory to write the log.",
        "Read the end of its stderr, and look at its memory.",
    ),
    52: Code(
        "its heap was full",
        "52 is Spark's own: an OutOfMemoryError ended the executor. It is the JVM's heap (or "
        "direct memory or Metaspace) that was full, not the container.",
        "Its stderr names the part that was full. More partitions, or a larger spark.executor.memory.",
    ),
    53: Code(
        "it could not make a local directory",
        "53 is Spark's own: no directory of spark.local.dir (LOCAL_DIRS of YARN) "
        "could be made: a full or read-only disk, or missing rights.",
        "Look at the disks of that host (`df -h`).",
    ),
    55: Code(
        "its local directories could not be made",
        "55 is Spark's own: the block store did not start.",
        "Look at the disks of that host (`df -h`).",
    ),
    56: Code(
        "it could not send heartbeats to the driver",
        "56 is Spark's own: the executor ended itself since its "
        "heartbeats to the driver failed too often: the driver is gone, in long garbage collections, or cut off.",
        "Look at the driver's log and garbage collection at that time.",
    ),
    57: Code(
        "a cancelled task did not stop",
        "57 is Spark's own: the task reaper ended the executor since a cancelled "
        "task did not stop in time (spark.task.reaper.killTimeout).",
        "Let the task's code answer interrupts.",
    ),
    58: Code(
        "it could not register with the driver again",
        "58 is Spark's own: the executor's block manager was refused when it came back.",
        "Look at the driver's log at that time.",
    ),
    126: Code(
        "a command that may not be executed",
        "126 is the shell's: the file is there but cannot be executed.",
        "Look at the rights of the interpreter or script.",
    ),
    127: Code(
        "a command that does not exist",
        "127 is the shell's: java, python or a script of the launch command was not found on that machine.",
        "Look at JAVA_HOME and PATH of the container (launch_container.sh).",
    ),
    129: Code(
        "its terminal hung up (SIGHUP)",
        "129 is 128 + 1, SIGHUP: the session that started the process was closed.",
        "Start the driver with nohup, or in cluster mode.",
    ),
    130: Code("it was interrupted (SIGINT)", "130 is 128 + 2, SIGINT: somebody pressed Ctrl-C.", "Ask who did."),
    134: Code(
        "the JVM aborted itself (SIGABRT)",
        "134 is 128 + 6, SIGABRT: the JVM gave up after a fault of native code or "
        "of its own, or -XX:+CrashOnOutOfMemoryError made it. It is no memory limit.",
        "Find the hs_err_pid file beside its stderr: it names the frame and library at fault.",
    ),
    135: Code(
        "a bus error (SIGBUS)",
        "135 is 128 + 7, SIGBUS: a file that is mapped into memory could not be read or "
        "written, mostly a full /dev/shm or disk.",
        "Look at the disks (`df -h`) and the hs_err_pid file.",
    ),
    136: Code("an arithmetic fault (SIGFPE)", "136 is 128 + 8, SIGFPE, of native code.", "Find the hs_err_pid file."),
    139: Code(
        "native code crashed (SIGSEGV)",
        "139 is 128 + 11, a segmentation fault: native code (a JNI or Python library, "
        "a codec, an agent) touched memory that is not its own. It is no memory limit; more memory does not "
        "help.",
        "Find the hs_err_pid file beside its stderr: it names the library. Try another version of it.",
    ),
    255: Code(
        "an error that was not told",
        "255 (-1) is what a launcher gives where the process ended without a code.",
        _TRACE,
    ),
}

MASTER: Final[dict[int, Code]] = {
    10: Code(
        "an exception in the application master",
        "10 is the ApplicationMaster's own: an exception that nobody caught outside of the user's class.",
        _TRACE,
    ),
    11: Code(
        "too many executors failed",
        "11 is the ApplicationMaster's own: more executors failed than "
        "spark.yarn.max.executor.failures (spark.executor.maxNumFailures) allows.",
        "Why the executors failed is the question: read the first of them.",
    ),
    12: Code(
        "the master could not talk to YARN",
        "12 is the ApplicationMaster's own: its reports to the ResourceManager failed.",
        "Look at the ResourceManager at that time.",
    ),
    14: Code("a security fault", "14 is the ApplicationMaster's own: access was refused.", _TRACE),
    15: Code(
        "the user's class threw an exception",
        "15 is the ApplicationMaster's own: the program's main method ended with an exception.",
        _TRACE,
    ),
    16: Code(
        "it was ended before it reported its end",
        "16 is the ApplicationMaster's own: it was shut down from outside "
        "(SIGTERM), or the program called System.exit before its SparkContext was stopped.",
        "Look for “RECEIVED SIGNAL TERM” in its log, and who stopped the application.",
    ),
    17: Code(
        "the driver was disconnected",
        "17 is the ApplicationMaster's own: in client mode the driver went away.",
        "Look at the driver: its machine, its terminal, its log.",
    ),
    101: Code(
        "the main class was not found",
        "101 is spark-submit's own: the class of --class is not in the jar.",
        "Look at --class and the jar.",
    ),
}

YARN: Final[dict[int, Code]] = {
    -101: Code(
        "the node's disks are full or bad",
        "-101 is YARN's DISKS_FAILED: too many local or log directories of the "
        "NodeManager were unusable (90 % full by default).",
        "Look at the disks of that node (`df -h`).",
    ),
    -105: Code(
        "the application master let it go", "-105: the ApplicationMaster asked for its end.", "Nothing, by itself."
    ),
    -106: Code(
        "the ResourceManager ended it",
        "-106: the ResourceManager asked for its end, as when the application is killed.",
        "See who ended the application.",
    ),
    -1000: Code(
        "YARN could not start it",
        "-1000 is YARN's INVALID: the container was not launched: a file to be localized "
        "was missing or changed, or the user may not run there.",
        "Read the diagnostics under that line.",
    ),
}
