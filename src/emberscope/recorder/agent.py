"""Whether a JVM gets our agent, which keeps what it has compiled when Flight Recorder starts (`RetransformAgent.java`).

It only goes where its jar surely lies under this very path: a JVM does not start without an agent that it is told of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SUBMIT_OPTIONS: Final = "SPARK_SUBMIT_OPTS"
"""Options of the JVM that spark-submit starts on this host, in client mode the driver; they go nowhere else."""
EXECUTOR_OPTIONS: Final = "spark.executor.defaultJavaOptions"

_LAST_JAVA_IN_NEED: Final = 22
"""From 23 on Flight Recorder finds its events in the classes of the JDK themselves and rewrites none (measured: 17
loses all compiled code at its start, 25 none)."""
_PLAIN_PATH: Final = re.compile(r"[A-Za-z0-9_./+@-]+")
"""What needs no quotes in a line of options and ends no path in `-javaagent:PATH=OPTIONS`."""


def agent_option(jar: Path, java: str | None) -> str | None:
    """The option for a JVM of this host; None where that Java needs none or is not known, or the path is not plain."""
    version = _major_version(java)
    if version is None or version > _LAST_JAVA_IN_NEED or not _PLAIN_PATH.fullmatch(str(jar)):
        return None
    return f"-javaagent:{jar}"


def with_agent(environment: Mapping[str, str], option: str | None) -> dict[str, str]:
    """The environment in which the JVM that spark-submit starts gets the agent."""
    given = environment.get(SUBMIT_OPTIONS, "")
    if option is None or option in given:
        return dict(environment)
    return dict(environment) | {SUBMIT_OPTIONS: f"{given} {option}".strip()}


def executor_options(users: Mapping[str, str], option: str | None) -> dict[str, str]:
    """The setting for executors, where they surely start on this host: nobody else can say where their jar lies."""
    on_this_host = users.get("spark.master", "").startswith("local-cluster[")
    return {EXECUTOR_OPTIONS: option} if option is not None and on_this_host else {}


def _major_version(java: str | None) -> int | None:
    """The version of a `java` by the `release` file of its installation: 8, 11, 17."""
    if java is None:
        return None
    try:
        release = (Path(os.path.realpath(java)).parent.parent / "release").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.M)
    return int(found[1]) if found else None
