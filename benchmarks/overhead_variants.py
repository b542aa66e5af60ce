"""What `overhead.py` compares: the same job without a recorder, with Emberscope's, and with what else there is."""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emberscope.recorder.jar import recorder_jar
from emberscope.recorder.plan import plan
from emberscope.recorder.settings import KINDS, SETTINGS

EXECUTORS: Final = 2
MASTER: Final = f"local-cluster[{EXECUTORS},1,2048]"
SPARK: Final = {
    "spark.executor.memory": "2g",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "WARN",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
FEW: Final = "1,9,13,18,21"
"""Five of the queries: aggregation, joins, text, large groups, and one table with itself."""
ENDED: Final = frozenset({"start", "stop", "recorder", "thread.start"})
"""Problems after which nothing, or not all, was recorded."""

OFF: Final = "off"
ROUNDS_AT_MOST: Final = 1000
"""Where each variant has rounds of its own, their numbers begin at multiples of it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a job. `recorder` is None where Emberscope's is not there, else its settings.

    `options` are added to those of each JVM, with `{out}` for a directory and `{library}` for async-profiler's.
    `against` names the variants that it is compared with.
    """

    name: str
    title: str
    job: str
    recorder: Mapping[str, str] | None = None
    event_log: bool = False
    agent: bool = True
    options: str = ""
    against: tuple[str, ...] = (OFF,)

    @property
    def key(self) -> str:
        return f"{self.job}/{self.name}"


JOBS: Final = {
    "queries": "TPC-H, all 22 queries",
    "few": f"TPC-H, queries {FEW.replace(',', ', ')}",
    "udf": "Python functions over `lineitem`",
}

PEER_CPU: Final = "-agentpath:{library}=start,event=ctimer,interval=20ms,jfr,file={out}/%p.jfr"
PEER_ALL: Final = (
    "-agentpath:{library}=start,event=cpu,interval=20ms,wall=50ms,alloc=512k,lock=10ms,jfr,file={out}/%p.jfr"
)
PEER_JFR: Final = "-XX:StartFlightRecording:settings=profile,dumponexit=true,filename={out}"

VARIANTS: Final = (
    Variant(OFF, "nothing", "queries"),
    Variant("off-again", "nothing, once more", "queries"),
    Variant("event-log", "Spark's event log alone", "queries", event_log=True),
    Variant("on", "Emberscope as it comes", "queries", recorder={}, event_log=True, against=(OFF, "event-log")),
    Variant(
        "on-no-agent",
        "Emberscope, JVMs without its agent",
        "queries",
        recorder={},
        event_log=True,
        agent=False,
        against=(OFF, "event-log"),
    ),
    Variant(
        "on-async",
        "Emberscope, engine async-profiler",
        "queries",
        recorder={"engine": "async-profiler", "engine.path": "{library}"},
        event_log=True,
        against=(OFF, "event-log"),
    ),
    Variant("peer-async-cpu", "async-profiler, CPU every 20 ms", "queries", options=PEER_CPU),
    Variant(
        "peer-async-all",
        "async-profiler, CPU every 20 ms, wall 50 ms, allocation 512 KiB, locks 10 ms",
        "queries",
        options=PEER_ALL,
    ),
    Variant("peer-jfr", "Flight Recorder, `settings=profile`", "queries", options=PEER_JFR),
    Variant(OFF, "nothing", "few"),
    Variant("on-all", "Emberscope, every kind of event", "few", recorder={"events": ",".join(KINDS)}, event_log=True),
    Variant(OFF, "nothing", "udf"),
    Variant("on", "Emberscope as it comes", "udf", recorder={}, event_log=True),
)


@dataclass(frozen=True, slots=True)
class Start:
    """What to start, and where what it records will lie."""

    command: list[str]
    environment: dict[str, str]
    out: Path
    store: Path | None = None
    status: Path | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run recorded. `fault` is empty where the recording is whole, so that its cost is that of a recording.

    `own_cpu_s` is what Emberscope itself says its threads took, up to the last part of each JVM's recording, and
    `rate_ratio` the mean share of the rates asked for that its budgets left.
    """

    fault: str = ""
    files: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)
    own_cpu_s: float | None = None
    rate_ratio: float | None = None


def why_not(variant: Variant, library: Path | None) -> str:
    """Why the variant cannot be run here; empty where it can."""
    if ("{library}" in variant.options or "engine.path" in (variant.recorder or {})) and library is None:
        return "async-profiler was not given (--async-profiler)"
    unknown = set(variant.recorder or {}) - {setting.name for setting in SETTINGS}
    return f"this recorder has no setting {', '.join(sorted(unknown))}" if unknown else ""


def async_library(given: Path, work: Path) -> Path:
    """The library itself, out of async-profiler's jar where that was given."""
    if given.suffix != ".jar":
        return given.resolve()
    processor = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
    library = work / f"{given.stem}-{processor}.so"
    with zipfile.ZipFile(given) as jar:
        library.write_bytes(jar.read(f"linux-{processor}/libasyncProfiler.so"))
    return library.resolve()


def start_of(variant: Variant, arguments: list[str], *, submit: Path, library: Path | None, scratch: Path) -> Start:
    """The launch of the job, with just the settings and options that `emberscope run` or a user would give it."""
    out = scratch / "recorded"
    out.mkdir(parents=True)
    places = {"{out}": str(out), "{library}": str(library)}
    settings = SPARK | {"spark.local.dir": str(scratch / "local")}
    if options := _filled(variant.options, places):
        settings |= {f"spark.{role}.extraJavaOptions": options for role in ("driver", "executor")}
    command = [str(submit), "--master", MASTER]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "VIRTUAL_ENV"))
    }
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(submit.with_name("python"))}
    command += arguments
    if not variant.event_log:
        return Start(command, environment, out)
    records = variant.recorder is not None
    store, own = out / "runs", scratch / "plan"
    own.mkdir()
    planned = plan(
        command,
        environment,
        store=store,
        group="default",
        jar=recorder_jar() if records else None,
        why_no_jar="only the event log is wanted",
        chosen={name: _filled(value, places) for name, value in (variant.recorder or {}).items()},
        with_agent=variant.agent,
        scratch=own,
    )
    launch = planned.launch
    return Start(launch.command, launch.environment, out, store if records else None, planned.status)


