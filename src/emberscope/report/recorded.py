"""What a recording shows, one kind of events after the other: how much, at which place in the code, of which class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import inherited, tree_arrays
from emberscope.profile.classify import families_by_frame
from emberscope.profile.fold import natural_weight, unit_of
from emberscope.report.heap_looks import MOST_PROCESSES
from emberscope.report.marked import marked_rows
from emberscope.tables.samples import EVENTS
from emberscope.units import counted, format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

_MOST: Final = 5

Shares = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples of one event: all of them, and `weight` of those that `sites` and `classes` are about.

    Where tasks are known and some of the samples are theirs, that is the weight of those. A site is the innermost frame
    of the user's own code, or the top frame where there is none. Shares are largest first, in the same unit.
    """

    event: str
    samples: int
    unit: str
    whole: int
    weight: int
    of_tasks: bool
    sites: Shares
    classes: Shares

    def document(self) -> dict[str, Any]:
        return {
            "event": self.event,
            "samples": self.samples,
            "unit": self.unit,
            "weight": self.whole,
            "task_weight": self.weight if self.of_tasks else None,
            "sites": [list(site) for site in self.sites],
            "classes": [list(one) for one in self.classes],
        }


@dataclass(frozen=True, slots=True)
class Counted:
    """A series over all processes: `total` adds its points up, `growth` what each process has more at its end."""

    name: str
    label: str | None
    points: int
    total: float
    most: float
    growth: float

    def document(self) -> dict[str, Any]:
        names = ("name", "label", "points", "total", "most", "growth")
        return {name: getattr(self, name) for name in names}


def sampled(run: Run) -> tuple[Sampled, ...]:
    """The events that there are samples of, in the order of `tables/samples.py`."""
    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows or not {"stacks", "frames"} <= run.tables.keys():
        return ()
    sites = _sites(run.tables["stacks"], run.tables["frames"])
    names = run.tables["frames"]["name"].to_pylist()
    samples = samples.select(["event", "count", "value", "stack", "object_class", "task_id"])
    events = samples["event"].cast(pa.string())
    found = [(event, samples.filter(pc.equal(events, event))) for event in EVENTS]
    return tuple(_sampled(event, rows, sites, names) for event, rows in found if rows.num_rows)


def _sites(stacks: pa.Table, frames: pa.Table) -> NDArray[np.int32]:
    """For each node the frame that stands for it: the innermost of the user's own code, else its own; -1 for none."""
    parents, frame_of = tree_arrays(stacks)
    own = np.append([family == "user" for family in families_by_frame(frames)], False)
    nearest = inherited(parents, np.where(own[frame_of], frame_of, -1).astype(np.int32))
    return np.where(nearest >= 0, nearest, frame_of).astype(np.int32)


def _sampled(event: str, rows: pa.Table, sites: NDArray[np.int32], names: list[str]) -> Sampled:
    weight = natural_weight(rows, event)
    amounts = rows[weight].fill_null(0).to_numpy().astype(np.int64)
    of_tasks = pc.is_valid(rows["task_id"]).to_numpy()
    only_tasks = bool(amounts[of_tasks].sum())
    chosen = of_tasks if only_tasks else np.ones(len(amounts), np.bool_)
    frames = sites[rows["stack"].fill_null(0).to_numpy()[chosen]]
    known = frames >= 0
    by_frame = np.bincount(frames[known], amounts[chosen][known], len(names)).astype(np.int64)
    classes = rows["object_class"].filter(pa.array(chosen)).cast(pa.string()).combine_chunks().dictionary_encode()
    codes = classes.indices.fill_null(len(classes.dictionary)).to_numpy(zero_copy_only=False)
    by_class = np.bincount(codes, amounts[chosen], len(classes.dictionary) + 1).astype(np.int64)[:-1]
    return Sampled(
        event,
        int(pc.sum(rows["count"]).as_py() or 0),
        unit_of(rows, weight),
        int(amounts.sum()),
        int(amounts[chosen].sum()),
        only_tasks,
        _largest(by_frame, names),
        _largest(by_class, classes.dictionary.to_pylist()),
    )


def _largest(weights: NDArray[np.int64], names: list[str]) -> Shares:
    order = sorted(np.flatnonzero(weights).tolist(), key=lambda place: (-int(weights[place]), names[place]))
    return tuple((names[place], int(weights[place])) for place in order[:_MOST])


