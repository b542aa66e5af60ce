"""Values of a log that no Spark wrote: every verb gives data or one sentence, and all verbs the same figures."""

import json
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emberscope.cli.main import exit_code
from tests.eventlog.logs import EVENTFUL, packed_text, plain_text

# A short log: the first two events of each kind, in their order.
_seen: dict[str, int] = {}
EVENTS = [
    event
    for event in map(json.loads, (packed_text(EVENTFUL) + plain_text()).splitlines())
    if _seen.setdefault(event["Event"], 0) < 2 and not _seen.update({event["Event"]: _seen[event["Event"]] + 1})
]
VALUES = [
    *(None, True, "", "x", "3", "\ud800", "a\0b", 0, -1, 1.5, 1e308, [], {}, [None], {"a": [1]}),
    *(2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), -(2**63) + 1, 2**63, 2**80),
    *(-62_135_596_800_000, 253_402_300_799_000, 253_402_300_800_000),
]


def _places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, child in items:
        yield from _places(child, (*path, key))


PLACES = sorted(
    {(event["Event"], place) for event in EVENTS for place in _places(event) if place != ("Event",)}, key=str
)


def _changed(event: dict, places: dict[tuple, object]) -> str:
    tree = json.loads(json.dumps(event))
    for (name, place), value in places.items():
        if event["Event"] != name:
            continue
        at = tree
        try:
            for key in place[:-1]:
                at = at[key]
            at[place[-1]]  # only what is there
        except (LookupError, TypeError):
            continue
        at[place[-1]] = value
    return json.dumps(tree, separators=(",", ":"))


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = exit_code(list(words))
    out, err = capsys.readouterr()
    assert code in (0, 3), err
    assert "inside emberscope" not in err
    return code, out


_START = "SparkListenerApplicationStart"
_END = "SparkListenerTaskEnd"


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(places=st.dictionaries(st.sampled_from(PLACES), st.sampled_from(VALUES), min_size=1, max_size=4))
@example(places={(_START, ("Timestamp",)): -(2**63)})
@example(places={(_END, ("Task Metrics", "Executor Run Time")): 2**63 - 1})
@example(places={("SparkListenerStageCompleted", ("Stage Info", "Completion Time")): -(2**63)})
@example(places={("SparkListenerStageCompleted", ("Stage Info", "Completion Time")): 2**63 - 1})
@example(places={(_START, ("Timestamp",)): 253_402_300_800_000})
@example(places={(_END, ("Task Info", "Launch Time")): 2**63 - 1})
@example(places={(_END, ("Task Metrics", "Executor CPU Time")): 2**53 + 1})
@example(places={(_START, ("App Name",)): "\ud800", (_START, ("App ID",)): "a\0b"})
def test_prop_any_value_anywhere(places: dict, tmp_path, capsys) -> None:
    path, to = tmp_path / "log", tmp_path / "to"
    path.write_text("".join(_changed(event, places) + "\n" for event in EVENTS))
    code, out = _run(capsys, "summary", "--json", str(path))
    if not out:
        return
    (app,) = json.loads(out)["apps"]
    assert sum(app["event_counts"].values()) + app["malformed_lines"] == app["lines"] == len(EVENTS)
    assert _run(capsys, "diagnose", "--json", str(path))[0] == code
    assert _run(capsys, "diagnose", str(path))[0] == code
    assert _run(capsys, "report", str(path), "-o", str(tmp_path / "report.html"))[0] == code
    _, out = _run(capsys, "ingest", "--json", str(path), "-o", str(to))
    (written,) = json.loads(out)["written"]
    tables = {name: pq.read_table(f"{written['directory']}/tables/{name}.parquet") for name in written["tables"]}
    assert {name: table.num_rows for name, table in tables.items()} == written["tables"]
    assert app["tasks"]["total"] == tables["tasks"].num_rows
    assert (app["jobs"], app["sql_executions"]) == (tables["jobs"].num_rows, tables["sql_executions"].num_rows)
    for name, total in app["totals"].items():
        known = [value for value in tables["tasks"][name].to_pylist() if value is not None]
        assert total == (sum(known) if known else None), name
