from __future__ import annotations

from emberscope.rules.plan.shuffled_join import RULE
from emberscope.tables.run import Run
from tests.rules.plan.tables import op, run_with, without_floors
from tests.runs import found, spark_wrote, with_rows

_MIB = 1 << 20


def _join(
    left: int, right: int, kind: str = "Inner", conf: dict[str, str] | None = None, name: str = "SortMergeJoin"
) -> Run:
    sides = [
        op(
            "Sort",
            op("Exchange", op("Scan csv", stages=[n]), stages=[n, 2], data_size=size),
            stages=[2],
            sort_time=20_000,
        )
        for n, size in ((0, left), (1, right))
    ]
    joined = op(name, *sides, stages=[2], detail=f"{name} [day#1], [day#7], {kind}")
    run = run_with(joined, stage_ms={0: 20_000, 1: 1_000, 2: 40_000}, conf=conf)
    tasks = run.tables["tasks"]
    rows = [{**row, "shuffle_write_time_ns": 5_000_000_000} for row in tasks.to_pylist()]
    return with_rows(run, "tasks", type(tasks).from_pylist(rows, schema=tasks.schema))


def test_small_side_could_be_sent_to_all() -> None:
    (finding,) = found(RULE, _join(20 * 1024 * _MIB, 50 * _MIB))
    assert finding.title == "A join by day shuffled 20.0 GiB to meet 50.0 MiB"
    assert "its right side has only" in finding.summary
    assert finding.wasted_wall_ms == 5_000 + 10_000, "each task of the scan 5 s, of the join a quarter of the sorts"
    advice = {item.setting: item for item in finding.advice}
    assert advice["spark.sql.autoBroadcastJoinThreshold"].value == "75m"
    assert "right side of the join by day" in advice[None].text


def test_left_side() -> None:
    (finding,) = found(RULE, _join(2 * _MIB, 200 * _MIB))
    assert "its left side has only" in finding.summary
    assert [item.kind for item in finding.advice] == ["code"], "the threshold was never in the way"


def test_sides_that_an_outer_join_keeps_cannot_be_sent() -> None:
    assert not found(RULE, _join(2 * _MIB, 200 * _MIB, "LeftOuter"))
    assert found(RULE, _join(2 * _MIB, 200 * _MIB, "RightOuter"))
    assert not found(RULE, _join(2 * _MIB, 200 * _MIB, "FullOuter"))


def test_both_sides_large_or_both_small() -> None:
    assert not found(RULE, _join(20 * 1024 * _MIB, 900 * _MIB))
    assert not found(RULE, _join(2 * _MIB, 3 * _MIB))
    assert not found(RULE, _join(2 * _MIB, 200 * _MIB, name="BroadcastHashJoin"))


def test_broadcasts_that_were_switched_off_on_purpose() -> None:
    (finding,) = found(RULE, _join(2 * _MIB, 200 * _MIB, conf={"spark.sql.autoBroadcastJoinThreshold": "-1"}))
    assert finding.confidence == 0.3
    assert "on purpose" in finding.advice[1].text
    assert finding.advice[1].value == "10m"


def test_spark_sorted_both_sides() -> None:
    (finding,) = found(without_floors(RULE), spark_wrote("skew_spill_python"))
    assert finding.title == "A join by key shuffled 252 MiB to meet 15.6 KiB"
    assert finding.confidence == 0.3, "broadcasts were switched off"
    assert not found(without_floors(RULE), spark_wrote("plan_shapes"))
