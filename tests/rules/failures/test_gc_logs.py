"""What logs of the collector tell: heaps that stay full, pauses that outlast heartbeats."""

from __future__ import annotations

from pathlib import Path

from emberscope.rules.failures.gc_full_heap import RULE as FULL_HEAP
from emberscope.rules.failures.gc_long_pause import RULE as LONG_PAUSE
from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.load import find_inputs, load_input
from tests.logs.test_gc_log import FULL, HEALTHY, unified
from tests.rules.failures.log_files import run_of_file
from tests.runs import found


def test_a_heap_that_stays_full_wants_half_more(tmp_path: Path) -> None:
    (finding,) = found(FULL_HEAP, run_of_file(tmp_path, HEALTHY + FULL))
    assert "6 full collections left 8.0 GiB of 8.0 GiB in use" in finding.title
    assert "OutOfMemoryError" in finding.summary
    assert [(a.setting, a.value) for a in finding.advice if a.kind == "set"] == [("spark.executor.memory", "12288m")]
    assert finding.consequence == "lost"
    assert finding.evidence[0].line == 206


def test_a_long_pause_of_a_full_heap(tmp_path: Path) -> None:
    text = HEALTHY + unified(500, "Pause Full (G1 Compaction Pause)", 8190, 7900, 132_000)
    (finding,) = found(LONG_PAUSE, run_of_file(tmp_path, text))
    assert "stood still for 2 min 12 s" in finding.title
    assert "spark.network.timeout" in finding.summary
    assert [a.setting for a in finding.advice if a.kind == "set"] == ["spark.executor.memory"]
    assert finding.consequence == "lost"


def test_a_long_pause_without_the_processor_is_the_machine(tmp_path: Path) -> None:
    text = HEALTHY + unified(500, "Pause Young (Normal) (G1 Evacuation Pause)", 5000, 900, 15_000)
    text += "[500.000s][info][gc,cpu] GC(500) User=0.50s Sys=0.50s Real=15.00s\n"
    (finding,) = found(LONG_PAUSE, run_of_file(tmp_path, text))
    assert "swapping" in finding.summary
    assert [a.kind for a in finding.advice] == ["cluster"]
    assert finding.consequence == "risk"


def test_several_executors_are_one_finding(tmp_path: Path) -> None:
    text = HEALTHY + FULL + unified(500, "Pause Full (G1 Compaction Pause)", 8190, 7900, 132_000)
    for number in (7, 8, 9):
        folder = tmp_path / "application_1525000000000_0001" / f"container_1525000000000_0001_01_00000{number}"
        folder.mkdir(parents=True)
        (folder / "gc.log").write_text(text.replace("132000", f"13{number}000"))
    (item,), problems = find_inputs(str(tmp_path))
    assert problems == []
    run = load_input(item, signatures=SIGNATURES)
    (heap,), (pause,) = found(FULL_HEAP, run), found(LONG_PAUSE, run)
    assert "3 JVMs" in heap.title
    assert "stood still for up to 2 min 19 s" in pause.title
    assert len(heap.evidence) == len(pause.evidence) == 3


def test_a_healthy_log_has_neither(tmp_path: Path) -> None:
    run = run_of_file(tmp_path, HEALTHY)
    assert run.tables["log_events"].num_rows == 1
    assert found(FULL_HEAP, run) == []
    assert found(LONG_PAUSE, run) == []
