"""Where the recorder's jar lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from emberscope.errors import EmberscopeError

JAR_NAME: Final = "emberscope-recorder.jar"


def recorder_jar() -> Path:
    """The plugin's jar, in the installed package. Raises `EmberscopeError` where it was not built or is gone."""
    jar = Path(__file__).with_name(JAR_NAME)
    if not jar.is_file():
        raise EmberscopeError(
            f"The recorder's jar is not there: {jar}.",
            hint="Build it with `make jar` (it needs a JDK), or install Emberscope again from a wheel.",
        )
    return jar
