"""Bytes and JSON from an HTTP server, within bounds of time and size. Nothing is asked of a server unasked for."""

from __future__ import annotations

import base64
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from emberscope.errors import InputError, UnreachableError

TIMEOUT_SECONDS: Final = 30
MOST_JSON_BYTES: Final = 256 << 20

_GONE: Final = (404, 405, 410)


class NoSuchResource(Exception):
    """The server answers, but has nothing under this address."""


def without_secrets(url: str) -> str:
    """The URL as it may be shown: without the password, and without the query, which may sign it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """The body of the answer to a GET, to be read piece by piece.

    Raises `NoSuchResource`, `InputError` where the server refuses, and `UnreachableError` where it cannot be reached,
    also in the middle of reading.
    """
    parts = urlsplit(url)
    bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
    shown = without_secrets(url)
    try:
        request = urllib.request.Request(bare, headers={"User-Agent": "emberscope"})
        if parts.username is not None:  # for this server alone, not for one that it sends us to
            word = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(word.encode()).decode()}")
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in _GONE:
            raise NoSuchResource(shown) from error
        if error.code >= 500:
            reason = f"the server answers with {error.code} {error.reason}."
            raise UnreachableError(shown, reason, hint="Try again later.") from error
        hint = "Put user and password into the URL (https://user:password@host/...), or fetch it by other means."
        raise InputError(shown, f"the server answers with {error.code} {error.reason}.", hint=hint) from error
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or error
        said = " ".join(str(getattr(why, "strerror", None) or why).split()) or type(error).__name__
        hint = "Is it running, and is the URL right?"
        raise UnreachableError(shown, f"the server cannot be reached: {said}.", hint=hint) from error
    except ValueError as error:
        raise InputError(shown, f"is no URL that can be asked ({error}).") from error


def get_json(url: str) -> Any:
    """The JSON document at a URL. Raises as `opened`, and `NoSuchResource` where the answer is none."""
    with opened(url) as answer:
        data = answer.read(MOST_JSON_BYTES + 1)
    if len(data) > MOST_JSON_BYTES:
        raise InputError(without_secrets(url), "the answer is larger than any of a Spark interface.")
    try:
        return json.loads(data)
    except ValueError as error:
        raise NoSuchResource(without_secrets(url)) from error
