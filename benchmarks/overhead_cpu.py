"""The CPU of a command and of everything that it starts, however deep and however long it lives.

    python benchmarks/overhead_cpu.py [--threads emberscope,JFR] RESULT.json -- COMMAND...

runs the command and writes what it took as one JSON document. It ends when the last process of the command has ended,
with the command's exit code. Linux only. User and system time come from up to three counts:

- `group`: the kernel's own account of a control group (version 2) that the command is put into, where one may be made.
  Whatever a process does, its children stay in the group, so nothing can be missed.
- `waited`: what the kernel says of each process that is waited for. This program is the one that orphans come to
  (a "subreaper"), so that a daemon which outlives its parent is waited for here. It needs no rights. It misses only
  children whose parent lives on and refuses to know of them, by ignoring SIGCHLD. PySpark's daemon does, so that all
  of Python's workers are missing here.
- `seen`: /proc, looked at again and again: what each process had used when it was last seen. A lower bound. `unasked_s`
  is the part of those children that `waited` misses.

`cpu_s` is the best of them: `group`, else `waited` with `unasked_s`. `threads_s` is the CPU of the JVMs' threads whose
names begin with one of the words given, by the scheduler's count in nanoseconds, summed by name: what a recorder's own
threads take. The last look may be a tenth of a second before a JVM's end; what is done after it is missing there.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LOOK_S: Final = 0.1
LOOKS_PER_SEARCH: Final = 5
"""New processes and threads are searched for at every fifth look, for that takes longer."""
TICKS: Final = os.sysconf("SC_CLK_TCK")
ENDING: Final[list[int]] = []


def prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def end(number: int, _frame: object) -> None:
    # Once is enough: another one would come between what must still be done.
    if not ENDING:
        ENDING.append(number)
        raise SystemExit(128 + number)


def make_group() -> Path | None:
    """A new control group below our own; None where there is no hierarchy of version 2, or none may be joined."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        mount = next(fields[1] for fields in mounts if fields[2] == "cgroup2")
        group = Path(mount + own.rstrip("/")) / f"emberscope-overhead-{os.getpid()}"
        group.mkdir()
    except (OSError, StopIteration):
        return None
    # Whether a process may be moved there, only a process that goes there can say.
    _, status = os.waitpid(start(["true"], group), 0)
    if status == 0:
        return group
    group.rmdir()
    return None


def members(group: Path) -> set[int]:
    return set(map(int, (group / "cgroup.procs").read_text().split()))


def group_cpu(group: Path) -> tuple[float, float]:
    """User and system seconds."""
    fields = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(fields["user_usec"]) / 1e6, int(fields["system_usec"]) / 1e6


def read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def stat(path: str) -> tuple[str, list[str]]:
    """Name and the fields after it of a `stat` file of /proc; OSError where the process is gone."""
    text = read(path)
    opening, closing = text.index("("), text.rindex(")")
    return text[opening + 1 : closing], text[closing + 2 :].split()


def descendants(root: int) -> dict[int, tuple[str, int]]:
    """Name and parent of the processes below this one."""
    children: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError):
                name, fields = stat(f"/proc/{entry}/stat")
                children[int(fields[1])].append((int(entry), name))
    found: dict[int, tuple[str, int]] = {}
    ahead = [root]
    while ahead:
        parent = ahead.pop()
        for pid, name in children[parent]:
            found[pid] = name, parent
            ahead.append(pid)
    return found


def ignores_its_children(pid: int) -> bool:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigIgn:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGCHLD - 1) & 1)
    return False


def busy_s() -> float:
    """What all processors together have worked since the start of the machine."""
    fields = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq, *_ = fields
    return (user + nice + system + irq + softirq) / TICKS


@dataclass
class Looks:
    """What /proc showed. Keys of processes hold their start time, since numbers come again."""

    root: int
    prefixes: tuple[str, ...]
    group: Path | None
    limit_s: float
    processes: dict[tuple[int, str], float] = field(default_factory=dict)
    threads: dict[tuple[int, str], tuple[str, int]] = field(default_factory=dict)
    timeline: list[tuple[float, float]] = field(default_factory=list)
    unasked: dict[int, float] = field(default_factory=dict)
    known: set[int] = field(default_factory=set)
    deaf: set[int] = field(default_factory=set)
    """Processes that ignore their children."""
    cpu_s: float = 0.0
    """What the looking itself took."""

    def look(self, search: bool) -> None:
        if search:
            self.known = members(self.group) if self.group else set(descendants(self.root))
            self.deaf = set(filter(ignores_its_children, self.known))
        for pid in list(self.known):
            try:
                name, fields = stat(f"/proc/{pid}/stat")
            except (OSError, ValueError):
                self.known.remove(pid)
                continue
            own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
            self.processes[pid, fields[19]] = own / TICKS
            if int(fields[1]) in self.deaf:
                self.unasked[pid] = (own + waited) / TICKS
            if name == "java" and self.prefixes:
                with contextlib.suppress(OSError):
                    self.look_at_threads(pid, search)
        total = sum(group_cpu(self.group)) if self.group else sum(self.processes.values())
        self.timeline.append((time.time(), round(total, 3)))
        self.cpu_s = time.thread_time()

    def look_at_threads(self, pid: int, search: bool) -> None:
        if search:
            # Only now, since a thread gets its name when it is there already, and asking all of them takes its time.
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    name = read(f"/proc/{pid}/task/{thread}/comm").strip()
                    if name.startswith(self.prefixes):
                        self.threads.setdefault((pid, thread), (name, 0))
        for (process, thread), (name, _) in list(self.threads.items()):
            if process == pid:
                with contextlib.suppress(OSError):
                    used_ns = int(read(f"/proc/{pid}/task/{thread}/schedstat").split()[0])
                    self.threads[pid, thread] = (name, used_ns)

    def until(self, done: threading.Event) -> None:
        count, end = 0, time.monotonic() + self.limit_s
        while not done.wait(LOOK_S):
            self.look(search=count % LOOKS_PER_SEARCH == 0)
            count += 1
            if time.monotonic() > end:
                kill_descendants()

    def by_thread_s(self) -> dict[str, float]:
        out: dict[str, float] = defaultdict(float)
        for name, nanoseconds in self.threads.values():
            out[name] += nanoseconds / 1e9
        return {name: round(seconds, 4) for name, seconds in sorted(out.items())}