def _filled(text: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        text = text.replace(place, value)
    return text


def evidence(variant: Variant, start: Start) -> Evidence:
    """What was recorded, by the driver and by both executors."""
    if variant.event_log and not any(
        path.is_file() and path.stat().st_size for path in start.out.rglob(".incoming/**/*")
    ):
        return Evidence("no event log was written")
    if start.store is not None and start.status is not None:
        return _of_emberscope(start.store, start.status)
    files = sorted(start.out.glob("*.jfr")) if variant.options else []
    size = sum(file.stat().st_size for file in files)
    if variant.options and len([file for file in files if file.stat().st_size]) != 1 + EXECUTORS:
        return Evidence(f"{len(files)} recordings of {1 + EXECUTORS} JVMs", len(files), size)
    return Evidence("", len(files), size)


def _of_emberscope(store: Path, status: Path) -> Evidence:
    manifests = [json.loads(path.read_text()) for path in store.rglob("recordings/*/*.json")]
    who = {(manifest["role"], manifest["executor_id"]) for manifest in manifests}
    ended = {(manifest["role"], manifest["executor_id"]) for manifest in manifests if manifest["last"]}
    said = json.loads(status.read_text())["problems"] if status.exists() else []
    problems = sorted({f"{each['where']}: {each['message']}" for each in said})
    size = sum(manifest["bytes"] for manifest in manifests)
    fault = ""
    if not status.exists():
        fault = "the recorder did not start"
    elif len(who) != 1 + EXECUTORS or ended != who:
        fault = f"{len(who)} of {1 + EXECUTORS} JVMs were recorded, {len(ended)} to their end"
    elif any(each["where"] in ENDED for each in said):
        fault = "; ".join(problems)
    return Evidence(fault, len(manifests), size, problems, _own_cpu_s(manifests), _rate_ratio(manifests))


def _own_cpu_s(manifests: Iterable[Mapping[str, Any]]) -> float:
    """Each manifest has what its process took so far."""
    latest: dict[tuple[str, str], int] = {}
    for manifest in manifests:
        who = (manifest["role"], manifest["executor_id"])
        # What another process shipped for a dead one does not say it.
        latest[who] = max(latest.get(who, 0), manifest.get("own_cpu_ns") or 0)
    return sum(latest.values()) / 1e9


def _rate_ratio(manifests: Sequence[Mapping[str, Any]]) -> float | None:
    lengths = [manifest["last_ms"] - manifest["first_ms"] for manifest in manifests]
    if not sum(lengths):
        return None
    weighted = [length * manifest["rate_ratio"] for length, manifest in zip(lengths, manifests, strict=True)]
    return float(sum(weighted) / sum(lengths))
