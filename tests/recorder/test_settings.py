from pathlib import Path

from emberscope.recorder.settings import SETTINGS, settings_page

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_catalogue_says() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(), "run docs/generate.py"


def test_every_setting_is_explained_once() -> None:
    names = [setting.name for setting in SETTINGS]
    assert len(set(names)) == len(names)
    assert all(setting.doc.endswith(".") and "|" not in setting.doc for setting in SETTINGS)
