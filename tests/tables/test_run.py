from dataclasses import replace

from tests.runs import run_of

from emberscope.tables.conf import CONF
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Application, Run, once


def test_duration_needs_both_ends_and_observed_time_does_not() -> None:
    running = Application(app_start_ms=1000, last_event_ms=4000)
    assert (running.duration_ms, running.observed_ms) == (None, 3000)
    ended = Application(app_start_ms=1000, app_end_ms=5000, last_event_ms=4900)
    assert (ended.duration_ms, ended.observed_ms) == (4000, 4000)
    assert Application().observed_ms is None
    backwards = Application(app_start_ms=5000, app_end_ms=0, last_event_ms=9000)
    assert (backwards.duration_ms, backwards.observed_ms) == (None, None)
    assert Application(app_start_ms=5000, last_event_ms=0).observed_ms is None


def test_setting_reads_only_what_the_application_set() -> None:
    conf = CONF.from_rows(
        [
            {"key": "spark.a", "value": "jvm", "scope": "jvm"},
            {"key": "spark.a", "value": "1", "scope": "spark"},
        ]
    )
    run = Run("x", Application(), {"conf": conf}, Coverage())
    assert run.setting("spark.a") == "1"
    assert run.setting("spark.b") is None
    assert Run("x", Application(), {}, Coverage()).setting("spark.a") is None


def test_an_answer_is_worked_out_once_for_each_run() -> None:
    asked = []

    @once
    def name(run: Run) -> str | None:
        asked.append(run)
        return run.application.app_name

    first = run_of()
    second = replace(first, application=replace(first.application, app_name="another"))
    assert [name(run) for run in (first, first, second)] == ["by hand", "by hand", "another"]
    assert len(asked) == 2
    assert first == replace(first)
