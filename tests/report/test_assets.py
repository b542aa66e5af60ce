"""The modules of web/ become one script, whatever they are called in."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from emberscope.errors import EmberscopeError
from emberscope.report import assets
from emberscope.report.assets import joined, style_sheet, vendored_script, with_imports

WEB = Path(__file__).parents[2] / "web"
OWN = [path for path in WEB.rglob("*") if "vendor" not in path.parts]
MODULES = sorted(str(path.relative_to(WEB)) for path in OWN if path.suffix == ".js")


def test_all_modules_share_one_set_of_names() -> None:
    script = joined(MODULES)
    assert not re.findall(r"^(?:import|export)\b.*", script, flags=re.M)
    written = "\n".join((WEB / name).read_text(encoding="utf-8") for name in MODULES)
    names = re.findall(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", written, flags=re.M)
    assert len(names) == len(set(names))
    assert "</script" not in script


def test_imports_come_before_what_imports_them() -> None:
    order = with_imports(MODULES)
    assert sorted(order) == MODULES
    for place, name in enumerate(order):
        for target in re.findall(r"^import \{.*\} from '(.+)';", (WEB / name).read_text(encoding="utf-8"), flags=re.M):
            assert str(((WEB / name).parent / target).resolve().relative_to(WEB)) in order[:place]


def test_a_module_brings_what_it_imports_and_nothing_else() -> None:
    assert with_imports(["theme.js", "state.js"]) == ("state.js", "theme.js")


def test_modules_that_import_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a/x.js": "import { y } from '../y.js';\n", "y.js": "import { x } from './a/x.js';\n"}
    monkeypatch.setattr(assets, "web_file", texts.__getitem__)
    with pytest.raises(ValueError, match=r"each other: a/x\.js > y\.js > a/x\.js"):
        with_imports(["a/x.js"])


def test_comments_and_types_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "// Why.\n/**\n * @param {number} a\n */\nexport function f(a) {\n  return /** @type {any} */ (a);\n}\n"
    monkeypatch.setattr(assets, "web_file", {"x.js": module}.__getitem__)
    body = "function f(a) {\nreturn (a);\n}\n"
    assert joined(["x.js"]) == f"(() => {{\n'use strict';\n{body}}})();\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_script_can_be_parsed(tmp_path: Path) -> None:
    (tmp_path / "x.js").write_text(joined(MODULES), encoding="utf-8")
    done = subprocess.run(["node", "--check", tmp_path / "x.js"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_own_code_stays_small() -> None:
    """Our own scripts, all of them, as a page has them: 200 KB at most, and 45 KB of styles."""
    styles = [str(path.relative_to(WEB)) for path in OWN if path.suffix == ".css"]
    assert len(joined(MODULES).encode()) < 200_000
    assert len(style_sheet(styles).encode()) < 45_000


def test_a_script_of_others_stands_with_its_licence_or_is_asked_for() -> None:
    script = vendored_script("uplot")
    assert script.startswith("/*\nThe MIT License")
    assert "</script" not in script
    with pytest.raises(EmberscopeError, match="not in this source tree"):
        vendored_script("nothing")


def test_a_style_sheet_stands_once() -> None:
    assert style_sheet(["theme.css", "theme.css"]) == style_sheet(["theme.css"])
