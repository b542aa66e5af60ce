import json
import re
from collections import Counter

import pytest

from emberscope.cli.main import exit_code
from emberscope.jfr.recording import read_recording
from emberscope.sources.run import load_run
from tests.sources.stored import DATA, whole_run

JFR = str(DATA / "jfr/workload-jdk17.jfr.gz")
FOREIGN = str(DATA / "jfr/FastSlow_2024_01_16_180855.jfr.gz")


@pytest.fixture
def run(tmp_path):
    return str(whole_run(tmp_path / "store"))


def flame(capsys, *words):
    code = exit_code(["flame", *words])
    out, err = capsys.readouterr()
    return code, out, err


def folded(capsys, *words):
    code, out, err = flame(capsys, *words, "--format", "folded")
    assert code == 0, err
    stacks = Counter()
    for line in out.splitlines():
        stack, _, value = line.rpartition(" ")
        stacks[stack] += int(value)
    return stacks


def test_slices_of_one_kind_add_up_to_all(run, capsys):
    total = folded(capsys, run).total()
    assert total == 2 * 71
    assert folded(capsys, run, "--executor", "0").total() + folded(capsys, run, "--executor", "1").total() == total
    assert folded(capsys, run, "--role", "executor").total() == total
    assert folded(capsys, run, "--host", "h1").total() == total
    stages = [folded(capsys, run, "--stage", stage) for stage in ("1", "2")]
    assert all(stages)
    assert sum(stages, Counter()).total() <= total
    assert folded(capsys, run, "--stage", "1", "--attempt", "0", "--sql", "7") == stages[0]


def test_without_thread_cpu_nothing_is_calibrated(run, capsys):
    code, out, err = flame(capsys, run, "--calibrated", "--format", "folded")
    assert (code, out) == (3, "")
    assert "do not say how much CPU the threads of its tasks used" in err
    for words in (("--event", "alloc"), ("--unit", "samples")):
        code, _, err = flame(capsys, run, "--calibrated", *words)
        assert (code, "--calibrated is of CPU, in ns" in err) == (2, True)


def test_time_is_seconds_from_the_start_or_iso(capsys):
    total = folded(capsys, JFR).total()
    early, late = folded(capsys, JFR, "--to", "1.5"), folded(capsys, JFR, "--from", "1.5s")
    assert early.total() + late.total() == total
    assert early
    assert late
    assert folded(capsys, JFR, "--from", "2026-01-01").total() == total
    code, _, err = flame(capsys, JFR, "--from", "noon", "--format", "folded")
    assert (code, "is not a time" in err) == (2, True)


def test_reversed_stacks_are_the_same_stacks_leaf_first(capsys):
    there, back = folded(capsys, JFR), folded(capsys, JFR, "--reverse")
    assert back == {";".join(reversed(stack.split(";"))): count for stack, count in there.items()}


def test_lines_tell_source_lines_apart(capsys):
    plain, lines = folded(capsys, JFR), folded(capsys, JFR, "--lines")
    assert lines.total() == plain.total()
    assert len(lines) > len(plain)


def test_compilation_forks_the_graph_only_where_it_is_asked_for(capsys):
    profile = str(DATA / "perf/sample1.collapsed")
    plain, told = folded(capsys, profile), folded(capsys, profile, "--compilation")
    assert told.total() == plain.total()
    assert not [stack for stack in plain if "_[" in stack]
    joined = Counter()
    for stack, count in told.items():
        joined[re.sub(r"_\[[01ij]\](?=;|$)", "", stack)] += count
    assert joined == plain
    assert any("_[i]" in stack for stack in told)
    jit = folded(capsys, JFR, "--compilation")
    assert {ending for stack in jit for ending in re.findall(r"_\[.\]", stack)} == {"_[0]", "_[i]", "_[j]"}
    assert jit.total() == folded(capsys, JFR).total()


