"""The command `emberscope`: verbs are loaded when called, so that `--version` and completion stay instant."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["--version"]:
        from emberscope import __version__

        print(f"emberscope {__version__}")
        return
    raise SystemExit(2)


if __name__ == "__main__":
    main()
