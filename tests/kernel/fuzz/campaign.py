"""Damaged recordings against the kernel in C, compiled to watch itself (AddressSanitizer, UndefinedBehaviorSanitizer).

    python -m tests.kernel.fuzz.campaign CORPUS... --count 100000

goes through the mutations of all .jfr and .jfr.gz in the directories and in tests/data/jfr. A mutation is made from its
number alone, so `--first N --count 1` repeats one. A memory error, an undefined operation, an exception that is no
answer, more than 10 seconds of CPU or more than 1 GiB end it with the number. Every second mutation takes the whole
reader too, but with `--kernel-only`.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.machinery
import importlib.util
import os
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SECONDS = 10
MEMORY_BYTES = 1 << 30
MOST_SEED_BYTES = 2_000_000
FLAGS = ["-std=c11", "-O2", "-g", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-DPy_LIMITED_API=0x030b0000"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compile_watched(folder: Path) -> Path:
    """The kernel as a library with both sanitizers."""
    library = folder / "_native.abi3.so"
    sources = sorted(str(path) for path in (ROOT / "src/emberscope/kernel/native").glob("*.c"))
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["gcc", *FLAGS, *SANITIZERS, include, *sources, "-o", str(library)], check=True)
    return library


def watched_environment() -> dict[str, str]:
    """What a Python needs to load such a library.

    What the kernel allocates is watched, and every object of Python that is larger than 512 bytes; the smaller ones too
    where PYTHONMALLOC=malloc is set, for five times the time.
    """
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    options = [
        "detect_leaks=0",
        "malloc_context_size=4",
        "quarantine_size_mb=32",
        f"max_allocation_size_mb={MEMORY_BYTES >> 20}",
        "allocator_may_return_null=0",
    ]
    return os.environ | {
        "LD_PRELOAD": found.stdout.strip(),
        "ASAN_OPTIONS": ":".join(options),
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def use(library: Path) -> Any:
    """Makes the kernel of everything that is imported from here on this one."""
    name = "emberscope.kernel._native"
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = module
    return module


def run(library: Path, corpus: list[Path], first: int, count: int, most_bytes: int, reader: bool) -> None:
    """The mutations, in this process. The number at hand is on the last line of the output when it dies."""
    native = use(library)
    from emberscope.errors import EmberscopeError
    from emberscope.jfr.recording import read_recording
    from emberscope.kernel import NATIVE
    from tests.kernel.fuzz.drive import drive
    from tests.kernel.fuzz.mutations import mutation, seeds

    assert NATIVE
    faulthandler.register(signal.SIGPROF, chain=True)  # tells where it is, then dies
    recordings = seeds([ROOT / "tests/data/jfr", *corpus], most_bytes)
    baseline = slowest = 0.0
    refused = 0
    for number in range(first, first + count):
        print(f"\r{number}", end="", flush=True)
        word, data, whole = mutation(recordings, number)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of CPU time: a busy machine is no hang
        started = time.process_time()
        try:
            drive(native, data, whole, thrift=bool(number & 2))
            if reader and number & 1:
                read_recording(data, word)
        except EmberscopeError:
            refused += 1
        except BaseException:
            print(f"\nmutation {number} ({word})", flush=True)
            raise
        slowest = max(slowest, time.process_time() - started)
        signal.setitimer(signal.ITIMER_PROF, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        baseline = baseline or peak
        if peak > baseline + MEMORY_BYTES:
            raise MemoryError(f"mutation {number} ({word}) took {peak >> 20} MiB")
    said = f"{count} mutations of {len(recordings)} recordings from {first} on: {refused} refused by the reader"
    print(f"\r{said}, slowest {slowest:.2f} s, peak {peak >> 20} MiB")


def main() -> int:
    """Compile, then run in processes of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="*", type=Path, help="directories with more recordings")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--most-bytes", type=int, default=MOST_SEED_BYTES, help="of a recording that is a seed")
    parser.add_argument("--kernel-only", action="store_true", help="leave out the reader above it")
    parser.add_argument("--library", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.library is not None:
        run(given.library, given.corpus, given.first, given.count, given.most_bytes, not given.kernel_only)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library = compile_watched(Path(folder))
        command = [sys.executable, "-m", "tests.kernel.fuzz.campaign", *map(str, given.corpus)]
        command += ["--library", str(library), "--first", str(given.first), "--count", str(given.count)]
        command += ["--most-bytes", str(given.most_bytes), *["--kernel-only"] * given.kernel_only]
        return subprocess.run(command, cwd=ROOT, env=watched_environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
