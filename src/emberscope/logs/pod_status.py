"""`kubectl get pods|events|sparkapplications -o json`: the state of pods as the API has it, as statements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from emberscope.logs.application_description import BAD, application_said
from emberscope.logs.pod_words import event_statement, pod_statements
from emberscope.logs.statement import Statement
from emberscope.tables.coverage import Coverage, Note

_HEAD: Final = re.compile(
    rb'"kind"\s*:\s*"(?:Pod|PodList|Event|EventList|SparkApplication(?:List)?|ScheduledSparkApplication)"'
)
_IS_LIST: Final = re.compile(rb'"apiVersion"\s*:\s*"v1"')
_ITEMS: Final = re.compile(r'"items"\s*:\s*\[')


def looks_like_pod_status(head: bytes) -> bool:
    """Whether a document is one that Kubernetes' API gives: pods, events, applications of the Spark operator.

    `kubectl` writes the kind of a list of pods as `List`, and the kind of each of its items behind them.
    """
    if head.lstrip()[:1] != b"{":
        return False
    return _HEAD.search(head) is not None or (
        _IS_LIST.search(head) is not None and b'"items"' in head and b'"metadata"' in head
    )


def read_pod_status(text: str, path: str) -> tuple[list[Statement], Coverage]:
    """What the documents in a text say, one after the other; of one that is cut or damaged the whole items before."""
    found: list[Statement] = []
    notes: list[Note] = []
    decoder = json.JSONDecoder()
    place = 0
    while (place := _next(text, place)) < len(text):
        try:
            document, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            for item, begin, item_end in _whole_items(text, place, decoder):
                found += _statements(item, text, begin, item_end)
            message = "The document is cut or damaged: what stands whole before that place was read."
            notes.append(Note("cut", message, path, {"bytes": float(len(text) - place)}))
            break
        found += _statements(document, text, place, end)
        place = end
    return found, Coverage(tuple(notes))


def _next(text: str, place: int) -> int:
    while place < len(text) and (text[place].isspace() or text[place] in ",\x1e\ufeff"):
        place += 1
    return place


def _whole_items(text: str, place: int, decoder: json.JSONDecoder) -> Iterator[tuple[Any, int, int]]:
    start = _ITEMS.search(text, place)
    place = start.end() if start else len(text)
    while (place := _next(text, place)) < len(text):
        try:
            item, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield item, place, end
        place = end


def _statements(document: Any, text: str, begin: int, end: int) -> Iterator[Statement]:
    """`begin` and `end` are where the document stands in the text."""
    if not isinstance(document, Mapping):
        return
    if isinstance(document.get("object"), Mapping) and "type" in document:  # one change of `--watch`
        document = document["object"]
    if isinstance(document.get("items"), list):
        place = begin
        for item in document["items"]:
            # Items lie in their order, each from its own name on: no two of one kind have the same.
            name = _name(item)
            here = text.find(json.dumps(name), place, end) if name else place
            yield from _one(item, text, begin if here < 0 else _start_of(text, here, place), end)
            place = max(here, place)
        return
    yield from _one(document, text, begin, end)


def _start_of(text: str, here: int, least: int) -> int:
    """Where the item begins that has its name `here`: its metadata stands before its status."""
    start = text.rfind('"apiVersion"', least, here)
    return here if start < 0 else start


def _name(item: Any) -> str | None:
    metadata = item.get("metadata") if isinstance(item, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else None


def _one(item: Any, text: str, begin: int, end: int) -> Iterator[Statement]:
    if not isinstance(item, Mapping):
        return

    def line_of(words: str) -> int | None:
        place = text.find(json.dumps(words), begin, end)
        return text.count("\n", 0, begin if place < 0 else place) + 1

    kind = item.get("kind") or ("Event" if "involvedObject" in item else "Pod" if "spec" in item else "")
    if kind == "Pod":
        yield from pod_statements(item, line_of)
    elif kind == "Event":
        said = event_statement(item, line_of)
        if said is not None:
            yield said
    elif kind == "SparkApplication":
        yield from _application(item, line_of("applicationState"))


def _application(item: Mapping[str, Any], line: int | None) -> Iterator[Statement]:
    """What the Spark operator says of an application that did not go well."""
    status = item.get("status")
    if not isinstance(status, Mapping):
        return
    state = status.get("applicationState")
    name, said = (state.get("state"), state.get("errorMessage")) if isinstance(state, Mapping) else (None, None)
    if str(name) not in BAD:
        return
    app_id = status.get("sparkApplicationId")
    app_id = app_id if isinstance(app_id, str) else None
    yield application_said(_name(item) or "", str(name), None if said is None else str(said), line, app_id)
