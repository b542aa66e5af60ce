"""What makes a page work beside its words: the modules and styles of `web/`, and the policy that allows just these.

All of it stands in the page: no request goes anywhere. A page has one script, one style sheet, and before the script
those of others, unchanged, that it uses. The script is made of the modules that its elements need, by a simple rule: a
module comes after what it imports, each import is one line `import { … } from './….js';` and is dropped, `export ` at
the start of a line is dropped, and so are comments, types and indentation: lines that begin with `//`, what stands from
`/**` to `*/`, and the blanks that a line begins with (no text of ours may depend on them). Together they are one
function body, so that nothing leaks into the page; their names must differ over all modules.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from emberscope.errors import EmberscopeError

_IMPORT: Final = re.compile(r"^import \{[^}\n]*\} from '(\.\.?/[\w./]+\.js)';\n", re.M)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function |const |class )", re.M)
_BLOCK: Final = r"/\*\*(?:(?!\*/).)*\*/"
_INDENTATION: Final = re.compile(r"^[ \t]+", re.M)
_COMMENT: Final = re.compile(rf"^[ \t]*(?://[^\n]*|{_BLOCK}[ \t]*)\n|{_BLOCK}[ \t]?", re.M | re.S)


def joined(modules: Iterable[str]) -> str:
    """These modules of `web/` and all that they import as one script."""
    own = (_EXPORT.sub("", _IMPORT.sub("", web_file(name))) for name in with_imports(modules))
    bodies = [_INDENTATION.sub("", _COMMENT.sub("", text)) for text in own]
    return "(() => {\n'use strict';\n" + "\n".join(bodies) + "})();\n"


def with_imports(modules: Iterable[str]) -> tuple[str, ...]:
    """These modules and all that they import, each once and after those that it imports itself."""
    order: dict[str, None] = {}

    def add(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            raise ValueError(f"modules of web/ import each other: {' > '.join((*importers, name))}")
        if name in order:
            return
        for target in _IMPORT.findall(web_file(name)):
            add(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)), (*importers, name))
        order[name] = None

    for name in modules:
        add(name, ())
    return tuple(order)


def style_sheet(styles: Iterable[str]) -> str:
    """These style sheets of `web/` as one, each once."""
    return "\n".join(web_file(name) for name in dict.fromkeys(styles))


def content_security_policy(*, scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The policy under which a page may run these inline scripts and styles, and load nothing from anywhere."""
    return (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def vendored_script(name: str) -> str:
    """A script of others, `web/vendor/<name>/`, with its licence: one of its own, that stands before ours.

    Raises `EmberscopeError` where a source tree lacks it.
    """
    folder = files("emberscope").joinpath("web", "vendor", name)
    scripts = [file for file in folder.iterdir() if file.name.endswith(".js")] if folder.is_dir() else []
    if not scripts:
        raise EmberscopeError(f"{name}, which pages need, is not in this source tree.", hint="`make setup` fetches it.")
    licence = web_file(f"vendor/{name}/LICENSE").replace("*/", "* /")
    return f"/*\n{licence}*/\n{scripts[0].read_text(encoding='utf-8')}"


@cache
def web_file(name: str) -> str:
    """The text of one file of `web/`."""
    return files("emberscope").joinpath("web", *name.split("/")).read_text(encoding="utf-8")


def _hashes(texts: Iterable[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
