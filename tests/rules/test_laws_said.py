"""Laws of the rules about what logs say: over every line that their tests quote."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from emberscope.rules.base import Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import SEVERITIES, evaluate
from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.load import find_inputs, load_input
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Run
from tests.logs import test_gc_log as gc
from tests.logs import test_instance_state as node
from tests.rules.failures import test_decommissioned as decommission
from tests.rules.failures.test_fetch_failed import GONE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

OF_LOGS = tuple(rule for rule in RULES if any(read.table == LOG_EVENTS for read in rule.reads))
FAMILIES = ("complaints", "emr", "failures", "profilers")
SHORTEST = 30

# What takes more than one quotation to show: files of one container, by name. Lines are those of the rules' own tests.
PUT_TOGETHER = {
    "K62": {"stderr": f"{decommission.LOST}\n{GONE}"},
    "K82": {"gc.log": gc.HEALTHY + gc.FULL},
    "K83": {"gc.log": gc.HEALTHY + gc.unified(500, "Pause Full (G1 Compaction Pause)", 8190, 7900, 132_000)},
    "L1": {
        "stderr": "\n".join(
            "21/06/18 10:00:00 WARN KafkaDataConsumer: KafkaConsumer cache hitting max capacity of 64, removing "
            f"consumer for CacheKey(spark-kafka-source-1-executor,topic-{number})"
            for number in range(40)
        )
    },
    "L15": {
        "instance-state.log": node.FULL,
        "stderr": "22/08/22 14:20:00 WARN YarnAllocator: Container marked as failed: container_1_01_000007 on host: "
        "ip-10-0-0-7. Exit status: -100. Diagnostics: Container released on a *lost* node",
    },
}


@cache
def quotations() -> tuple[str, ...]:
    """All that the tests of these rules quote."""
    here = Path(__file__).parent
    files = (file for family in FAMILIES for file in sorted((here / family).glob("*.py")))
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text())))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(dict.fromkeys(text for text in texts if len(text) > SHORTEST))


def telling(run: Run) -> Iterator[Rule[Any]]:
    """The rules that find something; only those of which a signature is in this run can."""
    names = {name for row in run.tables["log_events"]["signatures"].to_pylist() for name in row or ()}
    # One that has none of its own reads those of another rule.
    asked = (rule for rule in OF_LOGS if not rule.signatures or any(one.name in names for one in rule.signatures))
    return (rule for rule in asked if found(rule, run))


@cache
def told_by_quotations() -> frozenset[str]:
    """The codes of the rules that find something in a quotation; complaints are words, all others must be in a log."""
    found_in_logs = {rule.code for text in quotations() for rule in telling(run_of_log(text))}
    found_in_words = {rule.code for text in quotations() for rule in telling(run_of_words(text))}
    return frozenset(found_in_logs | {code for code in found_in_words if code.startswith("W")})


@pytest.mark.parametrize("rule", OF_LOGS, ids=lambda rule: rule.code)
def test_finds_something_in_lines_that_its_tests_quote(rule: Rule[Any], tmp_path: Path) -> None:
    assert (rule.code in told_by_quotations()) != (rule.code in PUT_TOGETHER)
    if rule.code in PUT_TOGETHER:
        folder = tmp_path / "application_1525000000000_0001" / "container_1525000000000_0001_01_000007"
        folder.mkdir(parents=True)
        for name, text in PUT_TOGETHER[rule.code].items():
            (folder / name).write_text(text)
        (item,), problems = find_inputs(str(tmp_path))
        assert problems == []
        assert found(rule, load_input(item, signatures=SIGNATURES))


DAMAGES: tuple[Callable[[str], str], ...] = (
    lambda text: text[: len(text) // 2],
    lambda text: text[len(text) // 3 :],
    lambda text: re.sub(r"\d+", "0", text),
    lambda text: re.sub(r"\d+", "99999999999999999999999", text),
    lambda text: re.sub(r"\d+", "1e999", text),
    lambda text: re.sub(r"\d+", "", text),
    lambda text: text.replace("\n", "\r\n").replace(" ", "\x00"),
)


def test_lines_that_are_cut_or_hold_numbers_nobody_can_mean_are_no_reason_to_crash() -> None:
    for text, damaged in zip(quotations(), itertools.cycle(DAMAGES)):
        for ranked in evaluate(run_of_log(damaged(text)), OF_LOGS).findings:
            assert ranked.severity in SEVERITIES
            assert not re.search(r"\b(nan|inf|None)\b", ranked.finding.title), ranked.finding.title
