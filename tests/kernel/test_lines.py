"""Lines of JSON to rows of integers: what is taken, what is left, and that both kernels agree on damaged lines too."""

from __future__ import annotations

import array
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.kernel import members as m
from emberscope.kernel import plain
from tests.kernel.conftest import KERNELS

PREFIX = b'{"Event":"A"'
NODES = [
    [
        (b'"Id":', m.INT, 1, 0, b"", True),
        (b'"Big":', m.LONG, 2, 0, b"", False),
        (b'"Flag":', m.FLAG, 3, 0, b"", False),
        (b'"Host Name":', m.TEXT, 4, 0, b"", False),
        (b'"Reason":', m.OBJECT, -1, 1, b"", False),
        (b'"Inner":', m.OBJECT, 5, 2, b"", False),
        (b'"Never":', m.ABSENT, -1, 0, b"", False),
        (b'"Attempt":', m.ZERO, 6, 0, b"", False),
        (b'"Checked":', m.LONG, -1, 0, b"", False),
    ],
    [(b'"Reason":', m.IS, -1, 0, b'"Success"', True)],
    [(b'"Deep":', m.LONG, 7, 0, b"", False)],
]
ROW = [0, -1, -2, -3, -4, -5, -6, -7]
KIND = (PREFIX, array.array("q", ROW).tobytes(), NODES)
OTHER_KIND = (b'{"Event":"B"', array.array("q", [0, 9]).tobytes(), [[(b'"X":', m.LONG, 1, 0, b"", True)]])


def scan(kernel: Any, text: bytes) -> tuple[Any, ...]:
    count, rows, texts, others = kernel.Lines([KIND, OTHER_KIND]).scan(text)
    wide, narrow = (view.tolist() for view in rows)
    at = others.tolist()
    return (
        count,
        [wide[i : i + 8] for i in range(0, len(wide), 8)],
        [narrow[i : i + 2] for i in range(0, len(narrow), 2)],
        texts,
        [tuple(at[i : i + 3]) for i in range(0, len(at), 3)],
    )


def one(kernel: Any, members: bytes) -> list[int] | None:
    """The row of a line with these members; None where it is left."""
    text = PREFIX + b"," + members + b"}\n"
    count, rows, _, _, others = scan(kernel, text)
    assert count == 1
    assert others == ([] if rows else [(1, 0, len(text))])
    return rows[0] if rows else None


@pytest.mark.parametrize(
    ("members", "row"),
    [
        (b'"Id":5', [1, 5, -2, -3, -4, -5, -6, -7]),
        (b'"Id":-5,"Big":123456789012345678,"Flag":true', [1, -5, 123456789012345678, 1, -4, -5, -6, -7]),
        (b'"Flag":false,"Id":0,"Host Name":"h","Attempt":0', [1, 0, -2, 0, 0, -5, 0, -7]),
        (b'"Id":1,"Reason":{"Reason":"Success"},"Inner":{}', [1, 1, -2, -3, -4, 1, -6, -7]),
        (b'"Id":1,"Inner":{"Deep":4,"Other":[1,{"a":null}]},"Unknown":"\\u00e9\\n"', [1, 1, -2, -3, -4, 1, -6, 4]),
        (b'"Unknown":{"Id":[true,false,null,-1.5,0.25,""]},"Id":7,"Checked":3', [1, 7, -2, -3, -4, -5, -6, -7]),
        (b'"Id":2147483647', [1, 2147483647, -2, -3, -4, -5, -6, -7]),
    ],
)
def test_what_is_taken(kernel: Any, members: bytes, row: list[int]) -> None:
    assert one(kernel, members) == row


@pytest.mark.parametrize(
    "members",
    [
        b'"Big":1',  # "Id" must be there
        b'"Id":1,"Id":1',
        b'"Id":2147483648',
        b'"Id":1.0',
        b'"Id":1e2',
        b'"Id":01',
        b'"Id":-0',
        b'"Id":-',
        b'"Id":"1"',
        b'"Id":null',
        b'"Id": 1',
        b'"Id":1 ',
        b'"Id":1,',
        b'"Id":1,"Big":1234567890123456789',
        b'"Id":1,"Flag":1',
        b'"Id":1,"Flag":tru',
        b'"Id":1,"Host Name":"\\n"',
        b'"Id":1,"Host Name":"\xc3\xa9"',
        b'"Id":1,"Host Name":null',
        b'"Id":1,"Reason":{"Reason":"Failure"}',
        b'"Id":1,"Reason":{}',
        b'"Id":1,"Reason":null',
        b'"Id":1,"Never":1',
        b'"Id":1,"Attempt":1',
        b'"Id":1,"Checked":"x"',
        b'"Id":1,"Unknown":1e400',
        b'"Id":1,"Unknown":1.',
        b'"Id":1,"Unknown":"\\ud800"',
        b'"Id":1,"Unknown":"\\x"',
        b'"Id":1,"Unknown":"a\tb"',
        b'"Id":1,"Unknown":[1,]',
        b'"Id":1,"Unknown":[1 2]',
        b'"Id":1,"Unknown":{"a"}',
        b'"Id":1,"Unknown":nul',
        b'"Id":1,"Unknown":' + b"1" * 41,
        b'"Id":1,"Unknown":' + b"[" * 33 + b"]" * 33,
        b'"Id":1,"Unkn\\u006fwn":1',
        b'"Id":1}',
        b'"Id":1,"Unknown":"\0"',
    ],
)
def test_what_is_left(kernel: Any, members: bytes) -> None:
    assert one(kernel, members) is None


