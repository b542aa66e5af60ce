import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import UsageError
from emberscope.store.layout import check_group, is_run, run_directory, runs_of, safe_name


@given(st.text(max_size=60), st.text(max_size=60) | st.none())
def test_a_run_never_leaves_its_group(app_id, attempt):
    directory = run_directory(Path("/store"), "default", app_id, attempt)
    assert len(directory.parts) == 5
    assert directory.parent.parent == Path("/store/default")
    assert Path(*directory.parts).resolve() == directory


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("app-20250101-0001", "app-20250101-0001"),
        ("../../etc", "__.._etc"),
        ("..", "_"),
        ("", "_"),
        ("a/b c", "a_b_c"),
        ("spark-äpp", "spark-_pp"),
    ],
)
def test_names_are_made_safe_as_the_recorder_makes_them(name, wanted):
    assert safe_name(name) == wanted


@pytest.mark.parametrize("group", ["", "..", ".incoming", "a/b", "a b", "/"])
def test_a_group_that_is_no_name_is_refused(group):
    with pytest.raises(UsageError, match="cannot be the name of a group"):
        check_group(group)


def test_runs_are_found_oldest_first_and_incoming_is_none(tmp_path):
    for index, name in enumerate(["default/app-2/1", "default/app-1/1", "nightly/app-3/2"]):
        run = tmp_path / name
        run.mkdir(parents=True)
        (run / "application.json").write_text("{}")
        os.utime(run / "application.json", ns=(0, index))
    (tmp_path / ".incoming/x/y/recordings").mkdir(parents=True)
    (tmp_path / "default/notes").mkdir()
    assert [str(run.relative_to(tmp_path)) for run in runs_of(tmp_path)] == [
        "default/app-2/1",
        "default/app-1/1",
        "nightly/app-3/2",
    ]
    assert is_run(tmp_path / "nightly/app-3/2")
    assert not is_run(tmp_path)