def start(command: list[str], group: Path | None) -> int:
    child = os.fork()
    if child:
        return child
    try:
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))
        os.execvp(command[0], command)
    except OSError as failed:
        print(f"{command[0]}: {failed}", file=sys.stderr)
    finally:
        os._exit(127)


def kill_descendants() -> int:
    count = 0
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            count += 1
    return count


@dataclass
class Waited:
    """What was waited for: the command and all that came of it."""

    main: int
    linger_s: float
    user_s: float = 0.0
    system_s: float = 0.0
    wall_s: float = 0.0
    processes: int = 0
    code: int = 127
    outlived: list[str] = field(default_factory=list)
    killed: int = 0

    def for_all(self, looks: Looks) -> None:
        began = time.monotonic()
        while True:
            try:
                pid, status, used = os.wait4(-1, 0 if not self.wall_s else os.WNOHANG)
            except ChildProcessError:
                return
            if pid:
                self.processes += 1
                self.user_s += used.ru_utime
                self.system_s += used.ru_stime
                looks.unasked.pop(pid, None)
            if pid == self.main:
                self.wall_s = time.monotonic() - began
                self.code = os.waitstatus_to_exitcode(status)
                self.outlived = sorted({name for name, _ in descendants(os.getpid()).values()})
            elif not pid:
                if time.monotonic() - began > self.wall_s + self.linger_s:
                    self.killed += kill_descendants()
                time.sleep(0.02)


def measure(
    command: list[str], *, prefixes: tuple[str, ...] = (), linger_s: float = 60.0, limit_s: float = 3600.0
) -> dict[str, Any]:
    """Runs the command to the end of its last process.

    Processes that go on `linger_s` after it are killed, and all of them after `limit_s`.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    group = make_group()
    busy_before_s, began = busy_s(), time.time()
    looks, done = Looks(os.getpid(), prefixes, group, limit_s), threading.Event()
    looker = threading.Thread(target=looks.until, args=(done,))
    try:
        waited = Waited(start(command, group), linger_s)
        looker.start()
        waited.for_all(looks)
    finally:
        done.set()
        if looker.ident:
            looker.join()
        end_all()
        used = group_cpu(group) if group else None
        if group:
            group.rmdir()
    return document(waited, looks, used, busy_s() - busy_before_s, began)


def end_all() -> None:
    """Leaves no process behind."""
    with contextlib.suppress(ChildProcessError):
        while True:
            kill_descendants()
            os.wait4(-1, 0)


def document(
    waited: Waited, looks: Looks, group: tuple[float, float] | None, all_s: float, began: float
) -> dict[str, Any]:
    unasked_s = sum(looks.unasked.values())
    user_s, system_s = group or (waited.user_s + unasked_s, waited.system_s)
    counts = {
        "waited": {
            "user_s": round(waited.user_s, 3),
            "system_s": round(waited.system_s, 3),
            "processes": waited.processes,
            "unasked_s": round(unasked_s, 3),
        },
        "seen": {"cpu_s": round(sum(looks.processes.values()), 3), "processes": len(looks.processes)},
    }
    if group:
        counts["group"] = {"user_s": round(user_s, 3), "system_s": round(system_s, 3)}
    return {
        "exit_code": waited.code,
        "wall_s": round(waited.wall_s, 3),
        "cpu_s": round(user_s + system_s, 3),
        "user_s": round(user_s, 3),
        "system_s": round(system_s, 3),
        "counted_by": "group" if group else "waited",
        "counts": counts,
        "outlived": waited.outlived,
        "killed": waited.killed,
        "threads_s": looks.by_thread_s(),
        "looking_cpu_s": round(looks.cpu_s, 3),
        "others_cpu_s": round(max(0.0, all_s - user_s - system_s - looks.cpu_s), 3),
        "began": began,
        "timeline": looks.timeline,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=Path)
    parser.add_argument("--threads", default="", help="words that the names of threads begin with, commas between")
    parser.add_argument("--linger", type=float, default=60.0, help="seconds that processes may outlive the command")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds after which everything is killed")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    chosen = parser.parse_args()
    command = chosen.command[1:] if chosen.command[:1] == ["--"] else chosen.command
    if not command:
        parser.error("a command is missing")
    # Whoever started this is not to leave a job behind.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    prefixes = tuple(word for word in chosen.threads.split(",") if word)
    used = measure(command, prefixes=prefixes, linger_s=chosen.linger, limit_s=chosen.limit)
    chosen.result.write_text(json.dumps(used) + "\n")
    code = int(used["exit_code"])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
