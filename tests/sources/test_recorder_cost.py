"""What manifests say of the recorder's cost, and of what it did to hold its budgets, in a run read from the store."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.fold import natural_weight
from emberscope.report.seen import seen
from emberscope.report.summary import summarized, summary_document, summary_text
from emberscope.sources.recorder_cost import own_cpu_words
from emberscope.sources.run import load_run
from tests.sources.stored import STARTED_MS, add_chunk, recording, whole_run

DATA = recording("workload-jdk17")
LATER = {"first_ms": STARTED_MS + 20_000, "last_ms": STARTED_MS + 35_000}


def test_the_recorders_own_cpu_is_that_of_the_last_chunk_of_each_process(tmp_path: Path) -> None:
    run = whole_run(tmp_path)
    for sequence, (own, process) in enumerate([(10_000_000, 900_000_000), (14_000_000, 2_000_000_000)]):
        add_chunk(run, "0", sequence, DATA, own_cpu_ns=own, process_cpu_ns=process)
    add_chunk(run, "1", 0, DATA, own_cpu_ns=6_000_000, process_cpu_ns=2_000_000_000)
    add_chunk(run, "driver", 0, DATA, own_cpu_ns=30_000_000, process_cpu_ns=3_000_000_000)
    read = load_run(str(run))
    assert read.recorder["own_cpu"] == [
        {"role": "executor", "processes": 2, "own_cpu_ns": 20_000_000, "process_cpu_ns": 4_000_000_000},
        {"role": "driver", "processes": 1, "own_cpu_ns": 30_000_000, "process_cpu_ns": 3_000_000_000},
    ]
    assert own_cpu_words(read.recorder["own_cpu"]) == "0.5 % of the executors' CPU, 1.0 % of the driver's"
    document = summary_document([summarized("run", read)])
    assert document["run"]["recorder_cpu"] == read.recorder["own_cpu"]
    said = "  the recorder's own threads used 0.5 % of the executors' CPU, 1.0 % of the driver's\n"
    assert said in summary_text(document)
    assert seen(read).recorder.endswith(" Its own threads used 0.5 % of the executors' CPU, 1.0 % of the driver's.")


def test_a_run_of_an_older_recorder_says_nothing_of_its_cost(tmp_path: Path) -> None:
    read = load_run(str(whole_run(tmp_path)))
    assert read.recorder["own_cpu"] == []
    assert "used" not in seen(read).recorder
    assert not {note.code for note in read.coverage.notes} & {"sampled", "limited"}


def test_slowed_sampling_is_said_with_its_budget_and_time(tmp_path: Path) -> None:
    run = whole_run(tmp_path)
    add_chunk(run, "0", 0, DATA, rate_ratio=1.0, rate_held_by=None, last=False)
    held = {"rate_held_by": "cpu", "own_cpu_ns": 1, "process_cpu_ns": 100}
    add_chunk(run, "0", 1, DATA, rate_ratio=0.125, sample_period_ns=160_000_000, **held, **LATER)
    add_chunk(run, "1", 0, DATA, rate_ratio=0.5, rate_held_by="bytes", last=False)
    add_chunk(run, "1", 1, DATA, rate_ratio=0.0, rate_held_by="bytes", sample_period_ns=None, **LATER)
    read = load_run(str(run))
    said = [(note.message, note.where) for note in read.coverage.notes if note.code == "sampled"]
    assert said == [
        (
            "To hold spark.emberscope.budget.cpu, samples were taken less often, down to 1 of 8, for 15.0 s.",
            "executor 0",
        ),
        (
            "To hold spark.emberscope.budget.bytes, samples were taken less often, down to 1 of 2, for 25.0 s. "
            "Then only task spans were recorded.",
            "executor 1",
        ),
    ]
    assert read.recorder["sample_period_ns"] is None, "no one period holds for all"


def test_problems_come_with_the_manifests_where_no_status_file_tells(tmp_path: Path) -> None:
    run = whole_run(tmp_path)
    problem = {"role": "executor", "executor_id": "0", "where": "depth", "message": "cut at 64 frames", "count": 1}
    add_chunk(run, "0", 0, DATA, problems=[problem])
    notes = load_run(str(run)).coverage.notes
    assert [(note.message, note.where) for note in notes if note.code == "limited"] == [
        ("The recorder said: cut at 64 frames", "executor 0, depth")
    ]
    add_chunk(run, "0", 0, DATA, problems="none", rate_ratio="fast", rate_held_by=3, own_cpu_ns="much")
    codes = {note.code for note in load_run(str(run)).coverage.notes}
    assert not codes & {"sampled", "limited"}, "a manifest of nonsense says nothing"


def test_samples_of_different_periods_are_weighed_by_time() -> None:
    cpu = pa.table({"event": ["cpu"] * 3, "count": [1, 1, 1], "value": [20, 20, 80]})
    assert natural_weight(cpu, "cpu") == "value"
    assert natural_weight(cpu.slice(0, 2), "cpu") == "count"
    assert natural_weight(cpu, "native") == "count"
    unknown = cpu.set_column(2, "value", pc.if_else(pa.array([True, True, False]), cpu["value"], None))
    assert natural_weight(unknown, "cpu") == "count"