def test_deep_is_taken_to_its_limit(kernel: Any) -> None:
    assert one(kernel, b'"Id":1,"Unknown":' + b"[" * 32 + b"]" * 32) is not None


def test_lines_of_all_kinds_and_none(kernel: Any) -> None:
    lines = [
        PREFIX + b',"Id":3,"Host Name":"a"}\n',
        b"\n",
        b'{"Event":"B","X":5}\n',
        b'{"Event":"AB","Id":1}\n',
        PREFIX + b"}\n",
        PREFIX + b',"Id":4,"Host Name":"b"}\n',
        PREFIX + b',"Id":5,"Host Name":"a"}',
    ]
    count, wide, narrow, texts, others = scan(kernel, b"".join(lines))
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
    assert count == 7
    assert [(row[0], row[1], texts[row[4]]) for row in wide] == [(1, 3, "a"), (6, 4, "b"), (7, 5, "a")]
    assert narrow == [[3, 5]]
    assert texts == ["a", "b"]
    assert others == [(i + 1, starts[i], starts[i + 1]) for i in (1, 3, 4)]
    assert scan(kernel, b"") == (0, [], [], [], [])


def test_texts_beyond_the_most_are_left(kernel: Any) -> None:
    lines = [PREFIX + b',"Id":1,"Host Name":"%d"}\n' % i for i in range(m.MOST_TEXTS + 3)] * 2
    count, wide, _, texts, others = scan(kernel, b"".join(lines))
    assert (count, len(wide), len(texts), len(others)) == (len(lines), 2 * m.MOST_TEXTS, m.MOST_TEXTS, 6)
    assert [texts[row[4]] for row in wide] == [str(i) for i in range(m.MOST_TEXTS)] * 2


def test_many_unknown_members(kernel: Any) -> None:
    unknown = b",".join(b'"u%d":%d' % (i, i) for i in range(200))
    text = (PREFIX + b"," + unknown + b',"Id":6}\n') * 3
    assert [row[1] for row in scan(kernel, text)[1]] == [6, 6, 6]


@pytest.mark.parametrize(
    "kinds",
    [
        [(b"{", array.array("q", [0]).tobytes(), [[]])],
        [(PREFIX, b"", NODES)],
        [(PREFIX, array.array("q", [0]).tobytes(), NODES)],
        [(PREFIX, array.array("q", ROW).tobytes(), [])],
        [(PREFIX, array.array("q", ROW).tobytes(), [[(b'"a":', 99, 1, 0, b"", False)]])],
        [(PREFIX, array.array("q", ROW).tobytes(), [[(b'"a":', m.OBJECT, 1, 5, b"", False)]])],
        [(PREFIX, array.array("q", ROW).tobytes(), [[(b'"a":', m.LONG, 0, 0, b"", False)]])],
        [(PREFIX, array.array("q", ROW).tobytes(), [[(b'"a":', m.IS, 1, 0, b"", False)]])],
        [(PREFIX, array.array("q", ROW).tobytes(), [[(b'"a":', m.LONG, 1, 0, b"", False)] * 64])],
        [(PREFIX, array.array("q", ROW).tobytes(), [["a"]])],
        ["a"],
    ],
)
@pytest.mark.skipif("native" not in KERNELS, reason="the kernel in C was not built")
def test_bad_programs_are_refused(kinds: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        KERNELS["native"].Lines(kinds)  # type: ignore[attr-defined]


PIECES = st.sampled_from(
    [
        PREFIX,
        b",",
        b"}",
        b"{",
        b"[",
        b"]",
        b":",
        b'"',
        b"\n",
        b"\\",
        b"\\u00e9",
        b"\\udc00",
        b'"Id":5',
        b'"Id":',
        b'"Big":-7',
        b'"Flag":true',
        b'"Host Name":"abc"',
        b'"Reason":{"Reason":"Success"}',
        b'"Inner":{"Deep":4}',
        b'"Unknown member":{"a":[1,2,{"b":"c"}]}',
        b'"Attempt":0',
        b"null",
        b"-12.5",
        b"1e5",
        b"0",
        b"\xff",
        b"\0",
    ]
)


@pytest.mark.skipif("native" not in KERNELS, reason="the kernel in C was not built")
@settings(max_examples=1000, deadline=None)
@given(pieces=st.lists(st.one_of(PIECES, st.binary(max_size=3)), max_size=30), comma=st.booleans())
def test_both_kernels_agree_and_what_they_take_is_json(pieces: list[bytes], comma: bool) -> None:
    text = PREFIX + b"," + (b"," if comma else b"").join(pieces) + b"}\n" + PREFIX + b',"Id":5}'
    found = scan(KERNELS["native"], text)
    assert found == scan(plain, text)
    left = {number for number, _, _ in found[4]}
    for number, line in enumerate(text.split(b"\n"), 1):
        if line and number not in left:
            json.loads(line.decode("utf-8", "replace"), strict=True)
