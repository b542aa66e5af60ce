"""Layouts of types: real ones of the JDK, and ones that cannot be right."""

from __future__ import annotations

import pytest

from emberscope.jfr.encoding import Damaged
from emberscope.jfr.header import Header, split
from emberscope.jfr.layout import KEY, event_layout, pool_layout
from emberscope.jfr.metadata import Metadata, metadata_body, parse_metadata
from emberscope.jfr.source import Memory
from emberscope.kernel import ops
from tests.jfr import writer
from tests.jfr.recordings import plain


def metadata_of(data: bytes) -> Metadata:
    header = next(iter(split(Memory(data))))
    assert isinstance(header, Header)
    return parse_metadata(metadata_body(data, header.metadata, header.compressed), header.compressed)


JDK = metadata_of(plain("workload-jdk17.jfr.gz"))


def test_an_event_of_the_jdk_with_an_inline_struct() -> None:
    layout = event_layout(JDK, JDK.by_name["jdk.GCHeapSummary"].id, None)
    paths = list(layout.columns)
    assert paths[:3] == ["startTime", "gcId", "when"]
    assert "heapSpace.committedSize" in paths
    assert layout.columns["when"].pool == JDK.by_name["jdk.types.GCWhen"].id
    assert layout.columns["heapSpace.start"].pool is None
    assert [column.number for column in layout.columns.values()] == list(range(len(paths)))


def test_a_pool_with_an_array_of_structs() -> None:
    layout = pool_layout(JDK, JDK.by_name["jdk.types.StackTrace"].id, None)
    assert list(layout.columns) == [
        KEY,
        "truncated",
        "frames",
        "frames[].method",
        "frames[].lineNumber",
        "frames[].bytecodeIndex",
        "frames[].type",
    ]
    assert layout.columns["frames"].operation == ops.ARRAY
    assert layout.columns["frames[].method"].within == ("frames",)


def test_what_nobody_wants_is_skipped_and_an_event_is_read_no_further_than_needed() -> None:
    event = JDK.by_name["jdk.ThreadPark"]
    layout = event_layout(JDK, event.id, frozenset(("stackTrace",)))
    assert list(layout.columns) == ["stackTrace"]
    assert layout.program[-3:] == (ops.LONG, 0, 0), "the fields after the last wanted one are not read"
    assert all(column == -1 for column in layout.program[1:-3:3])
    trace = pool_layout(JDK, JDK.by_name["jdk.types.StackTrace"].id, frozenset(("frames[].method",)))
    assert list(trace.columns) == [KEY, "frames", "frames[].method"]
    assert len(trace.program) == len(pool_layout(JDK, JDK.by_name["jdk.types.StackTrace"].id, None).program)


def made(*fields: str) -> Metadata:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(50, "x.Event", *fields, super_type=writer.EVENT)
    chunk.type(51, "x.Inner", "again:51")
    chunk.type(52, "x.Empty")
    return metadata_of(chunk.finish())


@pytest.mark.parametrize(
    "fields", [("endless:51",), ("unknown:999",), tuple(f"f{i}:10" for i in range(ops.MAX_OPS + 1))]
)
def test_types_that_cannot_be_right_are_refused(fields: tuple[str, ...]) -> None:
    with pytest.raises(Damaged):
        event_layout(made(*fields), 50, None)


def test_a_name_that_comes_twice_is_one_column() -> None:
    layout = event_layout(made("same:10", "same:10"), 50, None)
    assert [column.number for column in layout.columns.values()] == [0]
    assert layout.program == (ops.LONG, 0, 0)


def test_a_type_without_fields_takes_no_bytes() -> None:
    assert event_layout(made("empty:52", "number:10"), 50, None).program == (ops.LONG, 0, 0)
