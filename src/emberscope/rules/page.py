"""A rule's page: its docstring in parts, and as the Markdown file of the documentation.

`python -m emberscope.rules.page docs/rules` writes the pages of all rules and their list.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import fields

from emberscope.rules.base import Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.families import by_family


def sections(rule: Rule[Any]) -> list[tuple[str, str]]:
    """Heading and text of each part of the page."""
    parts = rule.page.split("\n## ")[1:]
    return [(head, body.strip()) for head, _, body in (part.partition("\n") for part in parts)]


def markdown(rule: Rule[Any]) -> str:
    """The page as `docs/rules/<code>.md`, with the tables it reads and its limits."""
    lines = [f"# {rule.code} {rule.name}: {rule.page}", "", "## What it reads", ""]
    for read in rule.reads:
        columns = f" ({', '.join(f'`{name}`' for name in read.columns)})" if read.columns else ""
        lines.append(f"- table `{read.table.name}`{columns}: {read.table.doc}")
    lines += ["", "## Limits", "", " ".join((type(rule.limits).__doc__ or "").split()), ""]
    lines += ["| limit | value |", "|---|---|"]
    lines += [f"| `{field.name}` | {getattr(rule.limits, field.name):,} |" for field in fields(rule.limits)]
    return "\n".join([*lines, "", f"Since Emberscope {rule.since}.", ""])


def index(rules: Sequence[Rule[Any]]) -> str:
    """The list of all rules by family, `docs/rules/README.md`."""
    lines = ["# Rules", "", "Each is printed by `emberscope explain CODE` too."]
    for title, group in by_family(rules):
        lines += ["", f"## {title}", "", "| code | name | finds |", "|---|---|---|"]
        lines += [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.headline} |" for rule in group]
    return "\n".join([*lines, ""])


def pages(rules: Sequence[Rule[Any]] = RULES) -> dict[str, str]:
    """Text of every file of `docs/rules` by name."""
    return {"README.md": index(rules), **{f"{rule.code}.md": markdown(rule) for rule in rules}}


def main(directory: str) -> None:
    for name, text in pages().items():
        (Path(directory) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
