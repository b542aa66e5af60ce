"""How our settings reach Spark: as arguments of spark-submit, or as a configuration directory for everything else.

Nothing of the user's is edited. What their code sets wins over both ways, since Spark lets it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emberscope.recorder import properties, submit_arguments
from emberscope.recorder.agent import executor_options, with_agent
from emberscope.recorder.merge import merge
from emberscope.recorder.spark import Spark

DEFAULTS: Final = "spark-defaults.conf"
ENVIRONMENT_SCRIPT: Final = "spark-env.sh"
SUBMIT_ARGS: Final = "PYSPARK_SUBMIT_ARGS"
CLASS_PATH: Final = "SPARK_DIST_CLASSPATH"
"""What Spark's launcher puts last on the class path of every JVM that it starts."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: `command` with `environment`. `event_log_dir` is where the log will lie, None for no log.

    `users` are the settings that the user gives outside the code.
    """

    command: list[str]
    environment: dict[str, str]
    event_log_dir: str | None
    users: dict[str, str] = field(default_factory=dict)


def prepare(
    command: Sequence[str],
    environment: Mapping[str, str],
    spark: Spark,
    ours: Mapping[str, str],
    *,
    forced: frozenset[str],
    jar: Path | None,
    agent: str | None = None,
    scratch: Path,
) -> Launch:
    """The command with our settings merged into the user's. Files are written below `scratch` only.

    `agent` is the option of a JVM that has it. `jar` is also put on Spark's class path, behind all else: code that sets
    `spark.jars` itself takes our jar off that list but leaves the plugin, and an executor that does not find a plugin
    does not start.
    """
    program = os.path.basename(command[0])
    environment = with_agent(environment, agent)
    if program in submit_arguments.PROGRAMS:
        return _by_arguments(command, environment, spark, ours, forced, jar, agent, program)
    return _by_directory(command, environment, spark, ours, forced, jar, scratch)


def uses_connect(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the command is a Spark Connect client, whose application runs in a server that we do not start."""
    program = os.path.basename(command[0])
    given = submit_arguments.settings(command[1:], program=program) if program in submit_arguments.PROGRAMS else {}
    return bool(given.get("spark.remote") or environment.get("SPARK_REMOTE"))


def _by_arguments(
    command: Sequence[str],
    environment: Mapping[str, str],
    spark: Spark,
    ours: Mapping[str, str],
    forced: frozenset[str],
    jar: Path | None,
    agent: str | None,
    program: str,
) -> Launch:
    arguments = list(command[1:])
    users = _file_settings(arguments, environment, spark, program)
    users |= submit_arguments.settings(arguments, program=program)
    merged = merge(dict(ours) | executor_options(users, agent), users, forced=forced)
    placed = submit_arguments.with_settings(arguments, merged.values, program=program)
    changed = dict(environment)
    if jar is not None:
        changed[CLASS_PATH] = ":".join(filter(None, [environment.get(CLASS_PATH), str(jar)]))
    return Launch([command[0], *placed], changed, merged.event_log_dir, users)


def _by_directory(
    command: Sequence[str],
    environment: Mapping[str, str],
    spark: Spark,
    ours: Mapping[str, str],
    forced: frozenset[str],
    jar: Path | None,
    scratch: Path,
) -> Launch:
    """A copy of the user's configuration directory with our lines behind theirs, named by SPARK_CONF_DIR.

    `spark-defaults.conf` is the weakest place for a setting, so that all that the code and its arguments say wins.
    pyspark adds PYSPARK_SUBMIT_ARGS to the command line of its JVM, which is stronger: settings that stand there are
    merged there.
    """
    submit_args = shlex.split(environment.get(SUBMIT_ARGS, ""))
    users = _file_settings(submit_args, environment, spark, "pyspark")
    users |= submit_arguments.settings(submit_args, program="pyspark")
    merged = merge(ours, users, forced=forced)

    changed = dict(environment)
    named = submit_arguments.properties_file(submit_args, program="pyspark")
    if named is not None and not submit_arguments.reads_defaults_too(submit_args):
        there = merged.values
    else:
        given = submit_arguments.settings(submit_args, program="pyspark")
        there = {key: value for key, value in merged.values.items() if key in given}
    if there:
        changed[SUBMIT_ARGS] = shlex.join(submit_arguments.with_settings(submit_args, there, program="pyspark"))
    changed["SPARK_CONF_DIR"] = str(_write_directory(environment, spark, merged.values, jar, scratch / "conf"))
    return Launch(list(command), changed, merged.event_log_dir, users)


def _file_settings(
    arguments: Sequence[str], environment: Mapping[str, str], spark: Spark, program: str
) -> dict[str, str]:
    """The settings of `spark-defaults.conf`, or of the properties file that is read in its place."""
    defaults = _read(spark.conf_dir(environment) / DEFAULTS)
    named = submit_arguments.properties_file(arguments, program=program)
    if named is None:
        return properties.parse(defaults)
    own = properties.parse(_read(Path(named)))
    return (properties.parse(defaults) | own) if submit_arguments.reads_defaults_too(arguments) else own


def _write_directory(
    environment: Mapping[str, str], spark: Spark, values: Mapping[str, str], jar: Path | None, directory: Path
) -> Path:
    theirs = spark.conf_dir(environment)
    directory.mkdir(parents=True)
    if theirs.is_dir():
        for child in sorted(theirs.iterdir()):
            if child.name not in (DEFAULTS, ENVIRONMENT_SCRIPT):
                (directory / child.name).symlink_to(child.absolute())
    # Of several values of one key the last counts, and an empty line ends an unfinished one: theirs stays as it is.
    lines = "".join(properties.line(key, value) for key, value in values.items())
    (directory / DEFAULTS).write_text(_read(theirs / DEFAULTS) + "\n\n" + lines, encoding="utf-8")
    (directory / ENVIRONMENT_SCRIPT).write_text(_environment_script(environment, spark, theirs, jar), encoding="utf-8")
    return directory


def _environment_script(environment: Mapping[str, str], spark: Spark, theirs: Path, jar: Path | None) -> str:
    """Runs the user's own script; steps aside where another Spark is started than the one whose settings were read."""
    script = shlex.quote(str(theirs / ENVIRONMENT_SCRIPT))
    own = f"[ -f {script} ] && . {script}"
    if jar is not None:
        own += f'\nexport {CLASS_PATH}="${{{CLASS_PATH}:+${CLASS_PATH}:}}"{shlex.quote(str(jar))}'
    if environment.get("SPARK_CONF_DIR"):
        return f"{own}\n:\n"
    home = shlex.quote(os.path.realpath(spark.home))
    return f"""if [ "$(cd "${{SPARK_HOME}}" && pwd -P)" = {home} ]; then
{own}
else
export SPARK_CONF_DIR="${{SPARK_HOME}}/conf"
[ -f "${{SPARK_CONF_DIR}}/{ENVIRONMENT_SCRIPT}" ] && . "${{SPARK_CONF_DIR}}/{ENVIRONMENT_SCRIPT}"
fi
:
"""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
