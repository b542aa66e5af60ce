from __future__ import annotations

from pathlib import Path

from emberscope.rules.page import main, pages

DOCS = Path(__file__).parents[2] / "docs" / "rules"


def test_the_documentation_is_what_the_docstrings_say() -> None:
    written = {path.name: path.read_text() for path in DOCS.iterdir()}
    assert written == pages(), "run: python -m emberscope.rules.page docs/rules"


def test_main_writes_every_page(tmp_path: Path) -> None:
    main(str(tmp_path))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == pages()
