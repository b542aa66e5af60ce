from __future__ import annotations

import pytest

from emberscope.rules.catalog import RULES
from emberscope.rules.places import places
from emberscope.rules.stacks.finding import worth_telling
from emberscope.rules.stacks.hot_spots import hot_spots
from emberscope.tables.run import Run
from tests.rules.stacks.recorded import recorded
from tests.runs import found

# The rule of each job of tests/jobs/stacks/hot_spots.py, and what it names.
JOBS = {
    "CompilesPattern": ("S1", "app.HotSpots$CompilesPattern.once"),
    "Backtracks": ("S2", "app.HotSpots$Backtracks.once"),
    "Boxes": ("S3", "app.HotSpots$Boxes.once"),
    "TakesRows": ("S4", "CatalystTypeConverters"),
    "MakesFormats": ("S5", "app.HotSpots$MakesFormats.once"),
    "MakesClients": ("S6", "app.HotSpots$MakesClients.once"),
    "ShufflesObjects": ("S7", "ializationStream."),
    "ParsesDates": ("S8", "app.HotSpots$ParsesDates.once"),
    "Lists": ("S9", "app.HotSpots$Lists.once"),
    "Logs": ("S10", "app.HotSpots$Logs.once"),
    "EvaluatesTrees": ("S11", "Interpreted"),
    "ParsesJson": ("S15", "app.HotSpots$ParsesJson.once"),
    "Compresses": ("S16", "app.HotSpots$Compresses.once"),
    "Throws": ("S17", "app.HotSpots$Throws.once"),
    "HashesStrings": ("S19", "app.HotSpots$HashesStrings.once"),
    "FormatsStrings": ("S20", "app.HotSpots$FormatsStrings.once"),
    "Reflects": ("S21", "app.HotSpots$Reflects.once"),
    "DrawsIds": ("S22", "app.HotSpots$DrawsIds.once"),
    "LargeDecimals": ("S23", "Decimal"),
}
RULE_OF = {rule.code: rule for rule in RULES}


def jobs_of(run: Run, code: str) -> set[str]:
    """The jobs in whose stages a rule tells of its hot spot."""
    known = places(run)
    spots = worth_telling(run, hot_spots(run).get(code, ()), RULE_OF[code].limits)
    return {known[spot.key].description for spot in spots}


@pytest.mark.parametrize("job", JOBS)
def test_each_rule_finds_its_job_in_what_spark_ran_and_no_other(job: str) -> None:
    code, named = JOBS[job]
    run = recorded("hot_spots")
    assert jobs_of(run, code) == {job}
    (finding,) = found(RULE_OF[code], run)
    assert places(run)[finding.where.stage, finding.where.stage_attempt].description == job
    stacks = [evidence.frames for evidence in finding.evidence if evidence.frames]
    assert named in stacks[0][0]
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_core_ms is not None
    assert 0 < finding.wasted_wall_ms < finding.wasted_core_ms
    assert 0.2 < finding.confidence < 0.95


def test_no_rule_finds_anything_in_a_shuffle_a_sort_and_a_join() -> None:
    run = recorded("hot_spots")
    assert all("Well" not in jobs_of(run, code) for code, _ in JOBS.values())


@pytest.mark.parametrize("job", [job for job, (_, named) in JOBS.items() if named.startswith("app.")])
def test_the_advice_names_the_users_method(job: str) -> None:
    code, named = JOBS[job]
    (finding,) = found(RULE_OF[code], recorded("hot_spots"))
    assert f"{named}()" in finding.title
    if code != "S4":
        assert f"{named}()" in finding.advice[0].text
