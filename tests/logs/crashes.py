# ruff: noqa: E501 - quoted as they were posted
"""Heads of crash reports as they were pasted in public, each with its source."""

from typing import Final

# https://github.com/apache/datafusion-comet/issues/1714, in the box of a terminal
BOXED: Final = """\
│ # A fatal error has been detected by the Java Runtime Environment:                          │
│ #                                                                                           │
│ #  SIGSEGV (0xb) at pc=0x00007f079663f84e, pid=18, tid=0x00007f07347ff700                   │
│ #                                                                                           │
│ # JRE version: OpenJDK Runtime Environment (Zulu 8.74.0.17-CA-linux64) (8.0_392-b08) (build 1.8.0_392-b08) │
│ # Java VM: OpenJDK 64-Bit Server VM (25.392-b08 mixed mode linux-amd64 compressed oops)     │
"""

# https://github.com/corretto/corretto-17/issues/239
IN_JVM: Final = """\
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007ff1bd689fa9, pid=5644, tid=5661
#
# JRE version: OpenJDK Runtime Environment Corretto-17.0.16.8.1 (17.0.16+8) (build 17.0.16+8-LTS)
# Java VM: OpenJDK 64-Bit Server VM Corretto-17.0.16.8.1 (17.0.16+8-LTS, mixed mode, sharing, tiered, compressed oops, compressed class ptrs, g1 gc, linux-amd64)
# Problematic frame:
# V  [libjvm.so+0x689fa9]  Dictionary::find(unsigned int, Symbol*, Handle)+0x39
"""

# https://github.com/Intel-bigdata/OAP/issues/1940
IN_NATIVE: Final = """\
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007fd7b0015292, pid=276093, tid=0x00007fd7b3d97700
#
# JRE version: Java(TM) SE Runtime Environment (8.0_212-b10) (build 1.8.0_212-b10)
# Java VM: Java HotSpot(TM) 64-Bit Server VM (25.212-b10 mixed mode linux-amd64 compressed oops)
# Problematic frame:
# C  [libspark_columnar_jni.so+0x258292]  Java_com_intel_oap_vectorized_BatchIterator_nativeProcess+0x472
#
# Failed to write core dump. Core dumps have been disabled. To enable core dumping, try "ulimit -c unlimited" before starting Java again
#
"""

# https://github.com/adoptium/adoptium-support/issues/234
IN_JAVA: Final = """\
 A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x0000000116aa3d6e, pid=16574, tid=217347
#
# JRE version: OpenJDK Runtime Environment AdoptOpenJDK (11.0.8+10) (build 11.0.8+10)
# Java VM: OpenJDK 64-Bit Server VM AdoptOpenJDK (11.0.8+10, mixed mode, tiered, compressed oops, g1 gc, bsd-amd64)
# Problematic frame:
# J 11279 c1 org.apache.spark.unsafe.Platform.putInt(Ljava/lang/Object;JI)V (10 bytes) @ 0x0000000116aa3d6e [0x0000000116aa3d40+0x000000000000002e]
#
"""

# https://github.com/xerial/snappy-java/issues/300
IN_LIBC: Final = """\
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGSEGV (0xb) at pc=0x00007fcfb60c7529, pid=1, tid=0x00007fcf713c2700
#
# JRE version: OpenJDK Runtime Environment (8.0_222-b10) (build 1.8.0_222-b10)
# Java VM: OpenJDK 64-Bit Server VM (25.222-b10 mixed mode linux-amd64 compressed oops)
# Problematic frame:
# C  [libc.so.6+0x34529]  abort+0x269
#
# Core dump written. Default location: /home/docker/core or core.1
#

---------------  T H R E A D  ---------------

Current thread (0x00007fcf9c04e800):  JavaThread "task-exec-thread-19" [_thread_in_native, id=108, stack(0x00007fcf712c2000,0x00007fcf713c3000)]

siginfo: si_signo: 11 (SIGSEGV), si_code: 128 (SI_KERNEL), si_addr: 0x0000000000000000
"""

# async-profiler, test-otel/hs_err_pid11755.log (Apache-2.0), shortened to what tells
REPORT: Final = """\
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  Internal Error (javaCalls.cpp:61), pid=11755, tid=11808
#  guarantee(thread->can_call_java()) failed: cannot make java calls from the native compiler
#
# JRE version: OpenJDK Runtime Environment Corretto-17.0.16.8.1 (17.0.16+8) (build 17.0.16+8-LTS)
# Problematic frame:
# V  [libjvm.so+0x82a3e7]  JavaCallWrapper::JavaCallWrapper(methodHandle const&, Handle, JavaValue*, JavaThread*)+0x1c7
#

---------------  S U M M A R Y ------------

Command Line: TestApp

Host: AMD EPYC 9R14, 8 cores, 15G, Amazon Linux release 2 (Karoo)
Time: Tue Aug  5 15:25:56 2025 UTC elapsed time: 19.308506 seconds (0d 0h 0m 19s)

---------------  T H R E A D  ---------------

Current thread (0x00007fce14193060):  JavaThread "C2 CompilerThread0" daemon [_thread_in_vm, id=11808, stack(0x00007fcdf460f000,0x00007fcdf4710000)]

Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
V  [libjvm.so+0x82a3e7]  JavaCallWrapper::JavaCallWrapper(methodHandle const&, Handle, JavaValue*, JavaThread*)+0x1c7
V  [libjvm.so+0x8c043b]  jni_CallStaticObjectMethodV+0x10b
C  [libasyncProfiler.so+0xe241]  JNIEnv_::CallStaticObjectMethod(_jclass*, _jmethodID*, ...)+0x81
C  [libasyncProfiler.so+0x3c124]  WallClock::signalHandler(int, siginfo_t*, void*)+0x114

Registers:
RAX=0x00007fce1d241000, RBX=0x00007fce14193060, RCX=0x00007fce1be6c910, RDX=0x00007fce1be6c940

GC Precious Log:
 CPUs: 8 total, 8 available
 Heap Max Capacity: 3904M

Environment Variables:
AWS_SECRET_ACCESS_KEY=hunter2hunter2

MemTotal:       15987660 kB
MemFree:         1324096 kB
MemAvailable:   12581352 kB

Resident Set Size: 64432K (peak: 64432K) (anon: 41292K, file: 23140K, shmem: 0K)

memory_limit_in_bytes: unlimited
"""

# https://github.com/apache/rocketmq/issues/1511 and https://github.com/shlee89/athena/issues/8
NO_MEMORY: Final = """\
#
# There is insufficient memory for the Java Runtime Environment to continue.
# Native memory allocation (mmap) failed to map 8589934592 bytes for committing reserved memory.
# Possible reasons:
#   The system is out of physical RAM or swap space
# Possible solutions:
#   Decrease Java heap size (-Xmx/-Xms)
# This output file may be truncated or incomplete.
#
#  Out of Memory Error (os_linux.cpp:2749), pid=21528, tid=0x00007f0ec97d5700
#
# JRE version:  (8.0_221-b11) (build )
"""
COMMIT: Final = (
    "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00007fe3b3e00000, 17179869184, 0) failed; "
    "error='Cannot allocate memory' (errno=12)\n"
)
# https://github.com/hsjfans/Error/issues/15: a small piece, not the heap
SMALL: Final = """\
# There is insufficient memory for the Java Runtime Environment to continue.
# Native memory allocation (mmap) failed to map 262144 bytes for committing reserved memory.
# An error report file with more information is saved as:
# /usr/local/tomcat/tomcat-1/bin/hs_err_pid11472.log
"""
