"""PySpark's profiler of functions shows nothing: a library is missing, or nothing was recorded.

## What it means
`spark.sql.pyspark.udf.profiler` records functions of Python inside the workers, with cProfile (`perf`) or with the
package memory_profiler (`memory`), and sends the figures with the result of each task that succeeded. Without
memory_profiler in the workers' Python there are no figures of memory; without flameprof on the client no picture.
Functions that ran only in failed tasks, or before the setting was made, show nothing.

## What it costs
The profile. While it is on it costs much more: a trivial function that is called for every row took three times as
long.

## What to do
Install `memory_profiler` on driver and executors (and `flameprof` where the picture is drawn), set the profiler before
the function runs, run an action, then `session.profile.show()`. Use it for a sample of the data; `emberscope run`
profiles Python workers at a small fraction of the cost.

## When to ignore it
When only calls and time are wanted: `perf` needs no package, and its table prints without a picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_KEY: Final = "spark.sql.pyspark.udf.profiler"


class Limits(Struct, frozen=True):
    """None: one such line is enough."""


_EMPTY: Final = Signature(
    "python_profiler_empty",
    r"Install the 'memory_profiler' library|PACKAGE_NOT_INSTALLED\][^\n]*flameprof|No module named 'memory_profiler'",
    ("'memory_profiler'", "flameprof"),
    (
        (
            r"pyspark\.udf\.profiler|python\.profile|udf profiler|spark\.profile\.show|show_profiles|memory_profiler",
            r"nothing|empty|no (?:output|profile|result)|missing|not (?:work|show|installed)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _EMPTY.name)
    if not rows:
        return
    yield trouble(
        "PySpark's function profiler has nothing to show",
        f"{_KEY} records inside Python workers and sends figures with tasks that succeed. “memory” needs the package "
        "memory_profiler in the workers' Python, pictures need flameprof, and it must be set before the function runs.",
        rows,
        (
            Advice(
                "cluster",
                "Install memory_profiler for the Python of driver and executors, and flameprof on the client.",
            ),
            set_conf(_KEY, "perf", "Needs no package; set it before the action, then call session.profile.show()."),
            Advice("check", "Profile a sample of the data: a function called per row runs about three times as long."),
        ),
        consequence="hint",
    )


RULE = Rule(
    code="P22",
    name="python-function-profiler",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_EMPTY,),
)