def test_a_job_is_its_stages(run, capsys):
    assert folded(capsys, run, "--job", "1", "--event", "cpu").total() > 0
    code, _, err = flame(capsys, run, "--job", "99", "--format", "folded")
    assert (code, "there is no job 99. Jobs are 0, 1" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--stage", "99"], 2, "no sample is of stage 99. There are samples of 1, 2"),
        (["--executor", "5"], 2, "no sample is of executor 5. There are samples of 0, 1"),
        (["--stage", "1", "--from", "99999"], 2, "no sample lies at or after 99999. Samples of stage 1 lie from "),
        (["--to", "0.001"], 2, "no sample lies before 0.001. Samples lie from "),
        (["--from", "2030-01-01"], 2, "no sample lies at or after 2030-01-01. Samples lie from "),
        (["--from", "60", "--to", "30"], 2, "--from 60 is not before --to 30"),
        (["--from", "30", "--to", "30"], 2, "--from 30 is not before --to 30"),
        (["--thread", "nobody"], 2, "no sample is of thread nobody. There are samples of "),
        (["--thread", "9" * 30], 2, "no sample is of thread 999"),
        (["--executor", "0", "--thread", "nobody"], 2, "no sample is of thread nobody. There are samples of "),
        (["--event", "wall"], 3, "there are no wall samples in it. There are: alloc, cpu, lock"),
        (["--unit", "bytes"], 2, "cpu samples count ns, not bytes"),
    ],
)
def test_an_empty_slice_is_explained_and_not_drawn(run, capsys, words, code, said):
    found, out, err = flame(capsys, run, *words, "--format", "folded")
    assert (found, out) == (code, "")
    assert said in err


@pytest.mark.parametrize("option", ["--from", "--to"])
@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("nan", "is not a time"),
        ("inf", "is not a time"),
        ("-inf", "is not a time"),
        ("1e400", "is not a time"),
        ("", "is not a time"),
        ("-1", "is before the start"),
        ("-2026-01-01", "is not a time"),
        ("1e30", "no time that a sample could have"),
        ("9999-01-01", "no time that a sample could have"),
        ("1066-10-14", "no time that a sample could have"),
    ],
)
def test_what_is_no_time_is_refused(capsys, option, time, said):
    code, out, err = flame(capsys, JFR, f"{option}={time}", "--format", "folded")
    assert (code, out) == (2, "")
    assert said in err


def test_epoch_milliseconds_are_a_time(capsys):
    total = folded(capsys, JFR).total()
    start_ms = _start_ms(capsys)
    early, late = folded(capsys, JFR, "--to", str(start_ms + 1500)), folded(capsys, JFR, "--from", str(start_ms + 1500))
    assert early == folded(capsys, JFR, "--to", "1.5")
    assert early.total() + late.total() == total


