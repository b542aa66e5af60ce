"""The report: one HTML file about a run that opens offline, in the order in which its reader asks.

First screen, without any script: what happened, where the time went, what to do. Then the stages, the flame graph (a
script draws it), the executors and the settings. All text comes through Jinja2's escaping; bars are SVG, so that the
content security policy can forbid inline styles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from emberscope.profile.codegen import generated_code_words
from emberscope.profile.flame_data import flame_data
from emberscope.report.diagnosis import no_finding, not_evaluated_sentences
from emberscope.report.flame_page import content_security_policy, flame_element, flame_script, flame_style
from emberscope.report.stage_rows import MOST_STAGES, StageRow, executor_rows, stage_rows
from emberscope.report.text import coverage_line, price
from emberscope.rules.page import sections
from emberscope.rules.places import sql_descriptions
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.waterfall import Part
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

    part: Part
    start: float
    width: float
    colour: str
    href: str


def report_page(item: Diagnosed) -> str:
    """The whole page as one string of HTML."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("emberscope.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        ms=format_ms,
        bytes=format_bytes,
        count=format_count,
        ratio=format_ratio,
        price=price,
        sections=_sections,
        coded=_coded,
    )
    run = item.run
    page_style = files("emberscope.report").joinpath("templates", "page.css").read_text(encoding="utf-8")
    styles, script = flame_style() + page_style, flame_script()
    rows = stage_rows(run)
    shown = {id(row) for row in sorted(rows, key=lambda row: -row.task_ms)[:MOST_STAGES]}
    return environment.get_template("page.html").render(
        title=run.application.app_name or run.application.app_id or run.path,
        facts=_facts(run),
        outcome=item.outcome,
        bars=_bars(item),
        findings=item.diagnosis.findings,
        no_finding=no_finding([item]),
        not_evaluated=not_evaluated_sentences(item.diagnosis.not_evaluated),
        coverage=coverage_line(run.coverage),
        stages=[row for row in rows if id(row) in shown],
        hidden_stages=len(rows) - len(shown),
        hidden_task_ms=sum(row.task_ms for row in rows if id(row) not in shown),
        executors=executor_rows(run),
        settings=_settings(run),
        flame=_flame(run, rows),
        policy=content_security_policy(scripts=[script], styles=[styles]),
        style=Markup(styles),
        script=Markup(script),
    )


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


def _bars(item: Diagnosed) -> list[Bar]:
    bars, start, shade = [], 0.0, 0
    recorded = _is_recorded(item.run)
    for part in item.waterfall:
        width = 100 * part.ratio
        colour = _GROUPS.get(part.part)
        if colour is None:
            colour, shade = f"cpu{min(shade, 5)}", shade + 1
        bars.append(Bar(part, round(start, 3), round(width, 3), colour, _href(part, item.diagnosis.findings, recorded)))
        start += width
    return bars


def _href(part: Part, findings: Sequence[Ranked], recorded: bool) -> str:
    """The finding that prices the part, else the flame graph for CPU where there is one, else the stages."""
    for code in _RULE_OF_PART.get(part.part, ()):
        for number, finding in enumerate(findings, 1):
            if finding.rule.code == code:
                return f"#finding-{number}"
    if part.part.startswith("cpu") and recorded:
        return "#flame"
    return "#coverage" if part.part == "residual" else "#stages"


def _is_recorded(run: Run) -> bool:
    samples = run.tables.get("samples")
    return samples is not None and samples.num_rows > 0 and "stacks" in run.tables and "frames" in run.tables


def _flame(run: Run, rows: Sequence[StageRow]) -> Markup | None:
    """The flame graph of all samples, with the choice of SQL execution, stage and executor; None without samples."""
    if not _is_recorded(run):
        return None
    tables = run.tables
    return flame_element(
        flame_data(tables["samples"], tables["stacks"], tables["frames"]),
        stage_names={row.stage_id: row.words for row in rows},
        sql_names=sql_descriptions(run),
        codegen=generated_code_words(tables["frames"], tables.get("plan_nodes")),
    )


def _settings(run: Run) -> list[tuple[str, str]]:
    """Spark's settings by name, redacted by the reader."""
    conf = run.tables.get("conf")
    if conf is None:
        return []
    rows = conf.select(["key", "value", "scope"]).to_pylist()
    return sorted({(row["key"], row["value"] or "") for row in rows if row["scope"] == "spark"})


def _coded(text: str) -> Markup:
    """Text with what stands between backticks as code; all of it escaped."""
    pieces = [Markup("<code>{}</code>" if odd % 2 else "{}").format(piece) for odd, piece in enumerate(text.split("`"))]
    return Markup("").join(pieces)


def _sections(finding: Ranked) -> list[tuple[str, list[Any]]]:
    """The page of the finding's rule: heading and paragraphs."""
    return [(head, body.split("\n\n")) for head, body in sections(finding.rule)]
