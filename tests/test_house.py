"""Laws of the house that no linter knows."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from emberscope.cli.group import VERBS
from emberscope.cli.main import exit_code

ROOT = Path(__file__).resolve().parents[1]
CODE = {".py", ".java", ".js", ".sh", ".css", ".html", ".j2", ".c", ".h"}
LINES_AT_MOST = 350
JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "common", "manager", "core", "misc"}
# Where the code happens to have been written, and where packages happen to come from. Each pattern is spelled so that
# it does not match itself.
PLACES = re.compile(r"/(?:work|root)/[\w.]|/tmp/[e]s\b|/opt/[w]heels")
REGISTRIES = re.compile(
    r"pypi\.org|python[h]osted\.|registry\.npm|deb\.debian|maven\.org|maven\.apache\.org/maven2|proxy\.golang|crates\.io"
)
HEAVY = {"click", "jinja2", "msgspec", "numpy", "pyarrow", "pyspark", "rich", "zstandard"}


def tracked() -> list[Path]:
    """Every file of the working tree that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def project() -> dict[str, object]:
    settings: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return settings


def dependencies() -> list[str]:
    named = project()["dependencies"]
    assert isinstance(named, list)
    return [re.split(r"[<>=\[; ]", line)[0] for line in named]


def test_files_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked()
        if path.suffix in CODE and "data" not in path.parts
        if (count := len(path.read_text().splitlines())) > LINES_AT_MOST
    }
    assert not long


def test_no_file_is_named_after_nothing() -> None:
    assert not [path for path in tracked() if path.suffix in CODE and path.stem.lower() in JUNK_DRAWERS]


def test_nothing_names_this_machine_or_a_registry() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in tracked()
        if (found := re.search(f"{PLACES.pattern}|{REGISTRIES.pattern}", path.read_text(errors="replace")))
    ]
    assert not named


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert re.search(rf"Examples?:\n(.*\n)*? +emberscope {verb}\b", said), said


def test_help_of_the_command_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["--help"]) == 0
    said = capsys.readouterr().out
    assert [verb for verb in VERBS if not re.search(rf"^ +{verb} ", said, re.MULTILINE)] == []


def test_version_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom emberscope.cli.main import main\nmain(['--version'])\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    from emberscope import __version__

    assert said.splitlines() == [f"emberscope {__version__}", "[]"]


def test_every_dependency_is_used_and_explained() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    explained = (ROOT / "docs/dependencies.md").read_text()
    for name in dependencies():
        assert re.search(rf"^\s*(?:import|from) {name}\b", code, re.MULTILINE), f"{name} is not used"
        assert re.search(rf"^\| `{name}` ", explained, re.MULTILINE), f"{name} is not explained"


def test_the_readme_shows_every_verb() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [verb for verb in VERBS if f"emberscope {verb}" not in readme] == []


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/formats/jfr.md"])
def test_pages_name_only_files_that_are_there(page: str) -> None:
    text = (ROOT / page).read_text()
    linked = re.findall(r"\]\((?!\w+:|#)([^)#]+)", text)
    named = re.findall(r"`((?:src|jvm|web|tests|docs|tools|benchmarks|examples)/[\w./-]*)`", text)
    parts = "|".join(sorted(child.name for child in (ROOT / "src/emberscope").iterdir() if child.is_dir()))
    short = re.findall(rf"`((?:{parts})/[\w./-]*)`", text)
    missing = [name for name in linked if not (ROOT / page).parent.joinpath(name).exists()]
    missing += [name for name in named if not (ROOT / name).exists()]
    missing += [name for name in short if not any((ROOT / at / name).exists() for at in ("src/emberscope", ""))]
    assert not missing


@pytest.mark.parametrize("page", ["docs/formats/jfr.md"])
def test_pages_of_formats_name_only_code_that_is_there(page: str) -> None:
    """What follows a file, as `file`: `name`, `name` or `file` (`name`), is defined in it."""
    text = " ".join((ROOT / page).read_text().split())
    named = re.findall(r"`([\w/]+\.(?:pyi?|[ch]))`(?:: | \()((?:`[\w.]+`(?:, )?)+)", text)
    assert len(named) > 50
    missing = []
    for file, names in named:
        code = (ROOT / "src/emberscope" / file).read_text()
        for name in re.findall(r"`(?:\w+\.)*(\w+)`", names):
            defined = rf"\b(?:def|class) {name}\b|^ *{name}\b ?[:=]|#define {name}\b|^[\w ]+[ *]{name}\("
            if not re.search(defined, code, re.MULTILINE):
                missing.append(f"{file}: {name}")
    assert not missing
