"""`emberscope explain`: the page of a rule, the same text as in the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from emberscope.cli.output import write_document, write_result
from emberscope.errors import UsageError

if TYPE_CHECKING:
    from emberscope.rules.base import Rule


@click.command(
    epilog="""\b
Examples:
  emberscope explain
  emberscope explain B1
  emberscope explain skewed-stage
"""
)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(code: str | None, as_json: bool) -> None:
    """What a finding means, what it costs, what to do, and when to ignore it.

    CODE is the code or the name of a rule, as `diagnose` prints it. Without it, all rules by family.
    """
    from emberscope.rules.catalog import RULES
    from emberscope.rules.families import by_family, family_of, nearest

    asked = None if code is None else code.strip().lower()
    chosen = [rule for rule in RULES if asked is None or asked in (rule.code.lower(), rule.name.lower())]
    if not chosen:
        alike = ", ".join(f"{rule.code} {rule.name}" for rule in nearest(code or "", RULES))
        hint = f"Nearest: {alike}." if alike else "`emberscope explain` lists all."
        raise UsageError(f"there is no rule {code!r}.", hint=hint)
    if as_json:
        rules = [
            {
                "code": rule.code,
                "name": rule.name,
                "family": family_of(rule),
                "headline": rule.headline,
                "page": rule.page,
                "url": rule.url,
            }
            for rule in chosen
        ]
        write_document({"schema": "emberscope.explain/1", "rules": rules})
    elif asked is None:
        write_result(_list(by_family(chosen)), None)
    else:
        write_result(f"{chosen[0].code}: {chosen[0].page}\n", None)


def _list(families: Sequence[tuple[str, Sequence[Rule[Any]]]]) -> str:
    """Code and headline of each rule, under the title of its family."""
    width = max(len(rule.code) for _, group in families for rule in group)
    blocks = [
        "\n".join([title, *(f"  {rule.code:<{width}}  {rule.headline}" for rule in group)]) for title, group in families
    ]
    return "\n\n".join(blocks) + "\n"
