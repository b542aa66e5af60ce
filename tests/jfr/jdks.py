"""The JDKs of this machine."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path


def jdks() -> dict[int, str]:
    """A `java` of each major version from 17 that lies beside the one that is found first."""
    java = os.environ.get("JAVA_HOME", "") and os.path.join(os.environ["JAVA_HOME"], "bin", "java")
    java = java or shutil.which("java") or ""
    if not java:
        return {}
    home = Path(os.path.realpath(java)).parent.parent
    found: dict[int, str] = {}
    for candidate in [home, *sorted(home.parent.iterdir())]:
        release = candidate / "release"
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
        if version and int(version[1]) >= 17 and (candidate / "bin" / "javac").exists():
            found.setdefault(int(version[1]), str(candidate / "bin" / "java"))
    return found


JDKS = jdks()
