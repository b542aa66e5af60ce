"""A log that grows is read on and on: at every moment as a reader from the start would, and nothing is read twice."""

import bz2
import io
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.eventlog.codecs import decompress
from emberscope.eventlog.facts import facts
from emberscope.eventlog.follow import Follower
from emberscope.eventlog.read import read_event_log
from tests.eventlog.logs import ROLLED, plain_text
from tests.eventlog.packed import PACK

_TEXT = plain_text()
_FILES = sorted(ROLLED.glob("events_*"))
_STATUS = next(ROLLED.glob("appstatus_*")).name
_few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _same(follower: Follower, path: Path) -> None:
    """As a reader of whole lines from the start sees it; only that is damage to it which may still be made good."""
    run = follower.run()
    assert run is not None
    mine, other = facts(run), facts(read_event_log(str(path)))
    for document in (mine, other):
        del document["coverage"]
    assert mine == other


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@_few
@given(cuts=st.lists(st.integers(0, len(_TEXT)), max_size=3))
def test_a_plain_log_in_pieces(cuts: list[int], tmp_path: Path) -> None:
    path = tmp_path / "app.inprogress"
    path.write_bytes(b"")
    (tmp_path / "app").unlink(missing_ok=True)
    with Follower(str(path)) as follower:
        borders = [0, *sorted(cuts), len(_TEXT)]
        for start, end in pairwise(borders):
            _append(path, _TEXT[start:end])
            follower.poll()
            whole = _TEXT[:end].rfind(b"\n") + 1
            if whole:
                assert follower.position.offset == whole
                other = tmp_path / "other"
                other.write_bytes(_TEXT[:whole])
                _same(follower, other)
        path.rename(tmp_path / "app")
        assert follower.poll() or len(set(borders)) < len(borders)  # it ended when nothing was added
        assert follower.ended
        _same(follower, tmp_path / "app")


@_few
@given(data=st.data())
def test_a_rolled_log_in_pieces(data: st.DataObject, tmp_path: Path) -> None:
    place = tmp_path / ROLLED.name
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    with Follower(str(place)) as follower:
        assert not follower.poll()  # the directory is there first, with nothing in it
        (place / f"{_STATUS}.inprogress").touch()
        assert not follower.poll()
        for file in _FILES:
            whole = file.read_bytes()
            cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
            for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
                _append(place / file.name, whole[start:end])
                follower.poll()
                assert follower.position.offset <= os.stat(follower.position.path).st_size
        (place / f"{_STATUS}.inprogress").rename(place / _STATUS)
        follower.poll()
        assert follower.ended
        assert follower.position.offset == _FILES[-1].stat().st_size
        _same(follower, ROLLED)
        run = follower.run()
        assert run is not None
        assert run.coverage.complete


