from emberscope.sources.run import load_run
from emberscope.store.run_document import run_document
from tests.sources.stored import APP_ID, STARTED_MS, whole_run


def test_a_run_says_who_it_is_and_how_it_was_made(tmp_path):
    run = load_run(str(whole_run(tmp_path)))
    document = run_document(run, [{"id": "0"}], exit_code=7, invocation="i1")
    assert next(iter(document)) == "schema"
    assert (document["app_id"], document["attempt"], document["exit_code"]) == (APP_ID, "1", 7)
    assert (document["started_ms"], document["java_versions"]) == (STARTED_MS, ["17.0.15"])
    assert document["recorder"] == {
        "engine": "jfr",
        "events": ["cpu"],
        "sample_period_ns": 20_000_000,
        "version": "0.1.0",
        "own_cpu": [],
    }
    assert document["configuration"]["spark.app.name"] == "logged-job"
    assert document["executors"] == [{"id": "0"}]
    assert document["coverage"] == run.coverage.document()
