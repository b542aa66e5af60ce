"""After a job: what killed processes of a run left in their spools on this machine is put into the store.

A spool is the directory of one recording process (`Spool.java`); its lock is held as long as the process lives. The
recorder's jar does the work, since it alone decides what may leave a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

MOST_SECONDS: Final = 60
_SCHEMA: Final = "emberscope.spool/1"


def sweep(run: Path, said: Mapping[str, Any], *, java: str | None, jar: Path | None) -> str | None:
    """Put into `run` what its dead processes left on this machine; a sentence where not all of it could be.

    `said` is the run's `application.json`, which names the places of spools. Costs nothing where nobody left anything.
    """
    places = [Path(place) for place in said.get("spools") or () if isinstance(place, str)]
    documents = left_by(run, places)
    if not documents:
        return None
    if java is None or jar is None:
        return f"What {len(documents)} killed processes left on this machine stays there: there is no Java to fetch it."
    first = documents[0]
    command = [java, "-Xmx64m", "-cp", str(jar), "io.emberscope.Sweep", first["run"], first["app_id"], first["attempt"]]
    try:
        ran = subprocess.run(
            [*command, *map(str, places)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=MOST_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"What killed processes left on this machine could not be fetched: {error}."
    if ran.returncode != 0:
        words = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        return f"What killed processes left on this machine could not be fetched: {words[0]}."
    problem = _first_problem(ran.stdout)
    return f"Not all that killed processes left on this machine could be fetched: {problem}." if problem else None


def _first_problem(text: str) -> str:
    """Of what `Sweep` prints; it goes on where one chunk cannot be shipped. Empty for none."""
    try:
        problems = json.loads(text)["problems"]
        return str(problems[0]["message"]).rstrip(".") if problems else ""
    except (ValueError, LookupError, TypeError):
        return ""


def left_by(run: Path, places: Iterable[Path]) -> list[dict[str, str]]:
    """What the spools of dead processes of this run say of themselves."""
    found = []
    for place in places:
        for spool in sorted(place.glob("emberscope-*/process-*")):
            document = _description(spool)
            if document is not None and _is_of(document, run) and _is_dead(spool):
                found.append(document)
    return found


def _description(spool: Path) -> dict[str, str] | None:
    try:
        lines = (spool / "process").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None  # all of it is shipped, or it is somebody else's
    pairs = (line.partition("=") for line in lines)
    document = {key: urllib.parse.unquote_plus(value) for key, _, value in pairs}
    known = document.get("schema") == _SCHEMA and {"run", "app_id", "attempt"} <= document.keys()
    return document if known else None


def _is_of(document: Mapping[str, str], run: Path) -> bool:
    path = urllib.parse.unquote(urllib.parse.urlsplit(document["run"]).path)
    return os.path.normpath(path) == os.path.normpath(run)


def _is_dead(spool: Path) -> bool:
    """Whether nobody holds the lock: Java's locks and these are the same on Linux and macOS."""
    try:
        import fcntl
    except ImportError:
        return True  # Java looks again
    try:
        with (spool / "lock").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
