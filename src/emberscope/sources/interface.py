"""Spark's own web interfaces as inputs: the History Server, and the one of an application that runs.

A History Server gives the event log. An application that runs gives its state by its REST interface, which is written
down as the events that say the same, so that there is one reader of both (`sources/live.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from emberscope.errors import InputError, UnreachableError
from emberscope.sources import http, live
from emberscope.sources.kind import read_head

_API: Final = "/api/v1"
_STEP: Final = 1 << 20
_EMPTY_ZIP: Final = b"PK\x05\x06"
_PAGES: Final = "jobs|stages|storage|environment|executors|SQL|StreamingQuery|streaming|connect|sqlserver"
_SHOWN: Final = re.compile(r"(?P<base>.*?)/history/(?P<app>[^/]+)(?:/(?P<attempt>\d+))?(?:/.*)?")
_ASKED: Final = re.compile(r"(?P<base>.*?)/api/v1(?:/applications(?:/(?P<app>[^/]+)(?:/(?P<attempt>\d+))?)?)?(?:/.*)?")
_PROXY: Final = re.compile(rf"(?P<base>.*?/proxy/[^/]+)(?:/(?:{_PAGES})?(?:/.*)?)?")
_ROOT: Final = re.compile(rf"(?P<base>)/?(?:(?:{_PAGES})(?:/.*)?)?")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched from a URL: the file where it lies now, and whether it is the state of a running application."""

    path: str
    live: bool


def is_url(path: str) -> bool:
    return re.match(r"https?://", path, re.IGNORECASE) is not None


@contextmanager
def fetched(url: str) -> Iterator[Fetched]:
    """What a URL has, as a file for the length of the block.

    The URL is that of any file; of a History Server or a page of it about an application; or of the interface of a
    running application (`http://driver:4040`). Raises `InputError`, and `UnreachableError` where it cannot be reached.
    """
    parts = urlsplit(url)
    with tempfile.TemporaryDirectory(prefix="emberscope-url-") as folder:
        file = os.path.join(folder, "fetched")
        for form in (_SHOWN, _ASKED, _PROXY, _ROOT):
            if (found := form.fullmatch(parts.path)) is not None:
                named = found.groupdict()
                base = urlunsplit((parts.scheme, parts.netloc, named["base"] + _API, "", ""))
                try:
                    is_live = _application(url, base, named.get("app"), named.get("attempt"), file)
                except UnreachableError as error:  # under the name that the user gave
                    raise UnreachableError(http.without_secrets(url), error.reason, hint=error.hint) from None
                yield Fetched(file, is_live)
                return
        try:
            _download(url, file)
        except http.NoSuchResource:
            raise InputError(http.without_secrets(url), "the server has no such file.") from None
        yield Fetched(file, False)


def _application(url: str, base: str, app: str | None, attempt: str | None, file: str) -> bool:
    """Write the log of an application to `file`, or its state where there is no log: True then."""
    shown = http.without_secrets(url)
    try:
        found = [http.get_json(f"{base}/applications/{quote(app)}")] if app else http.get_json(f"{base}/applications")
        application = _only(shown, found)
    except http.NoSuchResource:
        what = f"application {app}" if app else "Spark interface"
        hint = "Give http://HOST:4040 of a driver, or http://HOST:18080/history/APPLICATION of a History Server."
        raise InputError(shown, f"the server knows no {what}.", hint=hint) from None
    attempts = application.get("attempts") or [{}]
    chosen = next((one for one in attempts if str(one.get("attemptId")) == attempt), attempts[0])
    place = f"{base}/applications/{quote(str(application['id']))}"
    if chosen.get("attemptId") is not None:
        place += f"/{quote(str(chosen['attemptId']))}"
    try:
        _download(f"{place}/logs", file)
        if not read_head(Path(file)).startswith(_EMPTY_ZIP):
            return False
    except http.NoSuchResource:
        pass
    try:
        live.write_events(place, application, chosen, file)
    except http.NoSuchResource as error:
        raise InputError(shown, f"the interface lacks what is asked of it: {error}.") from None
    return True


def _only(shown: str, found: Any) -> dict[str, Any]:
    applications = [one for one in found if isinstance(one, dict) and "id" in one] if isinstance(found, list) else []
    if not applications:
        raise InputError(shown, "it knows of no application.")
    if len(applications) > 1:
        newest = ", ".join(f"/history/{one['id']}" for one in applications[:3])
        raise InputError(shown, f"it knows {len(applications):,} applications.", hint=f"Add which one: {newest}.")
    return dict(applications[0])


def _download(url: str, file: str) -> None:
    with http.opened(url) as answer, open(file, "wb") as out:
        shutil.copyfileobj(answer, out, _STEP)
