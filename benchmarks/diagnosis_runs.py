"""Runs of the jobs with one fault each, and what the command line says of their event logs."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EMBERSCOPE = Path(sys.executable).with_name("emberscope")
SEVERITIES = ("critical", "high", "medium", "low", "info")
LONGEST_S = 600


@dataclass(frozen=True)
class Job:
    """One application that ran: what to diagnose (its event log, or its recorded run), exit code and the command that
    ran it."""

    log: Path
    code: int
    command: str


@dataclass(frozen=True)
class Facts:
    """What an event log says of the application: wall time, task time, and the findings as JSON has them."""

    wall_ms: int | None
    task_ms: int | None
    findings: list[dict[str, Any]]
    not_evaluated: list[dict[str, Any]]

    def rank(self, code: str) -> int | None:
        """The place of the first finding with this code, from 1."""
        return next((n for n, one in enumerate(self.findings, 1) if one["code"] == code), None)

    @property
    def worst(self) -> dict[str, Any] | None:
        return min(self.findings, key=lambda one: SEVERITIES.index(one["severity"]), default=None)


def run(fault: str, folder: Path, *, healthy: bool, scale: float, properties: Path | None, resume: bool) -> Job:
    """Runs a job with its event log in `folder`; with `resume`, one that has run there already is kept.

    A fault whose rule looks at stacks is recorded. Raises RuntimeError where no event log was written.
    """
    arguments = ["-m", "tests.jobs.faults", fault, *(["--healthy"] if healthy else []), "--scale", f"{scale:g}"]
    recorded = str(importlib.import_module(f"tests.jobs.faults.{fault}").CODE).startswith("S")
    store = folder / "runs"
    shown = " ".join(
        [
            "python",
            *arguments,
            *("--log-dir", "DIR"),
            *(["--store", "STORE"] if recorded else []),
            *(["--properties", "PATCH"] if properties else []),
        ]
    )
    said = folder / "job.json"
    if not (resume and said.exists() and _logs(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        said.unlink(missing_ok=True)
        for old in _logs(folder):
            old.unlink()
        arguments += ["--store", str(store)] if recorded else []
        arguments += ["--log-dir", str(folder), *(["--properties", str(properties)] if properties else [])]
        with (folder / "job.txt").open("wb") as output:
            try:
                code = subprocess.run(
                    [sys.executable, *arguments], cwd=ROOT, stdout=output, stderr=output, timeout=LONGEST_S
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
        said.write_text(json.dumps({"code": code}), encoding="utf-8")
    logs = _logs(folder)
    if not logs:
        raise RuntimeError(f"{fault}: no event log in {folder}; what the job said is in {folder / 'job.txt'}")
    return Job(store if recorded else logs[-1], json.loads(said.read_text(encoding="utf-8"))["code"], shown)


def facts(log: Path, findings: Path) -> Facts:
    """Diagnoses a log by the command line; the JSON document is left at `findings`."""
    emberscope("diagnose", str(log), "-o", str(findings), "--format", "json")
    (app,) = json.loads(emberscope("summary", str(log), "--json"))["apps"]
    document = json.loads(findings.read_text(encoding="utf-8"))
    return Facts(
        document["apps"][0]["duration_ms"],
        app["totals"]["executor_run_time_ms"],
        document["findings"],
        document["not_evaluated"],
    )


def emberscope(*arguments: str) -> str:
    """Standard output of the command. Raises RuntimeError with what it said where it fails."""
    done = subprocess.run([str(EMBERSCOPE), *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"emberscope {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def put_section(document: Path, heading: str, text: str) -> None:
    """Writes a section of a Markdown document anew and leaves its others as they are."""
    old = document.read_text(encoding="utf-8") if document.exists() else "# How accurate the diagnosis is\n"
    head, *sections = ("\n" + old).split("\n## ")
    kept = {section.partition("\n")[0]: section.partition("\n")[2].strip("\n") for section in sections}
    kept[heading] = text.strip("\n")
    body = "\n\n".join(f"## {name}\n\n{words}" for name, words in kept.items())
    document.write_text(f"{head.strip()}\n\n{body}\n", encoding="utf-8")


def say(text: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def seconds(ms: float | None) -> str:
    return "–" if ms is None else f"{ms / 1000:.1f} s"


def _logs(folder: Path) -> list[Path]:
    """The event logs in a folder, the newest last; a job that was killed leaves one that is in progress."""
    if not folder.exists():
        return []
    found = [path for path in folder.iterdir() if path.is_file() and path.name.startswith(("app-", "local-"))]
    return sorted(found, key=lambda path: path.stat().st_mtime)
