"""One sentence on what happened: the application, its length, where most of it went, and what the first finding is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc

from emberscope.report.hot_code import hot_code
from emberscope.report.visible import clipped
from emberscope.rules.asked import only_words
from emberscope.rules.evaluate import SEVERITIES, SMALL_TASK_TIME_MS, task_time_ms
from emberscope.simulate.stage_tasks import has_status
from emberscope.units import counted, format_ms, format_ratio, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.waterfall import Part
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

_MOST_STAGES: Final = 5
_MOST_NAME: Final = 200


def outcome(item: Diagnosed) -> str:
    if only_words(item.run):
        return _question(item)
    application = item.run.application
    name = clipped(application.app_name or application.app_id or item.run.path, _MOST_NAME)
    length_ms = application.observed_ms
    if is_told(item.run):
        return _told(item)
    if length_ms is None and "tasks" not in item.run.tables and item.run.recordings:
        return _recording(item)
    if length_ms is None:
        ran = "has no known length"
    elif application.complete:
        ran = f"ran {format_ms(length_ms)}"
    else:
        ran = f"was seen for {format_ms(length_ms)} (the log has no end of the application)"
    where = f"; {_main_cost(item.waterfall)}" if item.waterfall else ""
    return " ".join(part for part in (f"{name} {ran}{where}.", cut_short(item), failures(item), _verdict(item)) if part)


def is_told(run: Run) -> bool:
    """Whether all that is known of an application are words: logs, reports, a question."""
    return "log_events" in run.tables and "tasks" not in run.tables and not run.recordings


def _told(item: Diagnosed) -> str:
    """What words alone can say: when they were said, and what is the first cause in them."""
    application, events = item.run.application, item.run.tables["log_events"]
    name = application.app_name or application.app_id
    whose = f"of {clipped(name, _MOST_NAME)} " if name else ""
    first_ms, last_ms = pc.min(events["time_ms"]).as_py(), pc.max(events["last_ms"]).as_py()
    when = ""
    if first_ms is not None and (first := format_time(first_ms)) is not None:
        length = f", over {format_ms(last_ms - first_ms)}" if last_ms is not None and last_ms > first_ms else ""
        when = f" from {first} on{length}"
    said = f"What was given {whose}was read{when}: {counted(events.num_rows, 'thing')} said that may matter."
    findings = item.diagnosis.findings
    first_cause = next((one for one in findings if one.finding.consequence in ("ended", "lost")), None)
    if first_cause is None:
        return f"{said} {_verdict(item)}"
    title = first_cause.finding.title
    return f"{said} The first cause found: {title}."


def _question(item: Diagnosed) -> str:
    """The answer to words: what is likeliest, and what it takes for granted."""
    findings = item.diagnosis.findings
    if findings:
        likeliest = findings[0].finding
        answer = f"The likeliest answer: {likeliest.title}. {likeliest.advice[-1].text}"
    else:
        answer = (
            "None of the troubles that are known is told in these words: give the driver's log, the log of the process "
            "that ended, or the event log."
        )
    assumed = [note.message for note in item.run.coverage.notes if note.code == "not_recorded"]
    return " ".join([answer, *assumed])


def _recording(item: Diagnosed) -> str:
    """What recordings alone can say: how long, how much, and what was hottest."""
    run = item.run
    known = [(facts.start_ms, facts.duration_ms) for facts in run.recordings if facts.duration_ms is not None]
    length = ""
    if known and all(start_ms is not None for start_ms, _ in known):
        first = min(start_ms or 0 for start_ms, _ in known)
        length = f" of {format_ms(max((start_ms or 0) + length_ms for start_ms, length_ms in known) - first)}"
    what = "A recording" if len(run.recordings) == 1 else counted(len(run.recordings), "recording")
    hot = hot_code(run)
    if hot is None:
        seen = ", without samples"
    else:
        name, count = hot.methods[0]
        share = "most of them" if 2 * count > hot.samples else "the largest part"
        most = f"{share} in {name} ({format_ratio(count / hot.samples)})"
        seen = f" with {counted(hot.samples, f'{hot.event} sample')}, {most}"
    alone = "There is no event log: nothing is known of its jobs, stages and tasks."
    return f"{what}{length}{seen}. {alone} {_verdict(item)}"


def _main_cost(parts: Sequence[Part]) -> str:
    """The largest part, with all CPU work as one: split by operator it would lose to parts that are not split."""
    cpu = [part for part in parts if part.is_cpu]
    cpu_ms, ratio = sum(part.wall_ms for part in cpu), sum(part.ratio for part in cpu)
    largest = max((part for part in parts if not part.is_cpu), key=lambda part: part.wall_ms)
    if cpu_ms < largest.wall_ms or not cpu_ms:
        went = "is" if largest.part == "residual" else "went to"
        return f"{format_ratio(largest.ratio)} of it {went} {largest.label}"
    operators = [part for part in cpu if part.operator]
    most = max(operators, key=lambda part: part.wall_ms, default=None)
    if most is None:
        which = ""
    elif 2 * most.wall_ms > cpu_ms:
        which = f" (most of it {most.operator})"
    else:
        which = f" (the largest part is {most.operator}, {format_ratio(most.ratio)})"
    return f"{format_ratio(ratio)} of it was CPU work{which}"


def _verdict(item: Diagnosed) -> str:
    """What the findings come to, in one sentence."""
    findings = item.diagnosis.findings
    if not findings:
        if not item.diagnosis.asked:
            return "No rule could be evaluated, so nothing is said on what is wrong."
        return "No rule that could be evaluated found anything."
    if item.run.tables.get("log_events") is not None and findings[0].rule.signatures and _killed(findings[0]):
        return f"The first cause found: {findings[0].finding.title}."
    best = max(findings, key=lambda finding: (finding.finding.wasted_wall_ms or 0) * finding.confidence)
    title = best.finding.title[:1].lower() + best.finding.title[1:]
    worth = any(SEVERITIES.index(f.severity) <= SEVERITIES.index("medium") for f in findings)
    if best.finding.wasted_wall_ms:
        saving = f"{format_ms(best.finding.wasted_wall_ms)} ({title})"
        if worth:
            return f"The largest saving found is {saving}."
        if task_time_ms(item.run) < SMALL_TASK_TIME_MS:
            return (
                f"Tasks ran for only {format_ms(task_time_ms(item.run))} in all, too little for more than a remark: at "
                f"most {saving} can be saved."
            )
        return f"No finding is worth much: {saving} at most, with a confidence of {best.confidence:.0%}."
    if worth:
        return f"What was found costs core time, not wall time: {findings[0].finding.title}."
    return "No finding is worth much."


def _killed(finding: Ranked) -> bool:
    return finding.finding.consequence in ("ended", "lost")


def cut_short(item: Diagnosed) -> str:
    """A sentence on the tasks that ran when the application, or its log, ended; empty where none did."""
    running = item.run.tables.get("running_tasks")
    if running is None:
        return ""
    rows = [row for row in running.select(["stage_id", "at_end"]).to_pylist() if row["at_end"]]
    if not rows:
        return ""
    stages = sorted({row["stage_id"] for row in rows})
    shown = ", ".join(str(stage) for stage in stages[:_MOST_STAGES]) + (" ..." if len(stages) > _MOST_STAGES else "")
    tasks = f"{counted(len(rows), 'task')} of stage{'s' if len(stages) > 1 else ''} {shown}"
    what = "It ended" if item.run.application.complete else "The log ends"
    return f"{what} while {tasks} ran."


def failures(item: Diagnosed) -> str:
    """A sentence on failed jobs and tasks; empty where nothing failed."""
    said = []
    for table, what in (("jobs", "job"), ("tasks", "task attempt")):
        rows = item.run.tables.get(table)
        count = 0 if rows is None else int(has_status(rows, "failed").sum())
        if count:
            said.append(counted(count, what))
    return f"{' and '.join(said)} failed." if said else ""
