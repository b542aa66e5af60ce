"""The flame graph: as a page of its own, and as an element that any page of ours can hold.

A page that holds the element needs `MODULES` in its script, `STYLES` in its style sheet (`report/assets.py`), and
`flame_element(data)` where the graph shall stand.

The element keeps its state in the URL's fragment: `#event=cpu&sql=3&stage=7&executor=2&node=41&search=regex&up=1`. A
link such as `<a href="#stage=7">` in the page restricts the graph to that stage; an anchor (`#findings`) is left alone.
`versus` is another slice to compare with, a query string of the keys in which it differs (`web/flame/facets.js`);
`shape` is what is done to the stacks (`web/flame/shape.js`): `#stage=7&task=slow&versus=task%3Dmedian&shape=recursion`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from emberscope.profile.pack import pack_flame
from emberscope.report.assets import content_security_policy, joined, style_sheet
from emberscope.report.rendering import rendered
from emberscope.report.visible import visible

if TYPE_CHECKING:
    from emberscope.profile.flame_tree import FlameData
    from emberscope.tables.coverage import Coverage

MODULES: Final = ("theme.js", "flame/element.js")
"""The modules of `<x-flame>` and of `<x-theme>`, a button that switches dark and light."""

STYLES: Final = ("theme.css", "flame/flame.css")
"""`theme.css` has the colours and type of all our pages, `flame.css` those of the element."""


def flame_element(
    data: FlameData,
    *,
    stage_names: Mapping[int, str] | None = None,
    sql_names: Mapping[int, str] | None = None,
    codegen: Mapping[int, Mapping[int, str]] | None = None,
) -> Markup:
    """The flame graph as `<x-flame>` with its packed data inside.

    `data` comes from `emberscope.profile.flame_data.flame_data(samples, stacks, frames)`: one tree with a weight column
    per event and value of each facet, so that the element can be restricted to each. The names are what the choices of
    stages and SQL executions show beside the id (stage name, description); they may hold anything.
    `codegen` says what generated code is in the plan, by SQL execution and number (`codegen.generated_code_words`).
    """
    stages, executions = data.values("stage"), data.values("sql")
    names = {
        "stage": {key: name for key, name in (stage_names or {}).items() if key in stages},
        "sql": {key: name for key, name in (sql_names or {}).items() if key in executions},
        "codegen": {
            f"{sql}/{number}": words
            for sql, by_number in (codegen or {}).items()
            if sql in executions
            for number, words in by_number.items()
        },
    }
    shown = replace(data, names=tuple(map(visible, data.names)))
    return Markup(
        '<x-flame data-names="{names}"><p class="flame-note">This flame graph is drawn by a script in this page, '
        'which does not run here.</p><script type="application/octet-stream">{packed}</script></x-flame>'
    ).format(names=json.dumps(names), packed=base64.b64encode(pack_flame(shown)).decode("ascii"))


def flame_page(
    data: FlameData,
    *,
    title: str,
    subtitle: str = "",
    coverage: Coverage | None = None,
    stage_names: Mapping[int, str] | None = None,
    sql_names: Mapping[int, str] | None = None,
    codegen: Mapping[int, Mapping[int, str]] | None = None,
) -> str:
    """One HTML file with the flame graph, complete in itself: opens from disk, offline.

    `title` and `subtitle` say what was recorded; notes of `coverage` stand above the graph.
    """
    script, style = joined(MODULES), style_sheet(STYLES)
    return rendered(
        "flame_page.html",
        title=title,
        subtitle=subtitle,
        notes=coverage.notes if coverage else (),
        policy=content_security_policy(scripts=[script], styles=[style]),
        script=Markup(script),
        style=Markup(style),
        element=flame_element(data, stage_names=stage_names, sql_names=sql_names, codegen=codegen),
    )
