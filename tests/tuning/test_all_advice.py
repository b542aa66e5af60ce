"""Every piece of advice of every rule, over every log there is: one that Spark would not take is a defect of its rule.

Where the corpus of public logs is there, that is the directory `CORPUS` names in the environment or `../shared/corpus`
beside the checkout, its logs are asked too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.eventlog.read import read_event_log
from emberscope.rules.evaluate import evaluate
from emberscope.settings.catalog import setting_of
from emberscope.settings.switches import SWITCHES
from emberscope.settings.values import problem
from emberscope.tuning.resolve import resolved
from emberscope.tuning.situation import situation_of
from emberscope.tuning.valid import defects

DATA = Path(__file__).parents[1] / "data"
CORPUS = Path(os.environ.get("CORPUS", DATA.parents[1].parent / "shared" / "corpus"))
LOGS = [
    *sorted((DATA / "findings").glob("*.zstd")),
    *sorted(path for path in (DATA / "eventlog").iterdir() if not path.name.endswith(".md") and path.name != "codecs"),
    *sorted(CORPUS.glob("eventlogs/*/*")),
]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_what_rules_advise_can_be_done(log: Path) -> None:
    try:
        run = read_event_log(str(log))
    except (InputError, IsADirectoryError):
        pytest.skip("not one event log")
    found = evaluate(run).findings
    wrong = [f"{one.rule.code}: {words}" for one in found for words in defects(one.finding.advice, run)]
    assert wrong == []
    told, patch = resolved(found, run)
    assert [one.rule.code for one in told] == [one.rule.code for one in found]
    for key, value in patch.settings.items():
        setting = setting_of(key)
        assert setting is None or problem(setting, value) is None
        assert situation_of(run).own(key) != value
        assert not [
            switch for prefix, switch, _ in SWITCHES if key.startswith(prefix) and patch.settings.get(switch) == "false"
        ]
