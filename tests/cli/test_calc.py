from __future__ import annotations

import json

import pytest

from emberscope.cli.main import exit_code


def test_split_says_the_formula_and_its_inverse(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["calc", "split", "3500x116m", "--cores", "15837", "--spark", "2.4"]) == 0
    out = capsys.readouterr().out
    assert "26.5 MiB" in out
    assert "spark.default.parallelism of 3,281 at most" in out


def test_split_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cores", "15837", "--spark", "3.5.1", "--max-partitions", "5000", "--json"]
    assert exit_code(["calc", "split", "3500x116m", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert next(iter(document)) == "schema"
    assert document["setting"] == "spark.sql.files.minPartitionNum"
    assert document["rescaled_from"] > document["tasks"]


def test_packing_says_how_many_cores_are_given_away_twice(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = ["c5.12xlarge", "r5.8xlarge"]
    assert exit_code(["calc", "packing", *nodes, "--executor-memory", "4743m", "--executor-cores", "3"]) == 0
    out = capsys.readouterr().out
    assert "16 containers × 3 cores = 48 vcores on 48 cores" in out
    assert "45 containers × 3 cores = 135 vcores on 32 cores" in out
    assert "103 vcores more" in out


def test_sizing_gives_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["calc", "sizing", "r5.8xlarge", "--nodes", "10", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["best"]
    assert best["settings"]["spark.executor.instances"] == "79"
    assert exit_code(["calc", "sizing", "m5.xlarge", "--heap", "64g"]) == 0
    assert "No shape of executor" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["split", "3500x116m"],
        ["split", "116m", "--cores", "4"],
        ["split", "0x116m", "--cores", "4"],
        ["split", ",x116m", "--cores", "4"],
        ["split", "1x1m", "--cores", "4", "--spark", "two"],
        ["split", "1x1m", "--cores", "4", "--spark", "2.4", "--max-partitions", "9"],
        ["split", "1x1m", "--cores", "4", "--wanted", "0"],
        ["packing", "nosuch", "--executor-memory", "1g"],
        ["packing", "m5.xlarge", "--executor-memory", "much"],
        ["sizing", "m5.xlarge", "--reserve-cores", "4"],
    ],
)
def test_wrong_usage_is_said_in_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["calc", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_cost_of_opening_and_tiny_files_divide_by_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["calc", "split", "1x1b", "--cores", "9", "--open-cost", "0"]) == 0
    assert "tasks: 1" in capsys.readouterr().out
