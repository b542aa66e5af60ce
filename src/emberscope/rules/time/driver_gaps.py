"""The stretches in which no job was active: how long, between which jobs, and what the program had called before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.places import short_call_site, sql_descriptions
from emberscope.simulate.shares import Steps
from emberscope.simulate.stage_figures import stage_figures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Actions whose rows come into the driver, so that it may go on to work on them by itself.
_COLLECTS: Final = re.compile(
    r"^(collect|collectAsMap|collectAsList|toPandas|toArrow|toLocalIterator|take|takeOrdered|takeSample|head|first|tail)\b"
)


class Gap(Struct, frozen=True):
    """A stretch without a job, in epoch ms, with the jobs (rows of table `jobs`) before and after it."""

    start_ms: float
    end_ms: float
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def ms(self) -> float:
        return self.end_ms - self.start_ms


class CallSite(Struct, frozen=True):
    """All gaps that came after jobs of one call site. `result_bytes` is what its tasks sent to the driver."""

    text: str
    gaps: int
    ms: float
    result_bytes: float

    @property
    def collects(self) -> bool:
        """Whether the call brings rows into the driver."""
        return _COLLECTS.match(self.text) is not None

    @property
    def line(self) -> str | None:
        """`daily.py:23`, or None where the call site names no line of the program."""
        return line_of(self.text)


def alone(pieces: Steps) -> NDArray[np.bool_]:
    """At which pieces no job was active and no task ran."""
    mask: NDArray[np.bool_] = (pieces.jobs == 0) & (pieces.running == 0)
    return mask


def gaps(run: Run, pieces: Steps) -> list[Gap]:
    """Every stretch without a job, in order of time."""
    mask = np.concatenate(([False], alone(pieces), [False])).astype(np.int8)
    begins = pieces.edges[np.flatnonzero(np.diff(mask) == 1)]
    ends = pieces.edges[np.flatnonzero(np.diff(mask) == -1)]
    columns = ["job_id", "submitted_ms", "completed_ms", "call_site", "details", "description"]
    columns += ["stage_ids", "sql_execution_id"]
    rows = run.tables["jobs"].select(columns).to_pylist()
    ended = sorted((r for r in rows if r["completed_ms"] is not None), key=lambda r: (r["completed_ms"], r["job_id"]))
    begun = sorted((r for r in rows if r["submitted_ms"] is not None), key=lambda r: (r["submitted_ms"], r["job_id"]))
    last = np.searchsorted([r["completed_ms"] for r in ended], begins, side="right") - 1
    first = np.searchsorted([r["submitted_ms"] for r in begun], ends, side="left")
    return [
        Gap(
            float(begin),
            float(end),
            ended[before] if before >= 0 else None,
            begun[after] if after < len(begun) else None,
        )
        for begin, end, before, after in zip(begins, ends, last.tolist(), first.tolist(), strict=True)
    ]


def call_sites(run: Run, found: list[Gap]) -> list[CallSite]:
    """The gaps after jobs, by the call site of the job before, longest sum first."""
    after_calls: dict[str, list[Gap]] = {}
    for gap in found:
        site = _site(run, gap.before) if gap.before is not None else ""
        if site:
            after_calls.setdefault(site, []).append(gap)
    results = _result_bytes(run)
    sites = [
        CallSite(
            text,
            len(of_site),
            sum(gap.ms for gap in of_site),
            sum(
                results.get(stage, 0.0)
                for job in {gap.before["job_id"]: gap.before for gap in of_site if gap.before}.values()
                for stage in job["stage_ids"] or ()
            ),
        )
        for text, of_site in after_calls.items()
    ]
    return sorted(sites, key=lambda site: (-site.ms, site.text))


def _site(run: Run, job: Mapping[str, Any]) -> str:
    """The line of the program that started a job; that of its SQL execution where the job's own is one of Spark's."""
    return call_site((job["call_site"], sql_descriptions(run).get(job["sql_execution_id"])), job["details"])


def job_words(job: Mapping[str, Any]) -> str:
    """`job 3 (load the orders)`."""
    said = job["description"] or short_call_site(job["call_site"] or "")
    return f"job {job['job_id']}" + (f" ({said})" if said else "")


def gap_words(gap: Gap) -> Iterator[str]:
    if gap.before is not None:
        yield f"after {job_words(gap.before)}"
    if gap.after is not None:
        yield f"before {job_words(gap.after)}"


def _result_bytes(run: Run) -> dict[int, float]:
    """Size of the results that the tasks of each stage sent to the driver."""
    figures = stage_figures(run)
    if figures is None:
        return {}
    sums: dict[int, float] = {}
    for key, size in zip(figures.keys, figures.total("result_size_bytes").tolist(), strict=True):
        sums[key[0]] = sums.get(key[0], 0.0) + size
    return sums
