"""Whether bytes are the beginning of a Spark event log."""

from __future__ import annotations

import re
from typing import Final

from emberscope.eventlog.codecs import text_head

_EVENT: Final = re.compile(rb'^(?:\xef\xbb\xbf)?[ \t\r]*\{\s*"Event"\s*:\s*"', re.MULTILINE)


def looks_like_event_log(head: bytes) -> bool:
    """True where a line of the first text begins as Spark's listener events do.

    `head` is the beginning of a file, compressed or not; 64 KiB are plenty. Told by content, never by name.
    """
    return _EVENT.search(text_head(head)) is not None
