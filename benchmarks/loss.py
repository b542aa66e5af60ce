"""What is lost when processes of a recorded application die: `loss.py --work DIR [--only WAY]`, until enough have died.

Ways to die: `sigkill` and `sigterm` of an executor at a random moment, `dynamic` (dynamic allocation lets it go), and
`driver` (SIGKILL of the driver). Every death is a line of `DIR/deaths.jsonl`; a further run goes on where the last one
ended. What is recorded lies in `DIR/store`, spools in `DIR/spool`. At the end of each application all is checked:
every chunk whole by its checksum, readable, once; every chunk that was ever in the store still there, with the same
bytes; the job ended well, but where its driver was killed. Where something is wrong the deaths count all the same,
with what is wrong. Then the table. What is lost is told for each engine; the longest of them counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.loss_deaths import death_of
from benchmarks.loss_table import table

from emberscope.errors import InputError
from emberscope.jfr.recording import read_recording
from emberscope.sources.lost import executor_rows
from emberscope.sources.run import load_run
from emberscope.store.chunks import chunks_of

JOB = Path(__file__).with_name("loss_job.py")
WANTED = {"sigkill": 50, "sigterm": 20, "dynamic": 20, "driver": 10}
CHUNK_SECONDS = 5
DEATHS_PER_APPLICATION = 10
MOST_SECONDS = 900
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "1000",
    "spark.stage.maxConsecutiveAttempts": "1000",
    "spark.deploy.maxExecutorRetries": "-1",
}
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    # Else those that hold shuffle output stay for as long as it may be asked for.
    "spark.dynamicAllocation.shuffleTracking.timeout": "2s",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.maxExecutors": "3",
    "spark.dynamicAllocation.executorIdleTimeout": "2s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "2s",
}


@dataclass
class Application:
    """One application under `emberscope run`, and what was seen of its store while it ran."""

    work: Path
    way: str
    seen: dict[str, str] = field(default_factory=dict)
    """Chunks that were in the store at some time, with the checksums that their manifests had then."""
    killed: dict[str, dict[str, Any]] = field(default_factory=dict)
    hung: bool = False
    """Whether it did not end in time by itself."""

    def start(self) -> None:
        self.group = uuid.uuid4().hex[:12]
        self.until = self.work / f"{self.group}.end"
        master = "local[2]" if self.way == "driver" else "local-cluster[3,1,1024]"
        job_way = "bursts" if self.way == "dynamic" else "steady"
        command = [str(Path(sys.executable).with_name("emberscope")), "run", "--store", str(self.work / "store")]
        command += ["--group", self.group, "--chunk-seconds", str(CHUNK_SECONDS), "--", "spark-submit"]
        command += ["--master", master]
        spool = {"spark.emberscope.spool": str(self.work / "spool")}
        for key, value in (SETTINGS | spool | (DYNAMIC if self.way == "dynamic" else {})).items():
            command += ["--conf", f"{key}={value}"]
        self.log = (self.work / f"{self.group}.log").open("wb")
        self.process = subprocess.Popen(
            [*command, str(JOB), job_way, str(self.until)], stdout=self.log, stderr=self.log, start_new_session=True
        )
        self.deadline = time.monotonic() + MOST_SECONDS

    def dying(self) -> bool:
        """Whether it runs and there is time for more of its processes to die."""
        return self.running() and time.monotonic() < self.deadline - MOST_SECONDS / 2

    def running(self) -> bool:
        if not self.hung and time.monotonic() > self.deadline and self.process.poll() is None:
            self.hung = True
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.hung:
            return False
        self.watch()
        time.sleep(0.1)
        return self.process.poll() is None

    def watch(self) -> None:
        for path in (self.work / "store" / self.group).rglob("recordings/*/*.json"):
            if str(path) not in self.seen:
                self.seen[str(path)] = json.loads(path.read_bytes())["sha256"]

    def finish(self) -> None:
        self.until.touch()
        while self.running():
            pass
        self.log.close()
        self.until.unlink()

    def processes(self) -> dict[str, int]:
        """Pids of the JVMs of this application by executor id; the driver's is `driver`."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                same = os.getsid(int(entry.name)) == self.process.pid
            except (OSError, ValueError):
                continue
            if same and "--executor-id" in arguments:
                found[arguments[arguments.index("--executor-id") + 1]] = int(entry.name)
            elif same and "org.apache.spark.deploy.SparkSubmit" in arguments:
                found["driver"] = int(entry.name)
        return found

    def recording(self) -> set[int]:
        """Pids of all processes that record: their spools say so."""
        found = set()
        for document in (self.work / "spool").glob("*/*/process"):
            with suppress(OSError, StopIteration):
                lines = document.read_text().splitlines()
                found.add(int(next(line for line in lines if line.startswith("pid=")).removeprefix("pid=")))
        return found

    def death(self, name: str, death: dict[str, Any], own: list[dict[str, Any]], wrong: list[str]) -> dict[str, Any]:
        """What is kept of one death; `own` are the manifests of its process."""
        about = {"way": self.way, "chunk_seconds": CHUNK_SECONDS, "application": self.group, "executor": name}
        return about | death | death_of(death["death_ms"], own) | {"stated_ms": None, "wrong": wrong}

    def run(self) -> Path | None:
        return next((self.work / "store" / self.group).glob("*/*/application.json"), None)