def test_nothing_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "app.inprogress"
    path.write_bytes(_TEXT[:100_000])
    with Follower(str(path)) as follower:
        follower.poll()
        read: list[int] = []
        before = os.stat(path).st_size
        original = Follower._take

        def counting(self: Follower, blocks: Any) -> None:
            def each() -> Any:
                for block in blocks:
                    read.append(len(block.text))
                    yield block

            original(self, each())

        monkeypatch.setattr(Follower, "_take", counting)
        _append(path, _TEXT[100_000:200_000])
        follower.poll()
        assert 0 < sum(read) <= os.stat(path).st_size - before + len(_TEXT[:100_000].rpartition(b"\n")[2])
        read.clear()
        assert not follower.poll()
        assert read == []


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_shrinks_or_is_replaced_is_read_anew_and_said(replaced: bool, tmp_path: Path) -> None:
    path = tmp_path / "app.inprogress"
    path.write_bytes(_TEXT)
    with Follower(str(path)) as follower:
        follower.poll()
        half = _TEXT[: _TEXT.index(b"\n", len(_TEXT) // 2) + 1]
        if replaced:
            (tmp_path / "new").write_bytes(half + _TEXT)
            os.replace(tmp_path / "new", path)
        else:
            path.write_bytes(half)
        assert follower.poll()
        assert "read anew" in follower.said[0]
        _same(follower, path)
        run = follower.run()
        assert run is not None
        assert any("replaced" in note.message for note in run.coverage.notes)


def test_a_file_that_vanishes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "app.inprogress"
    path.write_bytes(_TEXT[:50_000])
    with Follower(str(path)) as follower:
        follower.poll()
        path.unlink()
        with pytest.raises(InputError, match="removed"):
            follower.poll()


def test_the_end_of_the_application_is_the_end_after_one_more_look(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(_TEXT)
    with Follower(str(path)) as follower:
        assert follower.poll()
        assert not follower.ended
        follower.poll()
        assert follower.ended


@pytest.mark.parametrize("codec", PACK)
def test_a_packed_log_in_pieces(codec: str, tmp_path: Path) -> None:
    data = PACK[codec](_TEXT)
    path = tmp_path / "app.inprogress"
    path.write_bytes(b"")
    with Follower(str(path)) as follower:
        assert not follower.poll()
        borders = [0, *range(7, len(data), max(1, len(data) // 5)), len(data)]
        seen = []
        for start, end in pairwise(borders):
            _append(path, data[start:end])
            follower.poll()
            assert follower.position.offset <= end
            run = follower.run()
            seen.append(run.application.lines if run else 0)
            assert run is None or not [note for note in run.coverage.notes if note.code in ("cut", "malformed_line")]
        assert seen == sorted(seen)
        assert len(set(seen)) > (1 if codec == "zstd" else 3)
        path.rename(tmp_path / "app")
        follower.poll()
        assert follower.ended
        assert follower.position.offset == len(data) or codec == "lz4"  # its last block ends within a line perhaps
        _same(follower, tmp_path / "app")


@pytest.mark.parametrize("codec", ["lz4", "snappy", "lzf"])
def test_another_reader_can_go_on_where_the_last_whole_line_and_block_ended(codec: str, tmp_path: Path) -> None:
    lines = _TEXT.splitlines(keepends=True)
    first, second = b"".join(lines[:60]), b"".join(lines[60:])
    path = tmp_path / "app.inprogress"
    path.write_bytes(PACK[codec](first) + PACK[codec](second)[:3000])
    with Follower(str(path)) as follower:
        follower.poll()
        assert follower.position.offset == len(PACK[codec](first)) + (16 if codec == "snappy" else 0)


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("codec", ["lz4", "snappy"])
def test_a_rolled_log_of_any_codec_goes_on_in_its_next_file(codec: str, loose: bool, tmp_path: Path) -> None:
    """Also where the files of another log lie beside it."""
    place = tmp_path / "log"
    place.mkdir()
    status = place / f"{_STATUS}.inprogress"
    status.touch()
    app = _STATUS.removeprefix("appstatus_")
    if loose:
        (place / "appstatus_app-9").touch()
        (place / f"events_1_app-9.{codec}").write_bytes(PACK[codec](_TEXT))
    texts = [b"".join(decompress(io.BytesIO(file.read_bytes()), "zstd", [])) for file in _FILES]
    (place / f"events_1_{app}.{codec}").write_bytes(PACK[codec](texts[0]))
    with Follower(str(place / f"events_*_{app}" if loose else place)) as follower:
        assert follower.poll()
        for number, text in enumerate(texts[1:], 2):
            (place / f"events_{number}_{app}.{codec}").write_bytes(PACK[codec](text))
            assert follower.poll()
            assert not follower.ended
        status.rename(place / _STATUS)
        follower.poll()
        assert follower.ended
        _same(follower, ROLLED)


def test_codecs_that_spark_does_not_write_are_refused_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bz2.compress(_TEXT))
    with pytest.raises(InputError, match="bzip2"), Follower(str(path)) as follower:
        follower.poll()
