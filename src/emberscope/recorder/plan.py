"""Before a job: what can be recorded, and with which settings; for all that cannot, the reason."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emberscope.recorder.agent import agent_option
from emberscope.recorder.launch import Launch, prepare, uses_connect
from emberscope.recorder.merge import EVENT_LOG_DIR, EVENT_LOG_ENABLED
from emberscope.recorder.settings import PLUGIN_CLASS, PREFIX
from emberscope.recorder.spark import Spark, find_java, find_spark

# Spark before 3.1 loads executor plugins before it fetches spark.jars, so the jar must lie on the class path.
_JARS_TOO_LATE: Final = ("3.0",)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to start a job. `lost` says in sentences what will not be recorded and why; `plugin` is None for no recorder.

    `incoming` is where a new event log arrives, None where the user has one or none is made.
    """

    launch: Launch
    invocation: str
    plugin: str | None
    status: Path
    incoming: Path
    lost: tuple[str, ...] = ()


def plan(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    store: Path | None,
    why_no_store: str = "",
    group: str,
    jar: Path | None,
    why_no_jar: str = "",
    chosen: Mapping[str, str],
    with_agent: bool = True,
    scratch: Path,
) -> Plan:
    """The launch of `command` with everything that can be recorded.

    `store` and `jar` are None where they cannot be used, with the reason beside them. `chosen` are the recorder's
    settings that were given on our own command line, without their prefix; they win over the user's configuration.
    `with_agent` lets JVMs of this host that need it have our agent. Files are written below `scratch` and below the
    store's `.incoming`.
    """
    invocation = uuid.uuid4().hex[:16]
    status = scratch / "status.json"
    lost: list[str] = []
    spark = find_spark(command, environment)
    java = find_java(environment)
    if java is None:
        lost.append(_no_java(environment))
    if spark is None:
        lost.append("Not recorded: no Spark was found for this command. Set SPARK_HOME, or start spark-submit by name.")
    if store is None:
        lost.append(f"Nothing is recorded: {why_no_store}")
    if uses_connect(command, environment):
        lost.append("Not recorded: this is a Spark Connect client. Start its server under `emberscope run`.")
    if store is None or spark is None or uses_connect(command, environment):
        untouched = Launch(list(command), dict(environment), None)
        return Plan(untouched, invocation, None, status, scratch / "incoming", tuple(lost))

    incoming = store / ".incoming" / invocation
    incoming.mkdir(parents=True)
    ours = {EVENT_LOG_ENABLED: "true", EVENT_LOG_DIR: incoming.as_uri(), f"{PREFIX}invocation": invocation}
    plugin = agent = None
    if not spark.has_plugins:
        lost.append(
            f"Only the event log is read: Spark {spark.version} is too old for the recorder, which needs 3.0 or later."
        )
    elif jar is None:
        lost.append(f"Only the event log is read: {why_no_jar}")
    else:
        plugin = PLUGIN_CLASS
        agent = agent_option(jar, java) if with_agent else None
        ours |= _recorder_settings(spark, jar, store, group, status, chosen)
    plugin_jar = jar if plugin else None
    launch = prepare(
        command, environment, spark, ours, forced=_forced(chosen), jar=plugin_jar, agent=agent, scratch=scratch
    )
    if launch.event_log_dir is None:
        lost.append("No event log is written: the configuration says spark.eventLog.enabled=false. Set it to true.")
    return Plan(launch, invocation, plugin, status, incoming, tuple(lost))


def _recorder_settings(
    spark: Spark, jar: Path, store: Path, group: str, status: Path, chosen: Mapping[str, str]
) -> dict[str, str]:
    settings = {
        "spark.plugins": PLUGIN_CLASS,
        "spark.jars": ",".join([str(jar), *_engine_jar(chosen)]),
        f"{PREFIX}store": str(store),
        f"{PREFIX}group": group,
        f"{PREFIX}status": str(status),
    } | {f"{PREFIX}{name}": value for name, value in chosen.items()}
    if spark.version is not None and spark.version.startswith(_JARS_TOO_LATE):
        settings |= {"spark.driver.extraClassPath": str(jar), "spark.executor.extraClassPath": str(jar)}
    return settings


def _engine_jar(chosen: Mapping[str, str]) -> list[str]:
    """The jar of an engine, which Spark then brings to executors on other hosts; a library it cannot bring."""
    path = chosen.get("engine.path", "")
    return [path] if path.endswith(".jar") else []


def _forced(chosen: Mapping[str, str]) -> frozenset[str]:
    """Settings of ours that hold whatever the user's configuration says: those of this very call."""
    return frozenset(f"{PREFIX}{name}" for name in ("store", "group", "status", "invocation", *chosen))


def _no_java(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    if home:
        return f"Java is missing: JAVA_HOME is {home}, and there is no bin/java in it. Spark cannot start without one."
    return "Java is missing: JAVA_HOME is not set and there is no java on PATH. Spark cannot start without one."
