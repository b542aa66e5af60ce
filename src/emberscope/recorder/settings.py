"""The settings `spark.emberscope.*` of the recorder: what each is for, its default and unit.

`docs/settings.md` is made from this list; the plugin keeps its own copy of keys, types and defaults (`Settings.java`),
and a test keeps the two alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emberscope.errors import UsageError

PREFIX: Final = "spark.emberscope."
PLUGIN_CLASS: Final = "io.emberscope.EmberscopePlugin"

ENGINES: Final = ("auto", "jfr", "async-profiler")
ASYNC_PROFILER: Final = "tools.profiler:async-profiler:4.5"
"""Its jar, as `--packages` names it."""


KINDS: Final = (
    *("cpu", "wall", "alloc", "live", "heap", "lock", "gc"),
    *("safepoint", "nativemem", "io", "jit", "classes"),
)
"""What can be asked for (`Settings.java` has the same list)."""
EVENTS: Final = ("cpu", "wall", "alloc", "lock", "gc")
"""What is recorded unless something else is asked for."""
EVENTS_HELP: Final = (
    f"What is recorded, with commas between: any of {', '.join(KINDS)}. Unless given: {','.join(EVENTS)}."
)
"""Of the option `--events`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `kind` is boolean, count, ratio, time, size, path, name or names (separated by commas)."""

    name: str
    kind: str
    default: str
    unit: str
    doc: str

    @property
    def key(self) -> str:
        return PREFIX + self.name


SETTINGS: Final = (
    Setting("enabled", "boolean", "true", "", "The switch for everything: with false the plugin does nothing at all."),
    Setting(
        "store",
        "path",
        "",
        "",
        "Where runs are kept: a directory, or a URI of any file system that Hadoop knows here (hdfs://…, s3a://…). "
        "A path without a scheme is a local directory, on a cluster one on every host. Without it nothing is recorded.",
    ),
    Setting("group", "name", "default", "", "Part of the run's path: <store>/<group>/<application id>/<attempt>."),
    Setting(
        "engine",
        "name",
        "auto",
        "",
        "What takes the samples. jfr: JDK Flight Recorder alone. async-profiler: that one (4.x) for cpu, wall, "
        "alloc, live, lock and nativemem, and Flight Recorder for all else. auto: async-profiler where its library "
        "is there and no process has crashed with it on this host, else jfr; wall stays with the recorder's own "
        "sampler. Where async-profiler cannot be used, one sentence in the coverage says why. Its library is there "
        "where its jar is on the class path, such as by "
        f"`--packages {ASYNC_PROFILER}`, or where spark.emberscope.engine.path names it.",
    ),
    Setting(
        "engine.path",
        "path",
        "",
        "",
        "The jar or the library (libasyncProfiler.so) of async-profiler, on every host. Where there is no such file "
        "the class path is searched.",
    ),
    Setting(
        "engine.options",
        "names",
        "",
        "",
        "Options for async-profiler in its own language, such as cstack=dwarf,alluser. They come last and replace "
        "those of the recorder. Left out are actions, outputs and files (start, stop, dump, jfr, file, loop and the "
        "like).",
    ),
    Setting(
        "engine.retry",
        "boolean",
        "false",
        "",
        "With engine=async-profiler: start it although a process has crashed with it on this host, and forget that "
        "crash. A note of each start is kept in /var/tmp/emberscope-<user>, else in ~/.emberscope, else in the JVM's"
        " temporary directory. A crash is a process that left its note and a report of HotSpot (hs_err) behind, or "
        "two in a row that ended within ten seconds of the start. It counts for that version of the library on that "
        "version of Java.",
    ),
    Setting(
        "events",
        "names",
        ",".join(EVENTS),
        "",
        "What is recorded: cpu (CPU samples), wall (where tasks and the driver are, and whether they run or wait), "
        "alloc (allocation samples, JDK 16 or newer), live (some of the objects that outlive a collection, with where "
        "they were made), heap (what the heap holds by class, now and then), lock (waits for monitors and parked "
        "threads), gc (collections, pauses, heap), safepoint (operations for which the JVM stands still), nativemem "
        "(direct buffers; from JDK 20 on what the JVM itself takes, where it runs with "
        "-XX:NativeMemoryTracking=summary), io (waits for files and sockets; not those in a selector, where Netty and "
        "Python workers wait), jit (compilations, deoptimisations), classes (class loading, metaspace). What a JVM "
        "lacks is left out, and that is said. CPU load, memory of the process and task spans always are recorded.",
    ),
    Setting("driver.enabled", "boolean", "true", "", "Whether the driver is recorded too."),
    Setting(
        "fraction",
        "ratio",
        "1.0",
        "0 to 1",
        "Share of the executors that are recorded, by a hash of application and executor id. Executors 0 and 1 always "
        "are.",
    ),
    Setting(
        "chunk.seconds",
        "count",
        "30",
        "s",
        "How often a self-contained chunk is closed and shipped. A killed process loses at most what came after the "
        "last one that arrived, less where its disk can still be read.",
    ),
    Setting(
        "rate.cpu",
        "time",
        "20ms",
        "ms",
        "CPU sampling period. On JDK 25 and Linux, and with async-profiler, CPU time per thread. Flight Recorder of "
        "older ones looks at up to five busy threads now and then, on a thread of its own that costs the same however "
        "little they do: every 40 ms unless this is set. A recording of your own with a shorter period makes it "
        "shorter for both.",
    ),
    Setting(
        "rate.wall",
        "time",
        "200ms",
        "ms",
        "Mean time between two looks at the threads of running tasks, and at those of the driver that have work. With "
        "engine=async-profiler between two looks at any thread.",
    ),
    Setting("rate.alloc", "count", "150", "samples/s", "Most allocation samples per second of one process."),
    Setting(
        "rate.alloc.bytes",
        "size",
        "2m",
        "bytes",
        "With async-profiler: memory allocated between two samples (alloc, live).",
    ),
    Setting(
        "rate.nativemem", "size", "1m", "bytes", "With async-profiler: native memory allocated between two samples."
    ),
    Setting("rate.lock", "time", "20ms", "ms", "Shortest wait for a monitor or a parked thread that is recorded."),
    Setting("rate.io", "time", "10ms", "ms", "Shortest wait for a file or a socket that is recorded."),
    Setting(
        "rate.heap",
        "time",
        "60s",
        "ms",
        "Time between two looks at what the heap holds. The JVM stands still for a look, so there are fewer where they "
        "would take more than 0.5 % of its time all together.",
    ),
    Setting("rate.safepoint", "time", "1ms", "ms", "Shortest operation of the standing JVM that is recorded."),
    Setting("rate.jit", "time", "50ms", "ms", "Shortest compilation of a method that is recorded by itself."),
    Setting("rate.classes", "time", "10ms", "ms", "Shortest loading of a class that is recorded by itself."),
    Setting(
        "rate.series",
        "time",
        "1s",
        "ms",
        "Period of all that is counted rather than sampled: CPU load, memory, loaded classes, compilations.",
    ),
    Setting(
        "depth",
        "count",
        "1024",
        "frames",
        "Deepest stack that is kept whole. It can only be set before Flight Recorder starts: where you started it, its "
        "own depth holds, and that is reported.",
    ),
    Setting(
        "budget.cpu",
        "ratio",
        "0.015",
        "0 to 1",
        "Share of a process's CPU time, or of one core's where it uses less, that its recorder may use: its own "
        "threads, and an estimate of what samples cost the threads that are sampled. Beyond it samples are taken "
        "less often, down to a sixty-fourth, and more often again where there is room; each part of the recording "
        "says how often. 1 holds nothing back.",
    ),
    Setting(
        "budget.bandwidth",
        "size",
        "4m",
        "bytes/s",
        "What a process may send to the store by the second, on average: a part goes whole, and none while more than "
        "ten seconds' worth is owed. Where parts have to wait, samples are taken less often. The end of a process "
        "waits for nothing. 0: no limit.",
    ),
    Setting(
        "budget.bytes",
        "size",
        "0",
        "bytes",
        "What a process may send to the store in all. Samples are taken half as often with each half of what is left, "
        "near the end only task spans are recorded, and then nothing; all this is said. 0: no limit.",
    ),
    Setting(
        "budget.memory",
        "size",
        "10m",
        "bytes",
        "Memory that Flight Recorder may use for its buffers. async-profiler begins anew where its file has grown to "
        "half of it: for the stacks that it keeps it takes about five times what the file takes.",
    ),
    Setting(
        "budget.disk",
        "size",
        "256m",
        "bytes",
        "Local disk for chunks that are not shipped yet. Beyond it, and after ten chunks or five minutes, the oldest "
        "is lost, and the next manifest says so.",
    ),
    Setting(
        "budget.free",
        "size",
        "128m",
        "bytes",
        "Least free space where Flight Recorder keeps its chunks (see spool). Below it nothing is "
        "recorded any more, and that is said: a full disk there would end the JVM.",
    ),
    Setting(
        "spool",
        "path",
        "",
        "",
        "Local directory, there on every host, for what is not shipped yet. What a killed process leaves there is "
        "shipped by others of its application on the host. By default the first of these that is a disk with room: the "
        "container's LOCAL_DIRS on YARN, else SPARK_LOCAL_DIRS, spark.local.dir, the JVM's temporary directory.",
    ),
    Setting(
        "status",
        "path",
        "",
        "",
        "A local file of the driver that always holds the run's directory and all problems of the recorder, as JSON.",
    ),
    Setting(
        "invocation", "name", "", "", "An id that is copied into application.json, to find the run that one call made."
    ),
    Setting(
        "fault",
        "names",
        "",
        "",
        "For tests of the recorder alone: what is to fail (driver.init, registerMetrics, receive, driver.shutdown, "
        "executor.init, onTaskStart, onTaskSucceeded, onTaskFailed, executor.shutdown, thread.start, thread.ship, "
        "cpu.sampler).",
    ),
)


def check_events(text: str) -> str:
    """`text` if it is a list of events that can be recorded; raises `UsageError` where it is not."""
    names = [name.strip() for name in text.split(",")]
    unknown = next((name for name in names if name not in KINDS), None)
    if unknown is not None:
        hint = f"Choose from {', '.join(KINDS)}, with commas between."
        raise UsageError(f"--events {text!r}: {unknown!r} is nothing that can be recorded.", hint=hint)
    return text


def settings_page() -> str:
    """The text of `docs/settings.md`."""
    lines = [
        "# Settings of the recorder",
        "",
        "<!-- Made by docs/generate.py from src/emberscope/recorder/settings.py -->",
        "",
        f"The recorder is a Spark plugin (`spark.plugins={PLUGIN_CLASS}`). It reads these settings from Spark's own",
        "configuration, in the driver; executors get them from there. A value that cannot be used is reported, and the",
        "default holds.",
        "",
        "| setting | default | unit | what it does |",
        "| --- | --- | --- | --- |",
    ]
    for setting in SETTINGS:
        default = f"`{setting.default}`" if setting.default else "(none)"
        lines.append(f"| `{setting.key}` | {default} | {setting.unit} | {setting.doc} |")
    return "\n".join(lines) + "\n"
