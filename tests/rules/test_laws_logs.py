"""Laws that hold for the rules together on every log of real Spark: each log is read and diagnosed once."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from msgspec import structs
from msgspec.structs import fields

from emberscope.cli.main import exit_code
from emberscope.eventlog.read import read_event_log
from emberscope.report.diagnosis import diagnose, diagnose_document
from emberscope.rules.base import Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import LEAST_TASKS_SEEN, SEVERITIES, data_confidence, evaluate
from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.load import load
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from tests.rules.logs import HEALTHY, PATHS, diagnosis, log_run, severe, text_of, worst
from tests.rules.scaled import heavier, longer, wider
from tests.runs import START_MS, found, job, run_of, stage, task, with_rows

every_log = pytest.mark.parametrize("name", sorted(PATHS))
healthy_log = pytest.mark.parametrize("name", HEALTHY)

# Those over samples have laws of their own, with recordings (tests/rules/stacks); so have those over lines of logs.
every_rule_of_logs = pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if not any(read.table in (SAMPLES, LOG_EVENTS) for read in rule.reads)],
    ids=lambda rule: rule.code,
)
# Told in no log that is kept: that they find something stands in their own tests.
WITHOUT_A_LOG = frozenset(
    {"C4", "C5", "C7", "C9", "D3", "D4", "D5", "D6", "D7"} | {"E4", "E7", "E9", "F11", "G4", "G6", "G7", "G8"}
)
# What a rule must not answer to: settings as nobody can mean them.
JUNK = ("", "junk", "-1", "1e400", "99999999999999999999", "0", "\u202e")


@every_rule_of_logs
def test_finds_something_in_one_log_of_real_spark_and_nothing_in_another(rule: Rule[Any]) -> None:
    """Logs that are kept are short: what costs little in them counts here too."""
    floors = {field.name: 0 for field in fields(rule.limits) if field.name.startswith("floor")}
    lowered = structs.replace(rule, limits=structs.replace(rule.limits, **floors))
    counts = [len(found(lowered, log_run(name))) for name in PATHS]
    assert min(counts) == 0
    assert (max(counts) > 0) != (rule.code in WITHOUT_A_LOG)


@every_log
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    run = log_run(name)
    for table_name, table in run.tables.items():
        rows = list(range(table.num_rows))
        random.Random(7).shuffle(rows)
        run = with_rows(run, table_name, table.take(pa.array(rows, pa.int64())))
    shuffled, told = evaluate(run), diagnosis(name)
    assert [one.document() for one in shuffled.findings] == [one.document() for one in told.findings]
    assert shuffled.not_evaluated == told.not_evaluated


@every_log
def test_every_finding_is_complete(name: str) -> None:
    length = log_run(name).application.observed_ms or 0
    for ranked in diagnosis(name).findings:
        said = ranked.finding
        assert said.title, ranked.rule.code
        assert said.summary, ranked.rule.code
        assert said.saving_basis.endswith("."), said.saving_basis
        assert 0 <= (said.wasted_wall_ms or 0) <= length + 1, ranked.rule.code
        assert (said.wasted_core_ms or 0) >= 0, ranked.rule.code
        assert said.evidence, ranked.rule.code
        assert said.advice, ranked.rule.code


@every_log
def test_every_advice_has_a_value_that_is_known(name: str) -> None:
    for ranked in diagnosis(name).findings:
        for advice in ranked.finding.advice:
            assert len(advice.text) > 10, ranked.rule.code
            if advice.kind == "set":
                assert advice.setting is not None
                assert advice.setting.startswith("spark."), advice.setting
                assert advice.value, advice
                assert re.fullmatch(r"[^\s<>{}…?]+( [^\s<>{}…?]+)*", advice.value), advice
                assert not re.search(r"\bN\b|\bnan\b|\binf\b|None|\d\.\d{4,}", advice.value), advice
            elif advice.kind == "unset":
                assert advice.setting is not None
                assert advice.value is None, advice
            else:
                assert advice.setting is None
                assert advice.value is None, advice


@pytest.mark.parametrize("name", sorted(name for name, path in PATHS.items() if path.suffix == ".zstd"))
def test_of_half_of_the_events_nothing_worse_is_made(name: str, tmp_path: Path) -> None:
    """What the listener bus drops is missing at random. The log's own head, and its end, are there."""
    head = (b'{"Event":"SparkListenerLogStart"', b'{"Event":"SparkListenerEnvironmentUpdate"')
    kept = (*head, b'{"Event":"SparkListenerApplication', b'{"Event":"SparkListenerResourceProfile')
    chance = random.Random(7)
    lines = [
        line
        for line in text_of(PATHS[name]).splitlines(keepends=True)
        if line.startswith(kept) or chance.random() < 0.5
    ]
    log = tmp_path / "half"
    log.write_bytes(b"".join(lines))
    half = read_event_log(str(log))
    assert data_confidence(half) < data_confidence(log_run(name))
    rules = [rule for rule in RULES if rule.code != "H6"]  # which says that events are missing
    told, whole = evaluate(half, rules), diagnosis(name)
    hint = SEVERITIES.index("info")
    found_now = [(one.rule.code, one.severity, one.finding.title) for one in told.findings]
    assert worst(told) >= min(worst(whole), hint), found_now


