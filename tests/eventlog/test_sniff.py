"""An event log is told by its content."""

import pytest
import zstandard

from emberscope.eventlog.sniff import looks_like_event_log
from tests.eventlog.logs import DATA, PACKED, ROLLED, plain_text


def test_real_logs_compressed_or_not() -> None:
    heads = [plain_text(), PACKED.read_bytes(), *(p.read_bytes() for p in ROLLED.glob("events_*"))]
    heads += [path.read_bytes() for path in (DATA / "codecs").iterdir()]
    assert len(heads) == 7
    assert all(looks_like_event_log(head[:65536]) for head in heads)


@pytest.mark.parametrize(
    "head",
    [b"", b"hello", b'{"event": 1}', b'{"Evil":"x"}', zstandard.compress(b"a log\n"), b"FLR\0\0\2", b"a;b;c 12\n"],
)
def test_other_files(head: bytes) -> None:
    assert not looks_like_event_log(head)


def test_a_damaged_first_line_does_not_hide_a_log() -> None:
    assert looks_like_event_log(b"\xff\x00{garbage\n" + plain_text()[:5000])