def sleep_while(application: Application, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and application.running():
        pass


def kill_executors(application: Application, how: signal.Signals, deaths: int, moments: random.Random) -> None:
    """Kills one executor after the other, each at a random moment after its recorder has begun."""
    while len(application.killed) < deaths and application.dying():
        sleep_while(application, moments.uniform(0, 2 * CHUNK_SECONDS))
        recording = application.recording()
        alive = {name: pid for name, pid in application.processes().items() if pid in recording and name != "driver"}
        left = sorted(alive.keys() - application.killed.keys())
        if left:
            name = moments.choice(left)
            kill(application, name, alive[name], how)
    application.finish()


def kill(application: Application, name: str, pid: int, how: signal.Signals) -> None:
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
    application.killed[name] = {"pid": pid, "death_ms": time.time() * 1000}


def let_go(application: Application, deaths: int) -> None:
    """Lets dynamic allocation end so many executors."""
    gone: set[str] = set()
    known: set[str] = set()
    while len(gone) < deaths and application.dying():
        alive = set(application.processes()) - {"driver"}
        known |= alive
        gone = known - alive
    application.finish()


def kill_driver(application: Application, moments: random.Random) -> None:
    while not application.seen and application.running():
        pass
    sleep_while(application, moments.uniform(0, 2 * CHUNK_SECONDS))
    kill(application, "driver", application.processes()["driver"], signal.SIGKILL)
    application.finish()


def examine(application: Application) -> list[dict[str, Any]]:
    """The deaths in an application that has ended, each with what was lost and all that is wrong with its run."""
    wrong = [f"{path} was there and is gone" for path in application.seen if not Path(path).exists()]
    code = application.process.returncode
    if application.hung:
        wrong.append(f"the application did not end in {MOST_SECONDS} s; see {application.log.name}")
    elif code != 0 and application.way != "driver":
        wrong.append(f"the job ended with exit code {code}; see {application.log.name}")
    described = application.run()
    if described is None:
        wrong.append(f"no run was recorded; see {application.log.name}")
        return [application.death(name, death, [], wrong) for name, death in application.killed.items()]
    directory = described.parent
    last = manifests_of(application, directory, wrong)
    try:
        run = load_run(str(directory))
    except InputError as error:
        wrong.append(f"the run cannot be read: {error.reason}")
        killed = application.killed.items()
        return [application.death(name, death, last.get(name, []), wrong) for name, death in killed]
    wrong += [note.message for note in run.coverage.notes if note.code in ("missing_part", "cut")]
    rows = {row["id"]: row for row in executor_rows(run.tables.get("executors"), chunks_of(directory), run.application)}
    noted = {note.where.removeprefix("executor ") for note in run.coverage.notes if note.code == "executor_lost"}
    deaths = application.killed if application.way != "dynamic" else removed(rows)
    wrong += [f"{name} did not die and is said to be lost" for name in noted - deaths.keys()]
    out = []
    for name, death in deaths.items():
        found = application.death(name, death, last.get(name, []), wrong)
        # One that nobody heard of, neither Spark nor the store, cannot be told of: it counts as not recorded at all.
        if not found["closed"] and name not in noted and name in rows:
            wrong.append(f"{name} died and nothing is said of it")
        out.append(found | {"stated_ms": rows[name]["lost_ms"] if name in rows else None})
    return out


def manifests_of(application: Application, directory: Path, wrong: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The manifests of all chunks by executor; what is wrong with a chunk is added to `wrong`."""
    found: dict[str, list[dict[str, Any]]] = {}
    starts = set()
    for path in directory.rglob("recordings/*/*.jfr"):
        data = path.read_bytes()
        if not path.with_suffix(".json").exists():
            wrong.append(f"{path.name} has no manifest")
            continue
        manifest = json.loads(path.with_suffix(".json").read_bytes())
        digest = hashlib.sha256(data).hexdigest()
        if digest != manifest["sha256"] or application.seen.get(str(path.with_suffix(".json")), digest) != digest:
            wrong.append(f"{path.name} has another checksum")
        start = (path.parent.name, manifest["engine"], manifest["first_ms"])
        if start in starts:
            wrong.append(f"{path.name} is there twice")
        starts.add(start)
        try:
            read_recording(data, path.name)
        except InputError as error:
            wrong.append(f"{path.name} cannot be read: {error.reason}")
        manifest["arrived_ms"] = path.with_suffix(".json").stat().st_mtime_ns / 1e6
        found.setdefault(manifest["executor_id"], []).append(manifest)
    return found


def removed(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The executors that dynamic allocation let go."""
    return {
        name: {"death_ms": row["removed"]}
        for name, row in rows.items()
        if row["removed"] is not None and name != "driver"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=Path, help="where results and recordings are kept")
    parser.add_argument("--only", choices=sorted(WANTED), action="append")
    parser.add_argument("--most", type=int, default=10**6, help="most applications of this call")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    (given.work / "spool").mkdir(parents=True, exist_ok=True)
    kept = given.work.resolve() / "deaths.jsonl"
    moments = random.Random(given.seed)
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    applications = 0
    for way in given.only or WANTED:
        while applications < given.most:
            missing = WANTED[way] - sum(death["way"] == way for death in done)
            if missing <= 0:
                break
            application = Application(given.work.resolve(), way)
            application.start()
            deaths = min(missing, DEATHS_PER_APPLICATION)
            if way == "driver":
                kill_driver(application, moments)
            elif way == "dynamic":
                let_go(application, deaths)
            else:
                how = signal.SIGKILL if way == "sigkill" else signal.SIGTERM
                kill_executors(application, how, deaths, moments)
            try:
                found = examine(application)
            except Exception as failed:
                # A run that breaks the examination is what this is to find: its deaths are kept.
                wrong = [f"the examination failed: {failed!r}"]
                found = [application.death(name, death, [], wrong) for name, death in application.killed.items()]
                if not found:
                    raise
            if not found and application.hung:
                raise RuntimeError(f"the application did not end, and nothing in it died; see {application.log.name}")
            with kept.open("a") as out:
                out.writelines(json.dumps(death) + "\n" for death in found)
            done += found
            applications += 1
            print(f"{way}: {len(found)} deaths, {found[0]['wrong'] if found else []}", file=sys.stderr, flush=True)
    print(table(done))
    return 1 if any(death["wrong"] for death in done) else 0


if __name__ == "__main__":
    sys.exit(main())
