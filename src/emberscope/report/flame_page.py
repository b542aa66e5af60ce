"""The flame graph: as a page of its own, and as an element that any page of ours can hold.

A page that holds the element needs three things, each once: `flame_style()` in a `<style>`, `flame_script()` in a
`<script>` at the end of the body, and `flame_element(data)` where the graph shall stand. All of it is inline: no
request goes anywhere. `content_security_policy` gives the policy that allows just these scripts and styles.

The element keeps its state in the URL's fragment: `#event=cpu&sql=3&stage=7&executor=2&node=41&search=regex&up=1`. A
link such as `<a href="#stage=7">` in the page restricts the graph to that stage; an anchor (`#findings`) is left alone.

The scripts are the modules in `web/`, joined by a simple rule: they come in the order of `MODULES`, each import is one
line `import { … } from './….js';` and is dropped, and `export ` at the start of a line is dropped. Together they are
one function body, so that nothing leaks into the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from emberscope.profile.pack import pack_flame

if TYPE_CHECKING:
    from emberscope.profile.flame_data import FlameData
    from emberscope.tables.coverage import Coverage

MODULES: Final = (
    "state.js",
    "theme.js",
    "flame/unpack.js",
    "flame/layout.js",
    "flame/search.js",
    "flame/facets.js",
    "flame/format.js",
    "flame/palette.js",
    "flame/draw.js",
    "flame/top.js",
    "flame/panel.js",
    "flame/view.js",
    "flame/words.js",
    "flame/keys.js",
    "flame/element.js",
)
"""The page modules of the flame graph in the order of their dependence."""

STYLES: Final = ("theme.css", "flame/flame.css")
"""`theme.css` has the colours and type of all our pages, `flame.css` those of the element."""

_IMPORT: Final = re.compile(r"^import \{[^}\n]*\} from '\.\.?/[\w./]+\.js';\n", re.M)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function |const |class )", re.M)


def flame_element(
    data: FlameData,
    *,
    stage_names: Mapping[int, str] | None = None,
    sql_names: Mapping[int, str] | None = None,
    codegen: Mapping[int, Mapping[int, str]] | None = None,
) -> Markup:
    """The flame graph as `<x-flame>` with its packed data inside.

    `data` comes from `emberscope.profile.flame_data.flame_data(samples, stacks, frames)`: one tree with a weight column
    per event, SQL execution, stage and executor, so that the element can be restricted to each. The names are what
    the choices of stages and SQL executions show beside the id (stage name, description); they may hold anything.
    `codegen` says what generated code is in the plan, by SQL execution and number (`codegen.generated_code_words`).
    """
    stages = {column.stage_id for column in data.columns}
    executions = {column.sql_execution_id for column in data.columns}
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
    return Markup(
        '<x-flame data-names="{names}"><p class="flame-note">This flame graph is drawn by a script in this page, '
        'which does not run here.</p><script type="application/octet-stream">{packed}</script></x-flame>'
    ).format(names=json.dumps(names), packed=base64.b64encode(pack_flame(data)).decode("ascii"))


@cache
def flame_script() -> str:
    """The script that makes `<x-flame>` and `<x-theme>` (a button that switches dark and light) work."""
    return joined(MODULES)


@cache
def flame_style() -> str:
    """The style sheet of `<x-flame>` and the colours it takes part in."""
    return "\n".join(_read(name) for name in STYLES)


def joined(modules: Iterable[str]) -> str:
    """Modules of `web/` as one script, by the rule above."""
    bodies = [_EXPORT.sub("", _IMPORT.sub("", _read(name))) for name in modules]
    return "(() => {\n'use strict';\n" + "\n".join(bodies) + "})();\n"


def content_security_policy(*, scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The policy under which a page may run these inline scripts and styles, and load nothing from anywhere."""
    return (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


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
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("emberscope.report"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    script, style = flame_script(), flame_style()
    return environment.get_template("flame_page.html").render(
        title=title,
        subtitle=subtitle,
        notes=coverage.notes if coverage else (),
        policy=content_security_policy(scripts=[script], styles=[style]),
        script=Markup(script),
        style=Markup(style),
        element=flame_element(data, stage_names=stage_names, sql_names=sql_names, codegen=codegen),
    )


def _read(name: str) -> str:
    return files("emberscope").joinpath("web", *name.split("/")).read_text(encoding="utf-8")


def _hashes(texts: Iterable[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
