"""Dynamic allocation takes executors away, and nothing keeps their shuffle files.

## What it means
An executor that dynamic allocation removes takes along the shuffle files that it wrote, unless something keeps them:
the external shuffle service on the node, shuffle tracking (an executor whose files may still be read is not removed),
or decommissioning, which moves them to others. Here none of the three is on. A later stage that needs such a file fails
to fetch it, and Spark computes it once more. Spark as Apache releases it refuses to start like this; a changed build
may not.

## What it costs
Nothing until an executor goes at the wrong moment; then parts of earlier stages run again. The evidence says whether
executors were removed in this run. Work that was done again has a price of its own (H3, H4).

## What to do
Switch on shuffle tracking (`spark.dynamicAllocation.shuffleTracking.enabled`, on by default since Spark 3.4), which
needs nothing else, or the external shuffle service where the cluster has one (YARN, standalone). On Kubernetes tracking
is the way.

## When to ignore it
When shuffle files are kept elsewhere: by a remote shuffle service, or by a plugin of your vendor. The usual settings
for that are known here, but not all plugins have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import is_local, is_on, is_vendors, version
from emberscope.settings.catalog import setting_of
from emberscope.settings.switches import SHUFFLE_KEEPERS, TRACKING
from emberscope.tables.conf import CONF
from emberscope.tables.executors import EXECUTORS
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """What keeps shuffle files is what Spark itself asks for before it starts dynamic allocation. The first version
    with shuffle tracking is Spark's own."""

    first_with_tracking: int = 3  # major version of Spark


_OWN_MANAGERS = ("sort", "tungsten-sort", "org.apache.spark.shuffle.sort.SortShuffleManager")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    if is_local(run) or is_vendors(run) or not is_on(run, "spark.dynamicAllocation.enabled", default=False):
        return
    if run.setting("spark.shuffle.manager") not in (None, *_OWN_MANAGERS):
        return
    if run.setting("spark.shuffle.sort.io.plugin.class") is not None:
        return
    if any(_on(run, keys) for keys in SHUFFLE_KEEPERS):
        return
    executors = run.tables["executors"]
    removed = executors.num_rows - executors["removed_ms"].null_count
    gone = f"{counted(removed, 'executor')} went during the run"
    tracks = version(run)[0] >= limits.first_with_tracking
    key = TRACKING if tracks else "spark.shuffle.service.enabled"
    yield Finding(
        title="Dynamic allocation without anything that keeps shuffle files",
        summary="Executors that are taken away take their shuffle files along, and stages that need them run again.",
        where=Where(),
        evidence=(
            Evidence("spark.dynamicAllocation.enabled is true", "conf"),
            *(Evidence(f"{keys[0]} is not", "conf") for keys in SHUFFLE_KEEPERS),
            *([Evidence(gone, "executors.removed_ms", removed, "executors")] if removed else []),
        ),
        advice=(set_conf(key, "true", "So that shuffle files are there as long as they may be read."),),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="A danger has no price; what was done again is priced where it happened.",
        confidence=0.8,
        consequence="risk",
    )


def _on(run: Run, keys: Sequence[str]) -> bool:
    """Whether all of these settings are true, by themselves or by default."""
    settings = [(key, setting_of(key)) for key in keys]
    return all(is_on(run, key, default=s is not None and s.default(version(run)) == "true") for key, s in settings)


RULE = Rule(
    code="G3",
    name="shuffle-keeper",
    since="0.1",
    reads=(Reads(CONF), Reads(EXECUTORS)),
    limits=Limits(),
    check=check,
)
