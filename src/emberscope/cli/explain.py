"""`emberscope explain`: the page of a rule, the same text as in the documentation."""

from __future__ import annotations

import sys

import click

from emberscope.cli.output import write_document, write_result
from emberscope.errors import UsageError


@click.command(
    epilog="""\b
Examples:
  emberscope explain
  emberscope explain B1
"""
)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(code: str | None, as_json: bool) -> None:
    """What a finding means, what it costs, what to do, and when to ignore it.

    CODE is the code or the name of a rule, as `diagnose` prints it. Without it, all rules.
    """
    from emberscope.rules.catalog import RULES

    chosen = [rule for rule in RULES if code is None or code.lower() in (rule.code.lower(), rule.name.lower())]
    if not chosen:
        known = ", ".join(rule.code for rule in RULES)
        raise UsageError(f"there is no rule {code!r}.", hint=f"Known are {known}.")
    if as_json:
        rules = [
            {"code": rule.code, "name": rule.name, "headline": rule.headline, "page": rule.page, "url": rule.url}
            for rule in chosen
        ]
        write_document({"schema": "emberscope.explain/1", "rules": rules})
    elif code is None:
        width = max(len(rule.code) for rule in chosen)
        write_result("".join(f"{rule.code:<{width}}  {rule.headline}\n" for rule in chosen), None)
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console(width=min(100, Console().width)).print(Markdown(f"# {chosen[0].code}: {chosen[0].page}"))
    else:
        write_result(f"{chosen[0].code}: {chosen[0].page}\n", None)
