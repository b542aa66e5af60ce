"""Writes the pages of docs/ that are made from the source. Run it after a change; a test compares."""

from pathlib import Path

from emberscope.recorder.settings import settings_page
from emberscope.tables.page import tables_page

PAGES = {"settings.md": settings_page, "tables.md": tables_page}


def main() -> None:
    for name, page in PAGES.items():
        Path(__file__).with_name(name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
