"""Lines that profilers, JVMs and perf really wrote, quoted from where they are public."""

from __future__ import annotations

import pytest

from tests.rules.profilers.pasted import PROFILERS, answers, words_of

# code of the rule, what its finding must say, the text, and where the text is from.
_SAID = [
    (
        "P1",
        ("ctimer", "perf_event_paranoid"),
        # github.com/async-profiler/async-profiler/issues/1088
        "[WARN] Kernel symbols are unavailable due to restrictions. Try\n  sysctl kernel.perf_event_paranoid=1\n"
        "  sysctl kernel.kptr_restrict=0\n[WARN] perf_event_open for TID 1466 failed: Operation not permitted\n"
        "[WARN] perf_event_open for TID 1467 failed: Operation not permitted",
    ),
    # github.com/async-profiler/async-profiler/issues/292
    ("P1", ("seccomp",), "Perf events unavailable. See stderr of the target process."),
    # tools/perf/util/evsel.c of Linux
    (
        "P1",
        ("it is 3 here",),
        "Error:\nYou may not have permission to collect stats.\nperf_event_paranoid setting is 3:",
    ),
    (
        "P1",
        ("it is 4 here", "PERFMON"),
        # tools/perf/util/evsel.c of Linux 5.8 and later
        "Access to performance monitoring and observability operations is limited.\nConsider adjusting "
        "/proc/sys/kernel/perf_event_paranoid setting to open\naccess to performance monitoring and observability "
        "operations for processes\nwithout CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.\n"
        "perf_event_paranoid setting is 4:",
    ),
    (
        "P2",
        ("5 threads", "ulimit -l", "perf_event_mlock_kb"),
        # github.com/async-profiler/async-profiler/issues/875
        "[WARN] perf_event mmap failed: Operation not permitted\n" * 5,
    ),
    (
        "P2",
        ("perf_event_mlock_kb",),
        # tools/perf/builtin-record.c of Linux
        "Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb,\n"
        "or try again with a "
        "smaller value of -m/--mmap_pages.",
    ),
    # src/perfEvents_linux.cpp of async-profiler 4.5
    ("P3", ("ulimit -n",), "[ERROR] Perf events resource limit. Check 'ulimit -n'"),
    (
        "P4",
        ("finished chunks", "not recoverable"),
        # github.com/async-profiler/async-profiler/issues/1612
        "jfr print: No metadata event found in finished chunk.",
    ),
    (
        "P4",
        ("chunktime=30s",),
        # github.com/async-profiler/async-profiler/issues/398
        "org.openjdk.jmc.flightrecorder.internal.InvalidJfrFileException\n\tat "
        "org.openjdk.jmc.flightrecorder.internal.FlightRecordingLoader."
        "createChunkInput(FlightRecordingLoader.java:156)",
    ),
    # github.com/adoptium/aqa-tests/issues/3836
    ("P4", ("chunk",), "[0.780s][error][jfr] Could not finish chunk. /tmp/a/2022_07_02.part -> /tmp/a/2022_07_02.jfr"),
    (
        "P6",
        ("/app/logs/flight.jfr", "exist", "container"),
        # jdk.jfr.internal.dcmd.DCmdStart of OpenJDK, as a JVM prints it
        "[error][jfr,startup] Could not start recording, not able to write to file /app/logs/flight.jfr\n"
        "Error occurred during initialization of VM",
    ),
    # src/profiler.cpp of async-profiler 4.5
    ("P6", ("asprof stop",), "[ERROR] Profiler already started"),
    (
        "P7",
        ("/mnt/libasyncProfiler.so", "libstdc++.so.6", "did not start"),
        # github.com/async-profiler/async-profiler/issues/940
        "Error occurred during initialization of VM\nCould not find agent library /mnt/libasyncProfiler.so in absolute "
        "path, with error: libstdc++.so.6: cannot open shared object file: No such file or directory",
    ),
    (
        "P7",
        ("GLIBC_2.0", "musl or glibc"),
        # github.com/async-profiler/async-profiler/issues/909
        "Could not find agent library /opt/async-profiler/build/libasyncProfiler.so in absolute path, with error: "
        "/usr/glibc/lib/libgcc_s.so.1: version `GLIBC_2.0' not found (required by "
        "/opt/async-profiler/build/libasyncProfiler.so)",
    ),
    (
        "P7",
        ("statsd-jvm-profiler", "--jars"),
        # github.com/etsy/statsd-jvm-profiler/issues/53
        "Error opening zip file or JAR manifest missing : statsd-jvm-profiler-2.1.0-jar-with-dependencies.jar\n"
        "Error occurred during initialization of VM\nagent library failed to init: instrument",
    ),
    (
        "P7",
        ("goes on without it",),
        # github.com/async-profiler/async-profiler/issues/908
        "Target JVM failed to load /tmp/async-profiler-3.0-linux-arm64/bin/../lib/libasyncProfiler.so",
    ),
    (
        "P8",
        ("user of the JVM", "-agentpath"),
        # github.com/jattach/jattach/issues/47
        "com.sun.tools.attach.AttachNotSupportedException: Unable to open socket file "
        "/proc/20557/"
        "root/tmp/.java_pid20557: target process 20557 doesn't respond within 10500ms or HotSpot VM not "
        "loaded\n\tat "
        "jdk.attach/sun.tools.attach.VirtualMachineImpl.<init>(VirtualMachineImpl.java:100)",
    ),
    # github.com/async-profiler/async-profiler/issues/239
    ("P8", ("container",), "Could not start attach mechanism: No such file or directory"),
    (
        "P9",
        ("HADOOP-18173", "stream"),
        # connector/profiler of Spark, SparkAsyncProfiler.scala
        "24/06/01 10:00:00 ERROR ExecutorJVMProfiler: Exception occurred while writing some profiler output: \n"
        "java.io.FileNotFoundException: File does not exist: hdfs://nn:8020/profiles",
    ),
    (
        "P10",
        ("-Pjvm-profiler", "ap-loader", "one.profiler.AsyncProfilerLoader"),
        # what a JVM says where a class of connector/profiler's own imports is not there
        "java.lang.NoClassDefFoundError: one/profiler/AsyncProfilerLoader\n\tat "
        "org.apache.spark.profiler.SparkAsyncProfiler.<init>(SparkAsyncProfiler.scala:50)",
    ),
    (
        "P11",
        ("standard output", "yarn logs"),
        # github.com/uber-common/jvm-profiler/issues/42
        "Java Agent 1.0.0 premain args: reporter=com.uber.profiling.reporters.ConsoleOutputReporter",
    ),
    # what perf report prints for a JVM without a map; tools/perf/util/symbol.c of Linux
    (
        "P12",
        ("belongs to another user", "perf-4711.map"),
        "File /tmp/perf-4711.map not owned by current user or root, ignoring it.",
    ),
    ("P12", ("pid namespace",), "            7f2f6d1a2e10 [unknown] (/tmp/perf-3183.map)"),
    # tools/perf/util/data.c of Linux
    ("P15", ("JAVA_HOME", "kptr_restrict"), "File perf.data not owned by current user or root (use -f to override)"),
    (
        "P16",
        ("SYS_PTRACE",),
        # github.com/benfred/py-spy/issues/12
        "$ py-spy --flame profile.svg -- python manage.py runserver 0:8000\n\n"
        "Permission Denied: Try running again with "
        "elevated permissions by going 'sudo env \"PATH=$PATH\" !!'",
    ),
    # github.com/benfred/py-spy/issues/285
    ("P16", ("knows this Python",), "Error: Failed to find a python interpreter in the .data section"),
    (
        "P17",
        ("Profiler::recordSample", "newest"),
        # github.com/async-profiler/async-profiler/issues/899
        "#  SIGSEGV (0xb) at pc=0x00007fde52a6f072, pid=11, tid=1856\n#\n# Problematic frame:\n"
        "# C  [libasyncProfiler.so+0x1f072]  Profiler::recordSample(void*, unsigned long long, int, Event*)+0xa92",
    ),
    (
        "P17",
        ("forte_fill_call_trace_given_top",),
        # github.com/async-profiler/async-profiler/issues/461
        "# Problematic frame:\n# V  [libjvm.so+0x27f173]  forte_fill_call_trace_given_top(JavaThread*, "
        "ASGCT_CallTrace*, int, frame) [clone .isra.20]+0x15f",
    ),
    (
        "P18",
        ("DebugNonSafepoints", "UnlockDiagnosticVMOptions"),
        # src/hotspot/share/runtime/arguments.cpp of OpenJDK
        "Error: VM option 'DebugNonSafepoints' is diagnostic and must be enabled via -XX:+UnlockDiagnosticVMOptions.\n"
        "Error: Could not create the Java Virtual Machine.",
    ),
    (
        "P18",
        ("UnlockCommercialFeatures", "does not know"),
        # src/hotspot/share/runtime/arguments.cpp of OpenJDK
        "Unrecognized VM option 'UnlockCommercialFeatures'\nError: Could not create the Java Virtual Machine.",
    ),
    # tools/perf/util/evsel.c of Linux
    ("P23", ("cycles", "cpu-clock"), "Error:\nThe cycles event is not supported."),
    # tools/perf/util/stat-display.c of Linux
    ("P23", ("cache-misses", "ctimer"), "   <not supported>      cache-misses"),
    # tools/perf/util/session.c of Linux
    ("P19", ("37 chunks",), "Processed 81234 events and lost 37 chunks!\n\nCheck IO/CPU overload!"),
    # src/profiler.cpp of async-profiler 1.8
    ("P21", ("debug symbols",), "[ERROR] No AllocTracer symbols found. Are JDK debug symbols installed?"),
    # python/pyspark/errors/error-conditions.json of Spark 4
    ("P22", ("memory_profiler",), "Install the 'memory_profiler' library in the cluster to enable memory profiling."),
]


@pytest.mark.parametrize(("code", "words", "text"), _SAID)
def test_what_was_said_is_found_quoted_and_explained(code: str, words: tuple[str, ...], text: str) -> None:
    found = answers(text)
    assert code in found
    said = words_of(found[code])
    assert [word for word in words if word not in said] == []
    quoted = found[code].evidence[0]
    assert quoted.line is not None
    assert quoted.text.lstrip("“").partition("”")[0][:40] in text.splitlines()[quoted.line - 1]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, _, text in _SAID])
def test_nothing_else_is_said_of_it(code: str, text: str) -> None:
    others = set(answers(text)) - {code}
    assert others <= {"P1", "P2", "P7", "P8"} - {code}  # of a paste that shows two troubles
    assert len(others) <= 1


def test_every_rule_but_those_that_only_words_tell_has_a_line_here() -> None:
    told = {"P5", "P13", "P14", "P20"}  # each has a test of its own
    assert {rule.code for rule in PROFILERS} == {code for code, _, _ in _SAID} | told
