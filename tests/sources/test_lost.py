from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from emberscope.sources.lost import executor_notes, executor_rows, lost_tail_ms, recorded_ms
from emberscope.store.chunks import Chunk, Manifest
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.run import Application

SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=6)


def chunk(first_ms: int, last_ms: int, *, last: bool = False, executor: str = "1") -> Chunk:
    manifest = Manifest("executor", executor, "h", 0, first_ms, last_ms, last=last)
    return Chunk(Path(f"{first_ms}.jfr"), manifest, "executor", executor)


@given(SPANS)
def test_recorded_time_is_the_time_that_any_chunk_covers(spans):
    covered = {ms for first, length in spans for ms in range(first, first + length)}
    assert recorded_ms([chunk(first, first + length) for first, length in spans]) == len(covered)


def test_the_tail_is_lost_unless_the_recording_was_closed():
    assert lost_tail_ms([chunk(0, 10), chunk(10, 20)], 0, 50) == 30
    assert lost_tail_ms([chunk(0, 10), chunk(10, 20, last=True)], 0, 50) == 0
    assert lost_tail_ms([], 5, 50) == 45
    assert lost_tail_ms([], None, 50) is None
    assert lost_tail_ms([chunk(0, 60)], 0, 50) == 0


def test_rows_hold_executors_of_the_log_and_processes_that_only_recorded():
    executors = EXECUTORS.from_rows(
        [{"executor_id": "1", "host": "h", "added_ms": 0, "removed_ms": 40, "removed_reason": "killed"}]
    )
    rows = executor_rows(executors, [chunk(0, 10), chunk(5, 9, executor="7")], Application(app_end_ms=100))
    assert [(row["id"], row["reason"], row["recorded_ms"], row["lost_ms"]) for row in rows] == [
        ("1", "killed", 10, 30),
        ("7", None, 4, 91),
    ]


def test_executors_that_were_not_to_be_recorded_are_a_sample_and_no_loss():
    executors = EXECUTORS.from_rows([{"executor_id": name, "added_ms": 0} for name in ("1", "2", "3")])
    application = Application(app_end_ms=100)
    found = executor_notes(executors, [chunk(0, 90, last=True)], application, fraction="0.3")
    assert [(note.code, note.message.split(" ")[0]) for note in found] == [("sampled", "2")]
    assert len(executor_notes(executors, [chunk(0, 90, last=True)], application)) == 2
