import os
import stat

import pytest

from emberscope.errors import StoreError
from emberscope.store.write import check_writable, write_bytes, write_json


def test_a_file_appears_whole_and_alone(tmp_path):
    write_bytes(tmp_path / "a/b.bin", b"one")
    write_bytes(tmp_path / "a/b.bin", b"two")
    assert (tmp_path / "a/b.bin").read_bytes() == b"two"
    assert os.listdir(tmp_path / "a") == ["b.bin"]
    assert stat.S_IMODE((tmp_path / "a/b.bin").stat().st_mode) == 0o666 & ~umask()


def test_json_ends_with_a_line_end(tmp_path):
    write_json(tmp_path / "x.json", {"schema": "é"})
    assert (tmp_path / "x.json").read_text() == '{\n "schema": "é"\n}\n'


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write_bytes(tmp_path / "file/x", b"")
    with pytest.raises(StoreError, match=r"the store cannot be written: (Not a directory|File exists)"):
        check_writable(tmp_path / "file/x")
    with pytest.raises(StoreError, match=r"a directory, and this is a file\. Name another"):
        check_writable(tmp_path / "file")


def test_a_usable_store_is_left_empty(tmp_path):
    check_writable(tmp_path / "new/store")
    assert os.listdir(tmp_path / "new/store") == []


def umask():
    current = os.umask(0)
    os.umask(current)
    return current
