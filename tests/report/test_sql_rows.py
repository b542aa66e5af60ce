from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.read import read_event_log
from emberscope.report import sql_rows
from emberscope.report.diagnosis import diagnose
from emberscope.report.plan_svg import Links, heat_of, plan_svg
from emberscope.report.plan_tree import cut, plan_of
from emberscope.report.sql_figures import costs, sampled
from emberscope.report.sql_rows import sql_part
from emberscope.report.visible import visible
from tests.report.plans import EVIL, metric_row, node, plans, recorded, run_with
from tests.runs import run_of, spark_wrote, without

DATA = Path(__file__).parents[1] / "data"
LOGS = sorted(path for path in (DATA / "eventlog").iterdir() if "spark-" in path.name)

PLAN = [
    node(0, None, "WholeStageCodegen (2)", codegen_id=2, stage_ids=[0]),
    node(1, 0, "HashAggregate", "HashAggregate(keys=[k#1], functions=[])", codegen_id=2, stage_ids=[0]),
    node(2, 1, "Exchange", "Exchange hashpartitioning(k#1, 8)", stage_ids=[0]),
]


def test_an_execution_has_its_words_its_cost_and_its_plan():
    metrics = [metric_row(1, 1, "time in aggregation build", "timing", 1000)]
    part = sql_part(run_with(plan_nodes=PLAN, plan_metrics=metrics), [], False)
    (execution,) = part.executions
    assert (execution.id, execution.title, execution.started_ms, execution.duration_ms) == (
        0,
        "what it does",
        1_000,
        10_000,
    )
    assert (execution.share, execution.jobs, execution.stages) == (0.1, (0,), ((0, "#stage-0-0"),))
    assert (execution.cost.tasks, execution.cost.task_ms, execution.cost.shuffle_read_bytes) == (1, 4_000, 42)
    assert execution.samples is None
    picture = str(execution.plan.picture)
    assert "by k, into 8" in picture
    assert 'class="plan-box heat-3" id="plan-0-1"' in picture  # a quarter of the task time
    assert [(row.level, row.code) for row in execution.plan.rows] == [(1, 2), (2, None)]
    assert execution.plan.rows[0].metrics == "time in aggregation build: 1.0 s"


def test_generated_code_leads_to_its_frames_in_the_flame_graph():
    part = sql_part(recorded(run_with(plan_nodes=PLAN)), [], True)
    (execution,) = part.executions
    assert (part.event, execution.samples) == ("cpu", 40)
    assert part.anchors == (r"sql=0&search=GeneratedIteratorForCodegenStage2%5Cb",)
    picture = unescape(str(execution.plan.picture))
    assert f'href="#{part.anchors[0]}"' in picture
    assert "CPU 75.0 %" in picture
    assert 'class="plan-code heat-5"' in picture
    assert execution.stages == ((0, "#stage=0"),)


def test_samples_of_one_event_are_counted():
    found = sampled(recorded(run_with(plan_nodes=PLAN)))
    assert (found.event, found.by_execution, found.by_code) == ("cpu", {0: 40}, {0: {0: 30}})
    assert sampled(run_with()) is None


def test_findings_are_named_at_the_operator_of_which_they_speak():
    run = spark_wrote("skew_spill_python")
    item = diagnose(run)
    part = sql_part(run, item.diagnosis.findings, False)
    executions = {execution.id: execution for execution in part.executions}
    about = {title.split(":")[0]: number for number, title in executions[0].findings}
    skewed, spilled = about["Stage 4 is skewed"], next(n for title, n in about.items() if "spilled" in title)
    boxes = _boxes(executions[0])
    named = {re.search(r'class="name"[^>]*>([^<]*)', box)[1]: re.findall(r"#finding-(\d+)", box) for box in boxes}
    assert str(skewed) in named["SortMergeJoin"]
    (spilling,) = [box for box in boxes if f"#finding-{spilled}" in box]
    assert "spilled 192 MiB of memory" in spilling
    place = re.search(r'id="([^"]*)"', spilling)[1]
    assert part.operators[spilled] == f"#{place}"
    ((python, _),) = executions[1].findings
    assert "weigh(" in next(box for box in _boxes(executions[1]) if f"#finding-{python}" in box)


def _boxes(execution):
    return re.findall(r'<g class="plan-box.*?</g>', str(execution.plan.picture), re.S)


