"""Lines of tasks give the same tables by the kernel and by msgspec, healthy and damaged."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from emberscope.errors import InputError
from emberscope.eventlog import build
from emberscope.eventlog.build import Builder
from emberscope.eventlog.lines import Block
from emberscope.eventlog.read import read_event_log
from emberscope.kernel import NATIVE
from tests.eventlog.logs import PACKED, ROLLED, plain_text, rolled_text

pytestmark = pytest.mark.skipif(not NATIVE, reason="the kernel in C was not built")

_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**53,
    2**63,
    1.5,
    3.0,
    "",
    "7",
    "é",
    'a"b',
    [],
    [1],
    {},
    {"Reason": "x"},
]
_RAW = [b"\xff", b"\0", b"\\", b'"', b"{", b"}", b",", b":", b" ", b"0", b"e5", b"\n", b"\\ud800", b"\\u00e9", b"-"]


def both(path: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads a log both ways, and compares."""
    outcomes = []
    for native in (True, False):
        monkeypatch.setattr(build, "NATIVE", native)
        try:
            run = read_event_log(str(path))
        except InputError as error:
            outcomes.append((str(error),))
            continue
        outcomes.append(
            (run.application, run.coverage, {name: table.to_pydict() for name, table in run.tables.items()})
        )
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("log", [PACKED, ROLLED], ids=["3.5", "4.3"])
def test_whole_logs(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both(log, monkeypatch)


def test_the_kernel_takes_all_first_attempts_that_ended_well() -> None:
    for text in (plain_text(), rolled_text()):
        _, rows, _, others = Builder().scan(Block(text))
        events = [json.loads(line) for line in text.splitlines()]
        first = [
            e
            for e in events
            if e["Event"] == "SparkListenerTaskEnd"
            and e["Task End Reason"]["Reason"] == "Success"
            and not e["Stage Attempt ID"]
            and not e["Task Info"]["Attempt"]
        ]
        starts = [e for e in events if e["Event"] == "SparkListenerTaskStart"]
        assert [len(some) for some in rows] == [len(first), len(starts)]
        assert len(list(others)) == len(events) - len(first) - len(starts)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found += [(tree, key), *_places(value)]
    return found


def _changed(line: bytes, chance: random.Random) -> bytes:
    """A line of a task with something wrong or odd in it."""
    way = chance.randrange(6)
    if way < 2:
        at = chance.randrange(len(line) - 1)
        return line[:at] + chance.choice(_RAW) + line[at + chance.randrange(3) :]
    if way == 2:
        return line[: chance.randrange(len(line))] + b"\n"
    event = json.loads(line)
    holder, key = chance.choice(_places(event))
    if way == 3:
        del holder[key]
    elif way == 4:
        holder[key] = chance.choice(_VALUES)
    else:
        items = list(event["Task Info"].items())
        chance.shuffle(items)
        event["Task Info"] = dict(items)
    text = json.dumps(event, separators=(", ", ":") if chance.random() < 0.1 else (",", ":"), ensure_ascii=False)
    if way == 5:
        text = text.replace('"Index":', '"Index":3,"Index":', chance.randrange(2))
    return text.encode() + b"\n"


@pytest.mark.parametrize("seed", range(40))
def test_changed_lines(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    lines = (rolled_text() if seed % 2 else plain_text()).splitlines(keepends=True)
    if seed % 2:
        lines = lines[:300]
    tasks = [i for i, line in enumerate(lines) if line.startswith(b'{"Event":"SparkListenerTask')]
    for i in chance.sample(tasks, len(tasks) // 3):
        lines[i] = _changed(lines[i], chance)
    path = tmp_path / "log"
    path.write_bytes(b"".join(lines))
    both(path, monkeypatch)
