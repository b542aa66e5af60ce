"""The report: one HTML file about a run that opens offline, in the order in which its reader asks.

First screen, without any script: what happened, where the time went, what to do. Then the stages, the flame graph (a
script draws it), the executors and the settings. All text comes through Jinja2's escaping; bars are SVG, so that the
content security policy can forbid inline styles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from markupsafe import Markup

from emberscope.profile.codegen import generated_code_words
from emberscope.profile.flame_data import flame_data
from emberscope.report.assets import content_security_policy, joined, style_sheet
from emberscope.report.diagnosis import no_finding, not_evaluated_sentences
from emberscope.report.flame_page import MODULES, STYLES, flame_element
from emberscope.report.part import Part, Subject, subject_of
from emberscope.report.rendering import rendered
from emberscope.report.stage_rows import MOST_STAGES, executor_rows
from emberscope.report.text import coverage_line
from emberscope.rules.places import sql_descriptions

if TYPE_CHECKING:
    from emberscope.report import waterfall
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

# The rule that prices a part of the waterfall: the part links to its finding where there is one.
_RULE_OF_PART: Final = {
    "driver_alone": ("A1",),
    "idle_cores": ("A2", "B1"),
    "gc": ("C1",),
    "python": ("F3",),
    "cpu_spill": ("C3",),
    "spill": ("C3",),
}
_GROUPS: Final = {
    "driver_alone": "driver",
    "waiting_for_executors": "driver",
    "scheduling": "scheduling",
    "python": "python",
    "gc": "gc",
    "shuffle_fetch_wait": "shuffle",
    "shuffle_write": "shuffle",
    "spill": "spill",
    "task_overhead": "overhead",
    "task_wait": "wait",
    "task_unsplit": "wait",
    "failed_attempts": "failed",
    "unended_tasks": "failed",
    "idle_cores": "idle",
    "residual": "residual",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of the bar: where it begins and how wide it is in per cent, its colour class and where it leads."""

    part: waterfall.Part
    start: float
    width: float
    colour: str
    href: str


def report_page(item: Diagnosed) -> str:
    """The whole page as one string of HTML."""
    run, subject = item.run, subject_of(item)
    parts = [part(subject) for part in PARTS]
    script = joined(dict.fromkeys(["theme.js", *(name for part in parts for name in part.modules)]))
    style = style_sheet(["theme.css", *(name for part in parts for name in part.styles), "page.css"])
    return rendered(
        "page.html",
        title=run.application.app_name or run.application.app_id or run.path,
        facts=_facts(run),
        outcome=item.outcome,
        parts=[(part, Markup(rendered(f"parts/{part.name}.html", **part.data))) for part in parts],
        policy=content_security_policy(scripts=[script], styles=[style]),
        style=Markup(style),
        script=Markup(script),
    )


def _time(subject: Subject) -> Part:
    return Part("time", "Time", {"bars": _bars(subject.item, subject.recorded)})


def _findings(subject: Subject) -> Part:
    diagnosis = subject.item.diagnosis
    data = {
        "findings": diagnosis.findings,
        "no_finding": no_finding([subject.item]),
        "not_evaluated": not_evaluated_sentences(diagnosis.not_evaluated),
        "coverage": coverage_line(subject.item.run.coverage),
        "recorded": subject.recorded,
    }
    return Part("findings", "Findings", data)


def _stages(subject: Subject) -> Part:
    rows = subject.stages
    shown = {id(row) for row in sorted(rows, key=lambda row: -row.task_ms)[:MOST_STAGES]}
    data = {
        "stages": [row for row in rows if id(row) in shown],
        "hidden_stages": len(rows) - len(shown),
        "hidden_task_ms": sum(row.task_ms for row in rows if id(row) not in shown),
        "recorded": subject.recorded,
    }
    return Part("stages", "Stages", data)


def _flame(subject: Subject) -> Part:
    """The flame graph of all samples, with the choice of SQL execution, stage and executor; none without samples."""
    run, flame = subject.item.run, None
    if subject.recorded:
        frames = run.tables["frames"]
        flame = flame_element(
            flame_data(run.tables["samples"], run.tables["stacks"], frames, run.tables.get("tasks"), _start_ns(run)),
            stage_names={row.stage_id: row.words for row in subject.stages},
            sql_names=sql_descriptions(run),
            codegen=generated_code_words(frames, run.tables.get("plan_nodes")),
        )
    stage_ids = sorted({row.stage_id for row in subject.stages})
    return Part("flame", "Flame graph", {"flame": flame, "stage_ids": stage_ids}, MODULES, STYLES)


def _executors(subject: Subject) -> Part:
    rows = executor_rows(subject.item.run)
    return Part("executors", "Executors", {"executors": rows, "recorded": subject.recorded})


def _settings(subject: Subject) -> Part:
    """Spark's settings by name, redacted by the reader."""
    conf = subject.item.run.tables.get("conf")
    rows = [] if conf is None else conf.select(["key", "value", "scope"]).to_pylist()
    settings = sorted({(row["key"], row["value"] or "") for row in rows if row["scope"] == "spark"})
    return Part("settings", "Settings", {"settings": settings})


PARTS: Final[tuple[Callable[[Subject], Part], ...]] = (_time, _findings, _stages, _flame, _executors, _settings)
"""The parts of the page from top to bottom."""


def _facts(run: Run) -> list[str]:
    """What the application is, in short phrases."""
    application = run.application
    started = application.app_start_ms
    return [
        fact
        for fact in (
            application.app_id if application.app_name else None,
            f"attempt {application.attempt}" if application.attempt not in (None, "1") else None,
            f"Spark {application.spark_version}" if application.spark_version else None,
            f"Java {application.java_version}" if application.java_version else None,
            application.master,
            application.user,
            f"{datetime.fromtimestamp(started / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC" if started is not None else None,
        )
        if fact
    ]


def _bars(item: Diagnosed, recorded: bool) -> list[Bar]:
    bars, start, shade = [], 0.0, 0
    for part in item.waterfall:
        width = 100 * part.ratio
        colour = _GROUPS.get(part.part)
        if colour is None:
            colour, shade = f"cpu{min(shade, 5)}", shade + 1
        bars.append(Bar(part, round(start, 3), round(width, 3), colour, _href(part, item.diagnosis.findings, recorded)))
        start += width
    return bars


def _href(part: waterfall.Part, findings: Sequence[Ranked], recorded: bool) -> str:
    """The finding that prices the part, else the flame graph for CPU where there is one, else the stages."""
    for code in _RULE_OF_PART.get(part.part, ()):
        for number, finding in enumerate(findings, 1):
            if finding.rule.code == code:
                return f"#finding-{number}"
    if part.part.startswith("cpu") and recorded:
        return "#flame"
    return "#coverage" if part.part == "residual" else "#stages"


def _start_ns(run: Run) -> int | None:
    """Where the times of the page count from: the application's start, else the first sample."""
    started = run.application.app_start_ms
    return pc.min(run.tables["samples"]["time_ns"]).as_py() if started is None else started * 1_000_000
