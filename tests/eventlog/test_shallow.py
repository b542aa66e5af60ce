"""Plans of more operators than a JSON decoder goes down."""

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.eventlog.events import Named, decode
from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.shallow import DEEPER_NODE, DEPTH, shallow

TREES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=30,
)


@given(TREES, st.sampled_from(["ascii", "utf-8"]))
def test_what_is_not_deep_stays(tree: Any, encoding: str) -> None:
    line = json.dumps(tree, ensure_ascii=encoding == "ascii").encode("utf-8", "surrogatepass")
    assert shallow(line) == line


@settings(max_examples=30)
@given(TREES, st.integers(DEPTH, DEPTH + 3), st.integers(1, 3000))
def test_what_is_deep_is_cut_to_json_that_is_not(tree: Any, above: int, more: int) -> None:
    text = json.dumps(tree)
    for _ in range(above + more):
        text = f"[{text}]"
    cut = shallow(text.encode())
    assert cut.startswith(b"[" * DEPTH)
    msgspec.json.decode(cut)


def test_a_line_that_is_cut_off_is_still_malformed() -> None:
    line = b'{"Event":"A","deep":' + b'[{"a":"]' * 2000
    assert shallow(line) == b""
    try:
        decode(msgspec.json.Decoder(Named), line)
    except msgspec.MsgspecError:
        return
    raise AssertionError


def test_a_query_of_many_operators_keeps_its_upper_ones(tmp_path) -> None:
    plan = '{"nodeName":"Range","simpleString":"r","children":[],"metrics":[]}'
    for number in range(3000, 0, -1):
        plan = f'{{"nodeName":"Union","simpleString":"u {number} \\"{{[","children":[{plan}],"metrics":[]}}'
    name = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    start = '{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"x","Timestamp":1,"User":"u"}\n'
    event = f'{{"Event":"{name}","executionId":4,"description":"d","sparkPlanInfo":{plan},"time":5}}\n'
    log = tmp_path / "log"
    log.write_text(start + event)
    run = read_event_log(str(log))
    assert run.tables["sql_executions"]["started_ms"].to_pylist() == [5]
    nodes = run.tables["plan_nodes"].to_pylist()
    assert [node["name"] for node in nodes] == ["Union"] * (len(nodes) - 1) + [DEEPER_NODE]
    assert nodes[0]["detail"] == 'u 1 "{['
    assert len(nodes) > DEPTH // 2 - 5
    assert [note.code for note in run.coverage.notes] == ["limited"]
    assert run.application.malformed_lines == 0