@every_log
def test_without_some_of_the_tasks_nothing_is_said_to_have_been_idle(name: str) -> None:
    """A lost task leaves its slot as empty as one that never ran."""
    run = log_run(name)
    chance = random.Random(7)
    kept = [row for row in range(run.tables["tasks"].num_rows) if chance.random() < 0.7]
    part = with_rows(run, "tasks", run.tables["tasks"].take(pa.array(kept, pa.int64())))
    told, of_idleness = evaluate(part), {rule.code for rule in RULES if rule.needs_all_tasks}
    assert of_idleness >= {"A1", "A2", "A3", "A8", "B6"}
    if data_confidence(part) < LEAST_TASKS_SEEN:
        assert of_idleness <= {answer.code for answer in told.not_evaluated}
        assert not of_idleness & {one.rule.code for one in told.findings}


@pytest.mark.parametrize("name", ["cache_never_read", "findings_waiting", "findings_plan_shapes"])
def test_a_log_that_goes_on_elsewhere_claims_no_cache_unused(name: str, tmp_path: Path) -> None:
    lines = text_of(PATHS[name]).splitlines(keepends=True)
    for part in (lines[: len(lines) * 3 // 4], lines[: len(lines) // 2], [*lines[:3], *lines[len(lines) // 3 : -1]]):
        log = tmp_path / "part"
        log.write_bytes(b"".join(part))
        assert "C10" not in {one.rule.code for one in evaluate(read_event_log(str(log))).findings}


@healthy_log
def test_a_healthy_log_stays_healthy_as_it_grows(name: str) -> None:
    run = log_run(name)
    assert severe(diagnosis(name)) == []
    assert severe(evaluate(longer(run, 4))) == []
    assert severe(evaluate(wider(longer(run, 4), 4))) == []
    assert severe(evaluate(heavier(longer(run, 4), 4))) == []


def test_growing_keeps_what_the_scheduler_did() -> None:
    """The law above is worth nothing if what it grows is no job any more."""
    run = log_run("findings_none")
    grown = longer(run, 3)
    for before, after in ((run, grown), (run, wider(run, 3))):
        assert after.tables["tasks"].num_rows == 3 * before.tables["tasks"].num_rows
        assert data_confidence(after) == data_confidence(before) == 1.0
    busy_ms = [
        sum(pc.subtract(one.tables["tasks"]["finish_ms"], one.tables["tasks"]["launch_ms"]).to_pylist())
        for one in (run, grown)
    ]
    assert busy_ms[1] == 3 * busy_ms[0]
    assert grown.application.duration_ms is not None
    assert run.application.duration_ms is not None
    assert run.application.duration_ms < grown.application.duration_ms < 3 * run.application.duration_ms


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_settings_as_nobody_can_mean_them_are_no_reason_to_crash(rule: Rule[Any]) -> None:
    source = Path(__file__).parents[2] / "src" / "emberscope" / "rules"
    keys = sorted({key for p in source.rglob("*.py") for key in re.findall(r"\bspark(?:\.\w+)+", p.read_text())})
    for name in ("findings_skew_spill_python", "findings_plan_shapes", "findings_waiting", "small_files"):
        run = log_run(name)
        for value in JUNK:
            rows = [{"key": key, "value": value, "scope": "spark"} for key in [*keys, "spark.no.such.setting"]]
            conf = pa.Table.from_pylist(rows, schema=run.tables["conf"].schema)
            for ranked in evaluate(with_rows(run, "conf", conf), [rule]).findings:
                assert ranked.severity in SEVERITIES
                assert "nan" not in ranked.finding.summary.split()


def plan_rows(shape: str, count: int) -> list[dict[str, Any]]:
    """Nodes of one plan: a chain, or a root with all others below it."""
    names = ("Project", "Filter", "Exchange", "SortMergeJoin", "Scan parquet", "BroadcastExchange", "Window", "Expand")
    return [
        {
            "sql_execution_id": 0,
            "node_id": node,
            "parent_node_id": None if node == 0 else (node - 1 if shape == "deep" else 0),
            "name": names[node % len(names)],
            "detail": f"{names[node % len(names)]} [k#{node}]",
            "stage_ids": [0],
        }
        for node in range(count)
    ]


@pytest.mark.parametrize("shape", ["deep", "flat"])
def test_a_plan_of_5000_nodes_is_judged(shape: str) -> None:
    run = run_of(
        tasks=[task(0, 100 * i, 90, task_id=i, input_bytes=1 << 20, shuffle_read_local_bytes=1) for i in range(40)],
        stages=[stage(0, 0, 5_000, sql_execution_id=0, task_count=40)],
        jobs=[job(0, 0, 5_000, sql_execution_id=0)],
        sql_executions=[{"sql_execution_id": 0, "started_ms": 0, "ended_ms": 5_000, "status": "succeeded"}],
        plan_nodes=plan_rows(shape, 5_000),
        plan_metrics=[
            {
                "sql_execution_id": 0,
                "node_id": node,
                "accumulator_id": node,
                "name": "number of output rows",
                "metric_type": "sum",
                "value": 10 * node,
                "stage_ids": [0],
            }
            for node in range(5_000)
        ],
    )
    assert all(ranked.severity in SEVERITIES for ranked in evaluate(run).findings)


def test_stages_without_tasks_and_times_that_run_backwards_invent_nothing() -> None:
    run = run_of(
        tasks=[task(0, 100 * i, 90, task_id=i, finish_ms=START_MS - 5_000 + i) for i in range(8)],
        stages=[stage(0, 5_000, 100, task_count=8), stage(1, 200, 200, task_count=0), stage(2, 300, 90, task_count=0)],
        jobs=[job(0, 5_000, 100), job(1, 300, 300)],
    )
    assert severe(evaluate(run)) == []


def test_applications_in_one_directory_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings of logs that lie together are those of each log by itself."""
    import json

    names = [name for name in PATHS if PATHS[name].suffix == ".zstd"][:6]
    for name in names:
        (tmp_path / PATHS[name].name).write_bytes(PATHS[name].read_bytes())
    assert exit_code(["diagnose", str(tmp_path), "--json"]) == 0
    together = json.loads(capsys.readouterr().out)["findings"]
    for name in names:
        run: Run = load(str(tmp_path / PATHS[name].name), signatures=SIGNATURES)
        alone = diagnose_document([diagnose(run)])["findings"]
        mine = [one for one in together if one["app_id"] == run.application.app_id]
        assert [{**one, "caused_by": []} for one in mine] == [{**one, "caused_by": []} for one in alone], name