def _start_ms(capsys):
    assert exit_code(["summary", JFR, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["recordings"][0]["start_ms"]


@pytest.mark.parametrize("option", ["--sql", "--job", "--stage", "--attempt", "--task"])
@pytest.mark.parametrize("number", ["-1", "99999999999999999999", "1.5", ""])
def test_numbers_that_no_id_can_be_are_refused(run, capsys, option, number):
    code, out, err = flame(capsys, run, f"{option}={number}", "--format", "folded")
    assert (code, out) == (2, "")
    assert "Try 'emberscope flame --help'" in err


def test_a_stage_of_the_flame_graph_is_its_samples_inside_and_beside_its_spans(run, capsys):
    assert exit_code(["summary", run, "--json"]) == 0
    stages = json.loads(capsys.readouterr().out)["run"]["stages"]
    asked = [stage for stage in stages if stage["cpu_samples"]]
    assert asked
    for stage in asked:
        count = folded(capsys, run, "--event", "cpu", "--stage", str(stage["stage_id"]), "--unit", "samples").total()
        assert count == stage["cpu_samples"] + stage["cpu_samples_outside_span"]


def test_an_ending_that_stands_for_no_format_is_refused_unless_a_format_is_given(tmp_path, capsys):
    code, _, err = flame(capsys, JFR, "-o", str(tmp_path / "x.svg"))
    assert (code, "no format has this ending. Known are .html" in err) == (2, True)
    assert flame(capsys, JFR, "-o", str(tmp_path / "x.svg"), "--format", "folded")[0] == 0
    assert flame(capsys, JFR, "-o", str(tmp_path / "page"))[0] == 0
    assert (tmp_path / "page").read_text().startswith("<!doctype html>")


def test_a_recording_without_spans_cannot_be_asked_for_a_stage(capsys):
    code, out, err = flame(capsys, FOREIGN, "--stage", "1", "--format", "folded")
    assert (code, out) == (3, "")
    assert "--stage needs to know which task ran when" in err


def test_the_name_of_the_file_chooses_the_format(tmp_path, capsys):
    for name, start in (
        ("a.html", "<!doctype html>"),
        ("a.folded", "java"),
        ("a.speedscope.json", '{\n "$schema"'),
        ("a.json", '{\n "schema": "emberscope.flame/1"'),
    ):
        assert flame(capsys, JFR, "-o", str(tmp_path / name))[0] == 0
        assert (tmp_path / name).read_text().lower().startswith(start.lower())
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["total"] == 71
    assert document["unit"] == "samples"


def test_units_are_counts_or_values(capsys):
    period_ns = 10_000_000
    assert folded(capsys, JFR, "--unit", "ns").total() == period_ns * folded(capsys, JFR).total()
    assert folded(capsys, JFR, "--event", "alloc").total() > 0


@pytest.mark.parametrize(
    ("name", "total"), [("sample1.collapsed", 185), ("simple-utf16-le.txt", 14), ("forks.linux-perf.txt.gz", 561)]
)
def test_text_profiles_are_drawn_as_recordings_are(name, total, tmp_path, capsys):
    path, page = str(DATA / "perf" / name), tmp_path / "flame.html"
    assert folded(capsys, path).total() == total
    assert flame(capsys, path, "-o", str(page))[0] == 0
    assert page.stat().st_size > 10_000
    assert exit_code(["summary", path, "--json"]) == 0
    (recording,) = json.loads(capsys.readouterr().out)["recordings"]
    assert recording["samples"]["cpu"] == total


def test_seconds_from_the_first_sample_where_the_clock_is_not_that_of_the_day(capsys):
    path = str(DATA / "perf/rust-mangled.linux-perf.txt")
    early, late = folded(capsys, path, "--to", "0.8"), folded(capsys, path, "--from", "0.8")
    assert early
    assert late
    assert early.total() + late.total() == 96
    code, _, err = flame(capsys, str(DATA / "perf/sample1.collapsed"), "--from", "1")
    assert code == 3
    assert "its start is not known" in err
    code, _, err = flame(capsys, path, "--from", "500", "--format", "folded")
    assert (code, "no sample lies at or after 500. Samples lie from 0.000 s to " in err) == (2, True)
    code, _, err = flame(capsys, str(DATA / "perf/sample1.collapsed"), "--from", "2026-01-01", "--format", "folded")
    assert (code, "Samples tell no time." in err) == (2, True)


def test_samples_that_tell_no_time_are_not_drawn_and_it_is_said(tmp_path, capsys):
    path = tmp_path / "script"
    path.write_text("java 7 1.2: 1 page-faults:\n\t1f main (/bin/java)\n\n")
    code, _, err = flame(capsys, str(path), "--format", "folded")
    assert code == 3
    assert "no samples to draw. 1 samples of page-faults are only counted" in err


def test_waits_outside_tasks_are_shown_and_their_share_is_said(run, capsys):
    code, out, err = flame(capsys, run, "--event", "lock", "--format", "json")
    document = json.loads(out)
    assert code == 0
    (note,) = [note for note in document["coverage"]["notes"] if note["where"] == "lock"]
    assert "of waits are of threads that ran no task then" in note["message"]
    assert f"note: {note['message']}" in err
    total = folded(capsys, run, "--event", "lock").total()
    of_stages = sum(folded(capsys, run, "--event", "lock", "--stage", stage).total() for stage in _lock_stages(run))
    assert 0 <= of_stages < total == document["total"]
    assert "ran no task" not in flame(capsys, run, "--event", "cpu", "--format", "json")[2]


def _lock_stages(run):
    samples = load_run(run).tables["samples"].to_pylist()
    return sorted({str(row["stage_id"]) for row in samples if row["event"] == "lock" and row["stage_id"] is not None})


def test_text_for_a_terminal(run, capsys, monkeypatch):
    code, out, err = flame(capsys, run, "--format", "text", "--least", "5")
    assert code == 0, err
    assert out.splitlines()[0] == "142 samples of cpu; frames with 5.0 % and more"
    assert "\x1b" not in out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in flame(capsys, run, "--format", "text")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in flame(capsys, run, "--format", "text")[1]


def test_samples_of_different_periods_are_drawn_by_time_and_folded_by_number(tmp_path, capsys):
    for name in ("workload-jdk17", "workload-jdk25"):
        (tmp_path / f"{name}.jfr.gz").write_bytes((DATA / f"jfr/{name}.jfr.gz").read_bytes())
    code, out, err = flame(capsys, str(tmp_path), "--event", "cpu", "--format", "json")
    assert code == 0, err
    document = json.loads(out)
    periods = Counter()
    for name in ("workload-jdk17", "workload-jdk25"):
        samples = read_recording((DATA / f"jfr/{name}.jfr.gz").read_bytes(), name).samples.to_pylist()
        periods.update(row["value"] for row in samples if row["event"] == "cpu")
    assert len(periods) > 1
    assert document["unit"] == "ns"
    assert document["total"] == sum(period * count for period, count in periods.items())
    by_number = folded(capsys, str(tmp_path), "--event", "cpu")
    assert folded(capsys, str(tmp_path), "--event", "cpu", "--reverse").total() == by_number.total() == periods.total()
