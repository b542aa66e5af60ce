"""The words of a plan's operators: what of an operator's arguments tells most, shortened to what fits into its box."""

from __future__ import annotations

import re
from typing import Final

_IDS: Final = re.compile(r",? ?\[(?:plan_)?id=#?\d+\]|#\d+L?")
_MORE: Final = re.compile(r",? ?\.\.\. (\d+) more fields")
_ORDER: Final = re.compile(r" NULLS (?:FIRST|LAST)")
_VENDORS: Final = re.compile(r"^(?:Gpu|Photon)(?=[A-Z])")
_MARKED: Final = re.compile(r"\(.*\)$")
_LOCATION: Final = re.compile(r"Location: \w+\s?(?:\(\d+ paths\))?\[([^\],]*)")
_SPLIT: Final = re.compile(r"(?:hash|range)partitioning\$?\((.*), (\d+)\)")
_EXCHANGES: Final = ("Exchange", "ShuffleExchange", "ColumnarExchange", "ShuffleExchangeSink")
_BROADCASTS: Final = ("BroadcastExchange",)
_PYTHON: Final = ("EvalPython", "InPandas", "InArrow", "MapInPandas")
# Arguments of plugins that are the same wherever they stand.
_SAY_NOTHING: Final = frozenset(("true", "false", "2147483647"))
_SCANS: Final = ("Scan ", "BatchScan", "FileScan")


def base_name(name: str) -> str:
    """The operator without the vendor's prefix, what it works on and its marks: `SortMergeJoin(skew=true)` and
    `GpuSortMergeJoin` are both `SortMergeJoin`."""
    return _MARKED.sub("", _VENDORS.sub("", name.strip()).partition(" ")[0])


def is_join(name: str) -> bool:
    return "Join" in base_name(name) or base_name(name) == "CartesianProduct"


def join_keys(detail: str) -> tuple[str, str] | None:
    """The keys of both sides of a join, without Spark's expression ids; None for a join without."""
    lists = bracketed(detail)
    return (plain(lists[0]), plain(lists[1])) if len(lists) > 1 else None


def plain(text: str) -> str:
    """Text of a plan in one line, without the ids of expressions and without orders of nulls. Lists that Spark
    cut say by how many."""
    return " ".join(_MORE.sub(r", +\1 more", _ORDER.sub("", _IDS.sub("", text))).split())


def bracketed(text: str) -> list[str]:
    """What stands in square brackets, outermost ones only, in their order."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        if sign == "[":
            depth += 1
            if depth == 1:
                start = place + 1
        elif sign == "]" and depth:
            depth -= 1
            if depth == 0:
                found.append(text[start:place])
    return found


def telling(name: str, detail: str) -> str:
    """The one detail that tells most of an operator: what it reads, joins by, keeps, groups or orders by. May be empty.

    `detail` is the operator with its arguments in one line, as Spark gives it.
    """
    base, arguments = base_name(name), plain(_arguments(name, detail))
    lists = [plain(part) for part in bracketed(detail)]
    if is_join(name):
        return _join(lists, arguments)
    if name.startswith(_SCANS) or "Scan" in base:
        return _scan(name, detail, lists)
    if base in _EXCHANGES or (base.endswith("Exchange") and base not in _BROADCASTS):
        return _exchange(arguments)
    if base in _BROADCASTS:
        return "to every executor"
    if "Aggregate" in base or base == "Agg":
        return next((f"by {part}" if first else part for first, part in _aggregate(detail) if part), "")
    if name.startswith(("Execute ", "AppendData", "Overwrite")):
        path = re.search(r"path=([^,\]]*)", arguments)
        return (path[1] if path else arguments.partition(", ")[0]).removeprefix("file:")
    if base == "Subquery":
        return detail.removeprefix("Subquery ").partition(",")[0]
    if base in ("Sort", "TakeOrderedAndProject"):
        return lists[0] if lists else arguments
    if base == "Window" and len(lists) > 1:
        return f"by {lists[1]}" + (f", in order of {lists[2]}" if len(lists) > 2 else "")
    if base.endswith(_PYTHON) and lists:
        return lists[0]
    if base in ("Filter", "Project"):
        return _unwrapped(arguments)
    return arguments


def _arguments(name: str, detail: str) -> str:
    found = detail.removeprefix(name.strip()).strip()
    return "" if found in _SAY_NOTHING else found


def _join(lists: list[str], arguments: str) -> str:
    if len(lists) < 2:
        return arguments
    left, right = lists[0], lists[1]
    how = arguments.rpartition("]")[2] if not arguments.endswith("]") else ""
    words = [word for word in how.strip(" ,").split(", ") if word and word not in ("false", "true")]
    keys = left if left == right else f"{left} = {right}"
    return ", ".join([f"by {keys}", *words[:2]])


def _scan(name: str, detail: str, lists: list[str]) -> str:
    place = _LOCATION.search(detail)
    table = name.strip().rpartition(" ")[2]
    if place and "." not in table:
        return place[1].removeprefix("file:")
    return lists[0] if lists else plain(_arguments(name, detail))


def _exchange(arguments: str) -> str:
    found = _SPLIT.search(arguments)
    if found:
        return f"by {found[1]}, into {found[2]}"
    number = re.search(r"RoundRobinPartitioning\((\d+)", arguments, re.IGNORECASE)
    if number:
        return f"evenly, into {number[1]}"
    return "into one partition" if re.search("single.?partition", arguments, re.IGNORECASE) else arguments


def _aggregate(detail: str) -> list[tuple[bool, str]]:
    """The keys, marked, and the functions."""
    keys = detail.find("keys=[")
    functions = detail.find("functions=[")
    parts = []
    for first, place in ((True, keys), (False, functions)):
        inside = bracketed(detail[place:]) if place >= 0 else []
        parts.append((first, plain(inside[0]) if inside else ""))
    return parts


def _unwrapped(text: str) -> str:
    """Without the brackets that hold the whole."""
    for opening, closing in ("()", "[]"):
        if text.startswith(opening) and text.endswith(closing):
            depth = 0
            for place, sign in enumerate(text):
                depth += (sign == opening) - (sign == closing)
                if depth == 0:
                    return text[1:-1] if place == len(text) - 1 else text
    return text


def shortened(text: str, most: int) -> str:
    """At most so many characters, the middle left out: both ends of names and paths tell more."""
    if len(text) <= most:
        return text
    tail = most // 2
    return f"{text[: most - tail - 1]}…{text[len(text) - tail :]}"


_NARROW: Final = frozenset("iljtfrI.,:;'|()[]/ ")
_WIDE: Final = frozenset("mwMWGOQ@%")


def width_px(text: str, size_px: float, *, fixed: bool = False) -> float:
    """About how wide text is, rather too wide than too narrow: of the fonts in use DejaVu Sans is the widest."""
    if fixed:
        return sum(1.0 if ord(sign) > 0x2E80 else 0.603 for sign in text) * size_px
    units = sum(
        0.4 if sign in _NARROW else 0.95 if sign in _WIDE or ord(sign) > 0x2E80 else 0.71 if sign.isupper() else 0.635
        for sign in text
    )
    return units * size_px