def series_counted(run: Run) -> tuple[Counted, ...]:
    """All series by name and label."""
    series = run.tables.get("series")
    if series is None or not series.num_rows:
        return ()
    keys = ["name", "label", "role", "executor_id"]
    plain = pa.table({**{key: series[key].cast(pa.string()) for key in keys}, "value": series["value"]})
    plain = plain.append_column("time_ns", series["time_ns"]).sort_by("time_ns")
    sums = [("value", "count"), ("value", "sum"), ("value", "max"), ("value", "first"), ("value", "last")]
    found: dict[tuple[str, str | None], Counted] = {}
    for row in plain.group_by(keys, use_threads=False).aggregate(sums).to_pylist():
        key, growth = (row["name"], row["label"]), row["value_last"] - row["value_first"]
        before = found.get(key, Counted(*key, 0, 0.0, float("-inf"), 0.0))
        found[key] = Counted(
            *key,
            before.points + row["value_count"],
            before.total + row["value_sum"],
            max(before.most, row["value_max"]),
            before.growth + growth,
        )
    return tuple(sorted(found.values(), key=lambda one: (one.name, one.label or "")))


def recorded_rows(
    events: list[dict[str, Any]], series: list[dict[str, Any]], marks: list[dict[str, Any]]
) -> list[tuple[str, str]]:
    """Each kind with what is to be said of it, of the documents of `Sampled`, `Counted` and `Marked`."""
    return [*((event["event"], _event_words(event)) for event in events), *_series_words(series), *marked_rows(marks)]


def recorded_lines(
    events: list[dict[str, Any]], series: list[dict[str, Any]], marks: list[dict[str, Any]]
) -> list[str]:
    """`recorded_rows` as lines of text."""
    return [f"  {kind:<11} {words}" for kind, words in recorded_rows(events, series, marks)]


def _event_words(event: dict[str, Any]) -> str:
    unit, whole, of_tasks = event["unit"], event["weight"], event["task_weight"]
    amount = whole if of_tasks is None else of_tasks
    said = _amount(amount, unit)
    if of_tasks is not None and of_tasks != whole:
        said += f" of tasks, {_amount(whole, unit)} in all"
    if unit != "samples":
        said += f" by {counted(event['samples'], 'sample')}"
    for words, shares in (("most at", event["sites"]), ("most of class", event["classes"])):
        if shares and amount:
            name, weight = shares[0]
            said += f"; {words} {name} ({format_ratio(weight / amount)})"
    return said


def _series_words(series: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    of = {(row["name"], row["label"]): row for row in series}
    operations = [row for row in series if row["name"] == "vm_operation_ms"]
    if operations:
        longest = max(operations, key=lambda row: (row["total"], row["label"] or ""))
        said = counted(sum(row["points"] for row in operations), "operation")
        said += f" of {format_ms(sum(row['total'] for row in operations))}, most for {longest['label']}"
        yield "safepoint", f"{said} ({format_ms(longest['total'])})"
    if (direct := of.get(("direct_used_bytes", None))) is not None:
        yield "nativemem", f"direct buffers up to {format_bytes(direct['most'])}"
    own = sorted(
        (row for row in series if row["name"] == "jvm_native_type_committed_bytes"),
        key=lambda row: (-row["most"], row["label"] or ""),
    )
    if own:
        said = ", ".join(f"{row['label']} {format_bytes(row['most'])}" for row in own[:_MOST])
        yield "nativemem", f"the JVM itself: {said}"
    compiled, took = of.get(("jit_compilations", None)), of.get(("jit_total_ms", None))
    if compiled is not None and took is not None:
        yield (
            "jit",
            f"{format_count(compiled['growth'])} compilations of {format_ms(took['growth'])} while it was recorded",
        )
    loaded, unloaded = of.get(("classes_loaded", None)), of.get(("classes_unloaded", None))
    if loaded is not None and unloaded is not None:
        said = f"{format_count(loaded['growth'])} loaded and {format_count(unloaded['growth'])} unloaded"
        yield "classes", f"{said} while it was recorded, {format_count(loaded['most'])} at most"


def heap_lines(looks: list[dict[str, Any]]) -> list[str]:
    """What the heap held, of the documents of `HeapLooks`: one line for each process."""
    lines = []
    for heap in looks[:MOST_PROCESSES]:
        rows = [row for row in heap["classes"] if row["bytes"][-1] is not None][:3]
        said = ", ".join(f"{row['object_class']} {format_bytes(row['bytes'][-1])}{_grown(row)}" for row in rows)
        lines.append(f"  heap        {heap['process']}: {counted(heap['looks'], 'look')}; at the last {said}")
    if len(looks) > MOST_PROCESSES:
        lines.append(f"  heap        of {format_count(len(looks) - MOST_PROCESSES)} more in --json")
    return lines


def _grown(row: dict[str, Any]) -> str:
    first, last = row["bytes"][0], row["bytes"][-1]
    return f" (+{format_bytes(last - first)})" if first is not None and last > first else ""


def _amount(weight: float, unit: str) -> str:
    if unit == "bytes":
        return format_bytes(weight)
    return format_ms(weight / 1e6) if unit == "ns" else counted(int(weight), "sample")
