"""Wrong calls and wrong inputs of every verb: the right exit code, one sentence on standard error, no traceback."""

import json

import pytest

from emberscope.cli.main import exit_code

READERS = ("summary", "diagnose", "flame", "report")


@pytest.fixture
def places(tmp_path):
    """What the words in the tables stand for."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "text").write_text("Dear diary\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/readme").write_text("hello")
    (tmp_path / "hollow/default/app/1").mkdir(parents=True)
    (tmp_path / "hollow/default/app/1/application.json").write_text("{}")
    (tmp_path / "stacks").write_text("main;work 3\nmain;work;hot 4\n")
    (tmp_path / "script").write_text("java 1 [000] 4.5: 7 cpu-clock:\n\t7f01 read (/lib/libc.so.6)\n\n")
    (tmp_path / "cut.jfr").write_bytes(b"FLR\0")
    (tmp_path / "log").write_text('{"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}\n')
    return tmp_path


def call(line, places, capsys):
    words = [word.replace("@", f"{places}/") for word in line.split()]
    code = exit_code(words)
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def one_sentence(err):
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert lines[0].startswith("emberscope: ")
    assert lines[0].endswith((".", "--help'.", "--help"))


@pytest.mark.parametrize("verb", READERS)
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("@none", "there is no such file or directory"),
        ("@empty", "the directory is empty"),
        ("@file", "the file is empty"),
        ("@binary", "looks like binary data"),
        ("@text", "looks like plain text"),
        ("@folder", "holds nothing that emberscope can read"),
        ("@hollow", "neither an event log nor a recording"),
        ("@cut.jfr", "@cut.jfr"),
        ("s3://bucket/log", "only files, directories and URLs of HTTP are read"),
    ],
)
def test_inputs_that_cannot_be_read(verb, place, words, places, capsys):
    more = f" -o {places}/out.html" if verb in ("flame", "report") else ""
    code, out, err = call(f"{verb} {place}{more}", places, capsys)
    assert code == 3
    assert out == ""
    one_sentence(err)
    assert words.replace("@", f"{places}/") in err


@pytest.mark.parametrize("verb", ["summary", "diagnose"])
def test_a_document_is_printed_all_the_same(verb, places, capsys):
    code, out, err = call(f"{verb} @none --json", places, capsys)
    document = json.loads(out)
    assert code == 3
    one_sentence(err)
    assert next(iter(document)) == "schema"
    assert document["apps"] == []
    assert not document["coverage"]["complete"]


@pytest.mark.parametrize("verb", ["summary", "diagnose"])
def test_what_can_be_read_is_told_beside_what_cannot(verb, places, capsys):
    code, out, err = call(f"{verb} @none @log @text --json", places, capsys)
    document = json.loads(out)
    assert code == 3
    assert len(document["apps"]) == 1
    assert [item["kind"] for item in document["inputs"]] == ["event_log", None, None]
    one_sentence(err)
    assert "And 1 more input" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("--nonsense", "No such option"),
        ("summary", "Missing argument"),
        ("diagnose", "Missing argument"),
        ("diagnose @log --format pdf", "pdf"),
        ("diagnose @log --json --format md", "--json"),
        ("diagnose @log --fail-on awful", "awful"),
        ("diagnose @log -o @empty", "is a directory"),
        ("diagnose @log -o @file/x", "cannot be written"),
        ("summary @log --kind pprof", "pprof"),
        ("flame", "Missing argument"),
        ("flame @log --stage seven", "seven"),
        ("flame @log --event heat", "heat"),
        ("report @log -o x.pdf", "no format has this ending"),
        ("explain X99", "there is no rule 'X99'"),
        ("conf", "--store"),
        ("conf --store /x --dialect perl", "perl"),
        ("conf --store /x --group a/b", "cannot be the name of a group"),
        ("conf --store=", "--store is empty"),
        ("conf --store @file", "this is a file"),
        ("conf --store /x --event-log-dir @file", "this is a file"),
        ("conf --store /x --event-log-dir=", "--event-log-dir is empty"),
        ("conf --store /x --events cpu,heat", "'heat' is nothing that can be recorded"),
        ("conf --store /x --events=", "nothing that can be recorded"),
        ("run --store= -- touch @started", "--store is empty"),
        ("run --events cpu,heat -- touch @started", "'heat' is nothing that can be recorded"),
        ("run", "a command is missing"),
        ("run --", "a command is missing"),
        ("run --store @empty", "a command is missing"),
        ("run --nonsense -- true", "--nonsense"),
        ("run --engine magic -- true", "magic"),
        ("run --engine-path nowhere.jar -- true", "nowhere.jar"),
        ("run --chunk-seconds 0 -- true", "0"),
        ("run --group .. -- true", "cannot be the name of a group"),
    ],
)
def test_wrong_calls(line, words, places, capsys):
    code, out, err = call(line, places, capsys)
    assert code == 2
    assert out == ""
    one_sentence(err)
    assert words in err
    assert not (places / "started").exists()


def test_an_event_log_has_no_flame_graph(places, capsys):
    code, _, err = call("flame @log --format folded", places, capsys)
    assert code == 3
    one_sentence(err)
    assert "no samples to draw" in err


@pytest.mark.parametrize("place", ["@stacks", "@script"])
@pytest.mark.parametrize("line", ["diagnose", "report -o @out.html"])
def test_a_diagnosis_needs_an_application(line, place, places, capsys):
    code, out, err = call(f"{line} {place}", places, capsys)
    assert code == 3
    assert out == ""
    one_sentence(err)
    assert "needs an application" in err


def test_a_profile_beside_an_event_log_does_not_hide_it(places, capsys):
    code, out, err = call("diagnose @stacks @log --json", places, capsys)
    assert code == 3
    assert [item["kind"] for item in json.loads(out)["inputs"]] == ["event_log", None]
    one_sentence(err)


def test_a_store_with_several_runs_stands_for_its_newest(places, capsys):
    for name in ("app-1", "app-2"):
        run = places / "store/default" / name / "1"
        (run / "eventlog").mkdir(parents=True)
        (run / "eventlog/log").write_text((places / "log").read_text())
        (run / "application.json").write_text("{}")
    code, out, err = call("summary @store --json", places, capsys)
    assert code == 0
    assert json.loads(out)["inputs"][0]["path"].endswith("app-2/1")
    assert "the store holds 2 runs; this is the newest" in err
