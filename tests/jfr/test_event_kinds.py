"""Laws of the descriptions of events; what becomes of real ones is in test_events.py and test_read.py."""

from __future__ import annotations

from collections import defaultdict

from emberscope.jfr.events import MARK_EVENTS, SAMPLE_EVENTS, SERIES_EVENTS
from emberscope.tables.marks import MARKS
from emberscope.tables.samples import EVENTS, SAMPLES, VARIANTS

BY_NAME = {event.name: event for event in SAMPLE_EVENTS}


def test_each_type_is_described_once_in_the_words_of_the_table():
    assert len(BY_NAME) == len(SAMPLE_EVENTS)
    assert {event.event for event in SAMPLE_EVENTS} == set(EVENTS)
    words = {column.name: column.unit.split() for column in SAMPLES.columns}
    assert tuple(words["event"]) == EVENTS
    assert tuple(words["variant"]) == VARIANTS
    for event in SAMPLE_EVENTS:
        assert event.sleeping in ("", *EVENTS)
        for variant in (event.variant, *(word for _, word in event.flags)):
            assert variant in ("", *VARIANTS)


def test_what_is_added_up_has_one_unit():
    is_time: dict[str, set[bool]] = defaultdict(set)
    for event in SAMPLE_EVENTS:
        if event.value:
            is_time[event.event].add(bool(event.unit))
    assert all(len(units) == 1 for units in is_time.values())
    assert {word for word, units in is_time.items() if True in units} == {"cpu", "wall", "lock", "io", "nativelock"}


def test_types_that_count_one_thing_are_known_and_lead_nowhere_else():
    for event in SAMPLE_EVENTS:
        for better in event.superseded_by:
            assert BY_NAME[better].event == event.event
            assert not BY_NAME[better].superseded_by


def test_names_of_series_carry_their_unit():
    for event in SERIES_EVENTS:
        assert not (event.is_time and not event.series.endswith("_ms"))
    assert len({(event.name, event.series) for event in SERIES_EVENTS}) == len(SERIES_EVENTS)


def test_marks_are_of_the_words_of_the_table():
    words = next(column.unit.split() for column in MARKS.columns if column.name == "mark")
    assert {event.mark for event in MARK_EVENTS} == set(words)
