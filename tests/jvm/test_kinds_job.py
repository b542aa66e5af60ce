"""A job that does one thing after the other, recorded with every kind of events: each shows what was done."""

from pathlib import Path

import pyarrow.compute as pc
import pytest

from emberscope.cli.main import exit_code
from emberscope.recorder.settings import KINDS
from emberscope.report.recorded import sampled, series_counted
from emberscope.sources.run import load_run
from tests.jvm.recorded import run
from tests.jvm.toolchain import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jar")]

JOB = ROOT / "tests" / "jobs" / "kinds" / "job.py"
ROWS = {"leaks": 600, "takes_native": 300, "loads_classes": 40, "stops": 40}
DONE = (*(f"{thing}={rows}" for thing, rows in ROWS.items()), "allocates", "locks", "waits", "sleeps")
SITES = {
    "alloc": "app.Kinds$Allocates.makesBuffer",
    "lock": "app.Kinds$Locks.waitsForTheOthers",
    "io": "app.Kinds$Waits.readsFromAfar",
    "live": "app.Kinds$Leak",
}


def test_every_kind_shows_what_the_job_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conf = {"spark.emberscope.events": ",".join(KINDS), "spark.emberscope.rate.io": "5ms"}
    finished = run(tmp_path, job=(JOB, *DONE), conf={**conf, "spark.emberscope.chunk.seconds": "10"})
    assert finished.code == 0, finished.err[-2000:]
    assert finished.out.split() == [word for thing in DONE for word in ("did", thing.partition("=")[0])]
    by_engine = {manifest["engine"]: set(manifest["events"]) for manifest in finished.manifests}
    assert sorted(kind for kinds in by_engine.values() for kind in kinds) == sorted(KINDS), "each by one engine"
    (place,) = finished.store.glob("default/*/1")
    recorded = load_run(str(place))

    events = {one.event: one for one in sampled(recorded)}
    for event, site in SITES.items():
        assert events[event].of_tasks
        # Spark's own buffers of 4 MiB are among what is sampled, and which of them is chance.
        weight = sum(weight for name, weight in events[event].sites if name.startswith(site))
        assert weight >= 0.1 * events[event].weight, (event, events[event].sites)
    assert "app.Kinds$Sleeps.takesANap" in [name for name, _ in events["wall"].sites]
    assert events["lock"].weight > 0.5e9, "two tasks of thirty rows that hold it for 40 ms"
    assert events["alloc"].classes[0][0] == "byte[]"

    counted = {(one.name, one.label): one for one in series_counted(recorded)}
    dumps = counted["vm_operation_ms", "ThreadDump"]
    assert dumps.points >= ROWS["stops"] / 2, "those of a millisecond and more"
    assert counted["direct_used_bytes", None].most >= ROWS["takes_native"] * (1 << 16)
    assert counted["classes_loaded", None].growth >= 10 * ROWS["loads_classes"]
    looks = recorded.tables["heap_classes"]
    assert looks.num_rows == 0 or "byte[]" in pc.unique(looks["object_class"]).to_pylist()

    assert exit_code(["flame", str(place), "--event", "io", "--format", "folded"]) == 0
    folded = capsys.readouterr().out
    assert any(
        "Kinds$Waits.readsFromAfar" in line and int(line.split()[-1]) > 5_000_000 for line in folded.splitlines()
    )
    assert exit_code(["summary", str(place)]) == 0
    said = capsys.readouterr().out
    assert "most at app.Kinds$Locks.waitsForTheOthers" in said
    assert "most for ThreadDump" in said
