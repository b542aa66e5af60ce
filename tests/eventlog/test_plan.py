"""Plans that real logs rarely show."""

import json

from emberscope.eventlog.plan import plan_nodes


def _node(name: str, *children: object, **more: object) -> dict:
    return {"nodeName": name, "simpleString": name, "children": list(children), "metrics": [], **more}


def test_generated_code_ends_at_its_border() -> None:
    scan = _node("Scan", metrics=[{"name": "rows", "accumulatorId": 7, "metricType": "sum"}])
    plan = _node("WholeStageCodegen (2)", _node("Project", _node("InputAdapter", _node("Exchange", scan))))
    got = plan_nodes(json.dumps(plan).encode())
    assert [(n.name, n.parent_id, n.codegen_id) for n in got] == [
        ("WholeStageCodegen (2)", None, 2),
        ("Project", 0, 2),
        ("Exchange", 1, None),
        ("Scan", 2, None),
    ]
    assert [(m.accumulator_id, m.name, m.metric_type) for m in got[3].metrics] == [(7, "rows", "sum")]


def test_a_plan_that_cannot_be_read_has_no_operators() -> None:
    assert plan_nodes(b"") == ()
    assert plan_nodes(b"null") == ()
    assert plan_nodes(b'{"nodeName":') == ()
    assert plan_nodes(b'{"nodeName":"A","children":' * 5000) == ()
    assert [node.name for node in plan_nodes(b'{"nodeName":"A","children":[1,null],"metrics":3}')] == ["A"]
