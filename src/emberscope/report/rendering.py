"""Pages and parts of pages from the templates, with all text escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from emberscope.report.text import price
from emberscope.report.visible import clipped, tail, visible
from emberscope.rules.page import sections
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    import jinja2

    from emberscope.rules.evaluate import Ranked


def rendered(template: str, **data: Any) -> str:
    """A template of `report/templates/` filled with `data`; a name that it needs and does not get is an error."""
    return _environment().get_template(template).render(data)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("emberscope.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(
        ms=format_ms,
        bytes=format_bytes,
        count=format_count,
        ratio=format_ratio,
        price=price,
        sections=_sections,
        coded=_coded,
        clip=clipped,
        tail=tail,
    )
    return environment


def _shown(value: Any) -> Any:
    """Text from data with nothing in it that acts instead of being read; our own markup as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _coded(text: str) -> Markup:
    """Text with what stands between backticks as code; all of it escaped."""
    pieces = [
        Markup("<code>{}</code>" if odd % 2 else "{}").format(visible(piece))
        for odd, piece in enumerate(text.split("`"))
    ]
    return Markup("").join(pieces)


def _sections(finding: Ranked) -> list[tuple[str, list[Any]]]:
    """The page of the finding's rule: heading and paragraphs."""
    return [(head, body.split("\n\n")) for head, body in sections(finding.rule)]
