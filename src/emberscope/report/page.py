"""The report: one HTML file about a run that opens offline, in the order in which its reader asks.

First screen, without any script: what happened, where the time went, what to do, what was seen. Then the parts one by
one. All text comes through Jinja2's escaping; bars are SVG, so that the content security policy can forbid inline
styles. Each part is a function of the `Subject`; a new one is one line in `PARTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

from markupsafe import Markup

from emberscope.profile.classify import FAMILIES
from emberscope.profile.codegen import generated_code_words
from emberscope.profile.flame_data import flame_data
from emberscope.report.assets import content_security_policy, joined, style_sheet, vendored_script
from emberscope.report.bars import cores_bar, story_bar
from emberscope.report.chain import clock_words, heading
from emberscope.report.diagnosis import no_finding, not_evaluated_sentences
from emberscope.report.facts import json_script, page_document
from emberscope.report.finding_links import frame_links, links_of
from emberscope.report.finding_tree import branches
from emberscope.report.flame_page import MODULES, STYLES, flame_element
from emberscope.report.heap_looks import MOST_PROCESSES, heap_looks
from emberscope.report.marked import marked
from emberscope.report.part import Part, Subject, subject_of
from emberscope.report.recorded import recorded_rows, sampled, series_counted
from emberscope.report.rendering import rendered
from emberscope.report.stage_cpu import calibrated_words, measured_cpu, stage_cpus
from emberscope.report.stage_rows import counted_event
from emberscope.report.task_data import task_part
from emberscope.report.task_rows import MOST_HOSTS
from emberscope.report.time_data import times_template_data
from emberscope.report.visible import clipped
from emberscope.rules.places import sql_descriptions
from emberscope.tuning.dialects import patch_lines
from emberscope.units import format_time

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.tables.run import Run

Theme = Literal["auto", "light", "dark"]

# So many findings stand on the first screen, and so many notes in the coverage.
_MOST_FINDINGS: Final = 6
# So many findings are open from the start, and every one of medium severity or above.
_MOST_OPEN: Final = 3
_MOST_NOTES: Final = 50
_MOST_NAME: Final = 300


def report_page(item: Diagnosed, *, theme: Theme = "auto", redacted: bool = False) -> str:
    """The whole page as one string of HTML. `redacted` says that the run went through `report/redaction.py`."""
    run, subject = item.run, subject_of(item)
    parts = [part(subject) for part in (_PARTS_ALONE if subject.recording_alone else PARTS)]
    script = joined(dict.fromkeys(["theme.js", *(name for part in parts for name in part.modules)]))
    vendored = [vendored_script(name) for name in dict.fromkeys(name for part in parts for name in part.vendored)]
    style = style_sheet(["theme.css", *(name for part in parts for name in part.styles), "page.css"])
    sections = [(part, Markup(rendered(f"parts/{part.name}.html", **part.data))) for part in parts]
    return rendered(
        "page.html",
        title=run.application.app_name or run.application.app_id or run.path.rpartition("/")[2] or run.path,
        theme=None if theme == "auto" else theme,
        redacted=redacted,
        facts=_facts(run),
        parts=[(part, section) for part, section in sections if section.strip()],
        document=json_script(page_document(subject, redacted=redacted)),
        policy=content_security_policy(scripts=[*vendored, script], styles=[style]),
        style=Markup(style),
        vendored=[Markup(text) for text in vendored],
        script=Markup(script),
    )


def _time(subject: Subject) -> Part:
    item = subject.item
    data = {
        "outcome": item.outcome,
        "chain": list(zip(clock_words(item.chain), item.chain, strict=True)),
        "chain_heading": heading(item.chain),
        "story": story_bar(subject.story, subject.anchors),
        "duration_ms": item.run.application.observed_ms,
        "branches": branches(item.diagnosis.findings),
        "most": _MOST_FINDINGS,
        "no_finding": no_finding([item]),
        "seen": subject.seen,
        "hot": subject.hotspots if subject.recording_alone else None,
    }
    return Part("time", "Time", data)


def _cores(subject: Subject) -> Part:
    bars = cores_bar(subject.item.waterfall, subject.anchors)
    return Part("cores", "Cores", {"bars": bars, "duration_ms": subject.item.run.application.observed_ms})


def _findings(subject: Subject) -> Part:
    diagnosis, operators = subject.item.diagnosis, subject.sql.operators if subject.sql else {}
    found = branches(diagnosis.findings)
    every = list(enumerate(diagnosis.findings, 1))
    data = {
        "branches": [branch for branch in found if not branch.is_hint],
        "hints": [branch for branch in found if branch.is_hint],
        "most_open": _MOST_OPEN,
        "links": {number: links_of(number, one, subject.anchors, operators) for number, one in every},
        "frames": {number: frame_links(one, subject.anchors) for number, one in every},
        "no_finding": no_finding([subject.item]),
        "patch": patch_lines(subject.item.patch),
        "not_evaluated": not_evaluated_sentences(diagnosis.not_evaluated),
    }
    return Part("findings", "Findings", data, ("findings.js",))


def _sql(subject: Subject) -> Part:
    return Part("sql", "SQL", {"sql": subject.sql}, (), ("sql/sql.css",))


def _stages(subject: Subject) -> Part:
    attempts = Counter(row.stage_id for row in subject.stages)
    data = {
        "several": {stage for stage, count in attempts.items() if count > 1},
        "stages": subject.shown_stages,
        "hidden_stages": len(subject.stages) - len(subject.shown_stages),
        "hidden_task_ms": sum(row.task_ms for row in subject.stages) - sum(r.task_ms for r in subject.shown_stages),
        "recorded": subject.recorded,
        "event": _event_words(subject),
        **_stage_cpu(subject),
    }
    return Part("stages", "Stages", data)


def _stage_cpu(subject: Subject) -> dict[str, Any]:
    """CPU by Spark, by samples and by the threads of the tasks; `thread_cpu` is None where no thread was measured."""
    cpu = stage_cpus(subject.item.run)
    whole = measured_cpu(cpu)
    if whole is None:
        return {"thread_cpu": None}
    words = calibrated_words(whole.cpu_ns, whole.not_seen_ns, whole.tasks_not_seen, whole.tasks_not_measured)
    rows = [(row, cpu.get((row.stage_id, row.attempt))) for row in subject.shown_stages]
    return {"thread_cpu": words, "cpu": [(row, one) for row, one in rows if one is not None]}


def _tasks(subject: Subject) -> Part:
    words = {(row.stage_id, row.attempt): row.words for row in subject.stages}
    data = {"part": task_part(subject.item.run, words), "recorded": subject.recorded, "most_hosts": MOST_HOSTS}
    return Part("tasks", "Tasks", data, ("tasks/element.js",), ("tasks/tasks.css",))


def _flame(subject: Subject) -> Part:
    """The flame graph of all samples, with the choice of SQL execution, stage and executor; none without samples."""
    run, flame = subject.item.run, None
    if subject.recorded:
        frames = run.tables["frames"]
        flame = flame_element(
            flame_data(run.tables["samples"], run.tables["stacks"], frames, run.tables.get("tasks"), run.start_ns),
            stage_names={row.stage_id: clipped(row.words, _MOST_NAME) for row in subject.stages},
            sql_names={key: clipped(text, _MOST_NAME) for key, text in sql_descriptions(run).items()},
            codegen=generated_code_words(frames, run.tables.get("plan_nodes")),
        )
    methods = subject.hotspots.methods if subject.hotspots else ()
    fragments = [f"search={method.search}" for method in methods if method.search]
    for finding in subject.item.diagnosis.findings:
        fragments += [link.fragment for links in frame_links(finding, subject.anchors).values() for link in links]
    return Part(
        "flame",
        "Flame graph",
        {
            "flame": flame,
            "stage_ids": subject.linked_stages,
            "sql": subject.sql,
            "fragments": list(dict.fromkeys(fragments)),
        },
        MODULES,
        STYLES,
    )


def _times(subject: Subject) -> Part:
    """Charts, thread states and a heat map on one clock; choosing a piece of time there filters the flame graph."""
    data = times_template_data(subject.item.run, {row.stage_id: row.words for row in subject.stages})
    modules = [f"times/{name}.js" for name in ("bar", "series", "heat")]
    return Part("times", "Over time", data, modules, ("vendor/uplot/uPlot.min.css", "times/times.css"), ("uplot",))


def _hotspots(subject: Subject) -> Part:
    run = subject.item.run
    events, series, marks = ([one.document() for one in of(run)] for of in (sampled, series_counted, marked))
    looks = heap_looks(run)
    data = {
        "hot": subject.hotspots,
        "heaps": subject.heaps,
        "looks": looks[:MOST_PROCESSES],
        "hidden_looks": len(looks[MOST_PROCESSES:]),
        "recorded": recorded_rows(events, series, marks),
        "families": FAMILIES,
        "event": _event_words(subject),
    }
    return Part("hotspots", "Hot code", data, (), STYLES)


def _event_words(subject: Subject) -> str:
    """The event that the tables count, as a heading has it."""
    event = counted_event(subject.item.run) or ""
    return "CPU" if event == "cpu" else event


def _executors(subject: Subject) -> Part:
    data = {"executors": subject.executors, "recorded": subject.recorded, "event": _event_words(subject)}
    return Part("executors", "Executors", data)


def _coverage(subject: Subject) -> Part:
    return Part("coverage", "Coverage", {"seen": subject.seen, "most": _MOST_NOTES})


def _settings(subject: Subject) -> Part:
    """Spark's settings by name, redacted by the reader."""
    conf = subject.item.run.tables.get("conf")
    rows = [] if conf is None else conf.select(["key", "value", "scope"]).to_pylist()
    settings = sorted({(row["key"], row["value"] or "") for row in rows if row["scope"] == "spark"})
    return Part("settings", "Settings", {"settings": settings})


PARTS: Final[tuple[Callable[[Subject], Part], ...]] = (
    _time,
    _findings,
    _cores,
    _sql,
    _stages,
    _tasks,
    _times,
    _flame,
    _hotspots,
    _executors,
    _coverage,
    _settings,
)
"""The parts of the page from top to bottom. One with nothing to say renders nothing, and is not in the navigation."""

_PARTS_ALONE: Final = (_time, _flame, _hotspots, _times, _findings, _coverage)
"""What a recording without an event log can tell."""


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
            format_time(started) if started is not None else None,
        )
        if fact
    ]
