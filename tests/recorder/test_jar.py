from pathlib import Path

import pytest

from emberscope.errors import EmberscopeError
from emberscope.recorder import jar


def test_a_missing_jar_is_said_in_one_sentence_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jar, "__file__", str(tmp_path / "jar.py"))
    with pytest.raises(EmberscopeError, match="make jar") as raised:
        jar.recorder_jar()
    assert str(tmp_path) in raised.value.message


def test_the_jar_lies_in_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jar, "__file__", str(tmp_path / "jar.py"))
    (tmp_path / jar.JAR_NAME).write_bytes(b"")
    assert jar.recorder_jar() == tmp_path / jar.JAR_NAME