def test_the_longest_come_first_and_the_others_fold_by_their_words(monkeypatch):
    monkeypatch.setattr(sql_rows, "MOST_PLANS", 2)
    monkeypatch.setattr(sql_rows, "MOST_ROWS", 2)
    rows = [
        {
            "sql_execution_id": i,
            "description": f"batch = {i}\nid = 5ff9d1aa-0000-4b2c-9f00-0123456789ab",
            "status": "succeeded",
        }
        | {"started_ms": 0, "ended_ms": 100 + i}
        for i in range(50)
    ]
    rows += [
        {"sql_execution_id": 90 + i, "description": name, "status": "failed", "started_ms": 0, "ended_ms": 10 - i}
        for i, name in enumerate(("a", "b", "c"))
    ]
    part = sql_part(run_of(sql_executions=rows), [], False)
    assert (part.total, [execution.id for execution in part.executions]) == (53, [49, 48])
    first, second = part.others
    assert (first.title, first.count, first.failed, first.longest) == ("batch = … id = …", 48, 0, 47)
    assert (first.total_ms, first.longest_ms) == (sum(100 + i for i in range(48)), 147)
    assert (second.title, second.count, second.failed) == ("a", 1, 1)
    assert part.hidden == 2
    (text,) = {execution.text.count("\n") for execution in part.executions}
    assert text == 1


def test_plans_stop_where_the_page_is_full_and_it_says_so(monkeypatch):
    monkeypatch.setattr(sql_rows, "MOST_BOXES_IN_ALL", 5)
    rows = [
        {"sql_execution_id": i, "description": "q", "status": "succeeded", "started_ms": 0, "ended_ms": 90 - i}
        for i in range(3)
    ]
    nodes = [node(n, n - 1 if n else None, "Project", sql_execution_id=i) for i in range(2) for n in range(4)]
    part = sql_part(run_of(sql_executions=rows, plan_nodes=nodes), [], False)
    assert [execution.plan is None for execution in part.executions] == [False, True, True]
    assert part.executions[1].without.startswith("Its plan of 4 operators is not drawn")
    assert part.executions[2].without == "The event log has no plan of it."


def test_an_execution_that_has_not_ended_lasts_until_the_log_does():
    rows = [{"sql_execution_id": 0, "status": "unfinished", "started_ms": 40_000}]
    (execution,) = sql_part(run_of(sql_executions=rows), [], False).executions
    assert (execution.duration_ms, execution.title, execution.share) == (60_000, "no description", 0.6)
    (execution,) = sql_part(run_of(None, sql_executions=[{"sql_execution_id": 0}]), [], False).executions
    assert (execution.duration_ms, execution.started_ms, execution.share) == (None, None, None)


def test_the_statement_of_a_session_is_the_text():
    executions = [{"sql_execution_id": 0, "description": "d", "job_tags": ["t", "u"], "started_ms": 0, "ended_ms": 1}]
    statements = [{"statement_id": "1", "job_tag": "u", "text": "SELECT 1"}]
    (execution,) = sql_part(run_of(sql_executions=executions, statements=statements), [], False).executions
    assert execution.text == "SELECT 1"


def test_nothing_is_known_without_the_table():
    assert sql_part(without(run_of(), "sql_executions"), [], False) is None


def test_costs_are_sums_over_the_tasks_of_the_stages():
    run = spark_wrote("skew_spill_python")
    found = costs(run)
    tasks = run.tables["tasks"].to_pylist()
    stages = {row["stage_id"]: row["sql_execution_id"] for row in run.tables["stages"].to_pylist()}
    for execution, cost in found.items():
        own = [task for task in tasks if stages[task["stage_id"]] == execution]
        assert (cost.tasks, cost.task_ms) == (len(own), sum(task["executor_run_time_ms"] for task in own))


@given(plans(), st.integers(1, 9))
def test_prop_any_plan_is_sound_markup_with_sound_links(given_plan, most):
    rows, metrics = given_plan
    plan = cut(plan_of(rows, metrics, {0: 3}), most)
    findings = {rows[0]["node_id"]: [1]}
    picture = plan_svg(plan, Links("plan-0", 1_000, 5, findings, code="#c{}".format), EVIL)
    root = ET.fromstring(str(picture))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert {f"plan-0-{operator.node_id}" for operator in plan.operators} <= set(ids)
    targets = {element.get("href") for element in root.iter("a")}
    assert all(target[1:] in ids for target in targets if target.startswith("#plan-"))
    assert not any(element.tag in ("script", "style") or element.get("style") for element in root.iter())
    assert root.get("aria-label") == visible(EVIL)
    assert "\u202e" not in str(picture)


@pytest.mark.parametrize(("share", "step"), [(0, 0), (0.009, 0), (0.01, 1), (0.3, 4), (0.5, 5), (3, 5)])
def test_shades(share, step):
    assert heat_of(share) == step


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_every_plan_that_spark_logged_is_drawn(log):
    run = read_event_log(str(log))
    part = sql_part(run, [], False)
    nodes = run.tables["plan_nodes"]["sql_execution_id"].to_pylist()
    assert {execution.id for execution in part.executions if execution.plan} == set(nodes)
    for execution in part.executions:
        pictures = [p for p in (execution.plan.picture, execution.plan.before) if p] if execution.plan else []
        ids = [e.get("id") for p in pictures for e in ET.fromstring(str(p)).iter() if e.get("id")]
        assert len(ids) == len(set(ids))
        if execution.plan:
            assert len(execution.plan.rows) == str(execution.plan.picture).count('<g class="plan-box')
