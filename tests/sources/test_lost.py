from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from emberscope.sources.lost import by_process, chunk_notes, executor_notes, executor_rows, lost_tail_ms, recorded_ms
from emberscope.store.chunks import Chunk, Manifest
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.run import Application
from tests.profile.strategies import recording

SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=6)


def chunk(
    first_ms: int, last_ms: int, *, last: bool = False, executor: str = "1", swept: bool = False, **said: object
) -> Chunk:
    role = "driver" if executor == "driver" else "executor"
    manifest = Manifest(role, executor, "h", first_ms=first_ms, last_ms=last_ms, last=last, swept=swept, **said)
    return Chunk(Path(f"{first_ms}.jfr"), manifest, role, executor)


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
    application = Application(app_end_ms=60_000)
    found = executor_notes(executors, [chunk(0, 60_000, last=True)], application, fraction="0.3")
    assert [(note.code, note.message.split(" ")[0]) for note in found] == [("sampled", "2")]
    notes = executor_notes(executors, [chunk(0, 60_000, last=True)], application)
    assert [(note.code, note.lost) for note in notes] == [("executor_lost", {"seconds": 60})] * 2


def test_an_executor_that_came_at_the_very_end_did_not_die():
    rows = [
        {"executor_id": "1", "added_ms": 59_600},
        {"executor_id": "2", "added_ms": 59_000, "removed_ms": 59_500, "removed_reason": "Command exited with code 1"},
    ]
    notes = executor_notes(EXECUTORS.from_rows(rows), [], Application(app_end_ms=60_000))
    assert [(note.code, note.where) for note in notes] == [
        ("not_recorded", "executor 1"),
        ("executor_lost", "executor 2"),
    ]
    assert notes[0].message == "Executor 1 came 400 ms before the end of the application and was not recorded."


def test_what_was_swept_lost_the_time_from_its_last_chunk_to_its_end():
    killed = [chunk(0, 10), chunk(10, 17, last=True, swept=True)]
    assert lost_tail_ms(killed, 0, 50) == 33
    executors = EXECUTORS.from_rows(
        [{"executor_id": "1", "added_ms": 0, "removed_ms": 18, "removed_reason": "Command exited with code 137\n..."}]
    )
    (note,) = executor_notes(executors, killed, Application(app_end_ms=100))
    assert (note.code, note.where, note.lost) == ("executor_lost", "executor 1", {"seconds": 0.001})
    assert note.message.endswith("its last moments are missing, 1 ms at most (Command exited with code 137).")


def test_a_driver_that_was_killed_is_told_once_and_one_that_runs_is_not():
    none = EXECUTORS.from_rows([])
    killed = [chunk(0, 10, executor="driver"), chunk(10, 40, executor="driver", last=True, swept=True)]
    notes = executor_notes(none, killed, Application(last_event_ms=45))
    assert [(note.where, note.lost) for note in notes] == [("driver", {"seconds": 0.005})]
    assert executor_notes(none, killed[:1], Application(last_event_ms=45)) == []
    assert executor_notes(none, [chunk(0, 99, executor="driver", last=True)], Application(app_end_ms=100)) == []
    local = EXECUTORS.from_rows([{"executor_id": "driver", "added_ms": 0}])
    assert len(executor_notes(local, killed, Application(last_event_ms=45))) == 1


def test_what_each_engine_lost_is_added_up_and_chunks_given_up_are_not_missed_twice():
    of_jfr = [chunk(0, 9, sequence=0, engine="jfr"), chunk(10, 19, sequence=3, engine="jfr", lost={"chunks": 2})]
    of_wall = [chunk(0, 9, sequence=4, engine="wall", lost={"chunks": 1, "seconds": 3})]
    notes = chunk_notes(of_jfr + of_wall)
    assert [(note.code, note.lost) for note in notes] == [("dropped_events", {"chunks": 3, "seconds": 3})]
    assert [note.code for note in chunk_notes([*of_jfr, chunk(30, 40, sequence=5, engine="jfr")])] == ["missing_part"]


def test_what_a_process_lost_before_its_death_is_still_told_after_it_was_swept():
    lived = [chunk(0, 9, sequence=0, engine="jfr"), chunk(20, 29, sequence=2, engine="jfr", lost={"chunks": 1})]
    swept = chunk(30, 35, sequence=3, engine="jfr", swept=True, lost={"chunks": 0})
    notes = chunk_notes([*lived, swept])
    assert [(note.code, note.lost) for note in notes] == [("dropped_events", {"chunks": 1})]


def test_the_tail_begins_where_the_engine_that_reaches_the_least_far_ends():
    of_jfr = [chunk(0, 30, engine="jfr"), chunk(30, 49, engine="jfr", swept=True)]
    of_wall = [chunk(0, 30, engine="wall-sampler"), chunk(30, 45, engine="wall-sampler", swept=True)]
    assert lost_tail_ms(of_jfr, 0, 50) == 1
    assert lost_tail_ms([*of_jfr, *of_wall], 0, 50) == 5
    assert lost_tail_ms([*of_jfr, chunk(0, 50, engine="wall-sampler", last=True), of_wall[1]], 0, 50) == 1


def test_the_dead_of_a_run_without_an_event_log_are_told():
    died = [chunk(0, 10), chunk(10, 17, last=True, swept=True)]
    going_on = [chunk(0, 10, executor="2"), chunk(0, 10, executor="driver")]
    closed = [chunk(0, 10, executor="3", last=True)]
    for executors in (None, EXECUTORS.from_rows([])):
        notes = executor_notes(executors, [*died, *going_on, *closed], Application())
        assert [(note.code, note.where, note.lost) for note in notes] == [("executor_lost", "executor 1", {})]


def test_counts_of_one_process_are_added_up_however_large_and_in_good_english():
    def saw(path, *notes):
        made, coverage = recording([]), Coverage(tuple(Note(code, words, path, lost) for code, words, lost in notes))
        return replace(made, facts=replace(made.facts, coverage=coverage))

    first = saw(
        "0.jfr",
        ("dropped_events", "1 CPU sample lost by the sampler", {"samples": 1}),
        ("redacted", "1 secret in texts replaced", {}),
        ("limited", "chunk at byte 7: odd", {}),
    )
    second = saw("10.jfr", ("dropped_events", "1,234 CPU samples lost by the sampler", {"samples": 1234}))
    third = saw("20.jfr", ("redacted", "2,000 secrets in texts replaced", {}))
    found = by_process([first, second, third], [chunk(0, 9), chunk(10, 19), chunk(20, 29)])
    assert [(note.message, note.where, note.lost) for note in found.notes] == [
        ("1,235 CPU samples lost by the sampler", "executor 1", {"samples": 1235}),
        ("2,001 secrets in texts replaced", "executor 1", {}),
        ("chunk at byte 7: odd", "0.jfr", {}),
    ]
