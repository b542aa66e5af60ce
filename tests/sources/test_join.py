from dataclasses import replace

from emberscope.sources.join import join
from emberscope.sources.load import load
from tests.sources.stored import DATA, LOG, STARTED_MS

JFR = DATA / "jfr/workload-jdk17.jfr.gz"


def at(run, start_ms):
    return replace(run, recordings=tuple(replace(facts, start_ms=start_ms) for facts in run.recordings))


def test_a_recording_goes_to_the_log_of_its_time():
    log, recording = load(str(LOG)), at(load(str(JFR)), STARTED_MS + 5)
    (together,) = join([recording, log])
    assert together.application.app_name == "logged-job"
    assert together.tables["samples"] is recording.tables["samples"]
    assert together.recordings == recording.recordings


def test_what_may_belong_to_two_stays_apart():
    log, recording = load(str(LOG)), at(load(str(JFR)), STARTED_MS + 5)
    assert len(join([log, log, recording])) == 3
    assert len(join([log, at(recording, STARTED_MS - 3_600_000)])) == 2
    assert join([log]) == [log]
    assert join([]) == []
