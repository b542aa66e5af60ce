"""The verb `diagnose` beside what all readers share."""

import pytest

from emberscope.cli.main import exit_code
from tests.sources.stored import LOG


@pytest.mark.parametrize(
    ("name", "more", "start"),
    [
        ("o.json", [], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.JSON", [], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.md", [], "## "),
        ("o.txt", [], "logged-job"),
        ("o", [], "logged-job"),
        ("o.md", ["--json"], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.html", ["--format", "text"], "logged-job"),
    ],
)
def test_the_ending_of_the_file_chooses_the_format(tmp_path, name, more, start):
    assert exit_code(["diagnose", str(LOG), "-o", str(tmp_path / name), *more]) == 0
    assert (tmp_path / name).read_text().startswith(start)


def test_an_ending_that_stands_for_no_format_is_refused(tmp_path, capsys):
    assert exit_code(["diagnose", str(LOG), "-o", str(tmp_path / "o.html")]) == 2
    assert "no format has this ending. Known are .json, .md" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
