"""Findings as JUnit XML, which every build server shows: a test case for each rule, a suite for each application."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from emberscope.report.finding_lines import confidence_words
from emberscope.report.text import price
from emberscope.report.visible import visible
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import SEVERITIES
from emberscope.rules.families import family_of

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.rules.evaluate import Ranked

# What XML 1.0 cannot hold and `visible` leaves alone.
_NOT_XML: Final = re.compile("[\ufffe\uffff]")


def junit_xml(diagnosed: Sequence[Diagnosed], fail_on: str | None) -> str:
    """A rule fails by its findings that are at least `fail_on` severe; without a limit none does, and what was found
    is in the case's output. A rule that could not be evaluated is skipped, with the reason."""
    root = ElementTree.Element("testsuites", name="emberscope")
    counts = [_suite(root, item, fail_on) for item in diagnosed]
    for name, column in zip(("tests", "failures", "skipped"), zip(*counts, strict=True), strict=False):
        root.set(name, str(sum(column)))
    root.set("errors", "0")
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _suite(root: ElementTree.Element, item: Diagnosed, fail_on: str | None) -> tuple[int, int, int]:
    """The cases of one application; how many there are, how many fail and how many are skipped."""
    application = item.run.application
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=_text(application.app_name or application.app_id or item.run.path),
        time=f"{(application.observed_ms or 0) / 1000:.3f}",
    )
    facts = {"app_id": application.app_id, "input": item.run.path, "outcome": item.outcome}
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in facts.items():
        ElementTree.SubElement(properties, "property", name=name, value=_text(value or ""))
    unasked = {answer.code: answer.needs for answer in item.diagnosis.not_evaluated}
    failures = 0
    for rule in RULES:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"emberscope.{family_of(rule)}", name=f"{rule.code} {rule.name}", time="0"
        )
        if rule.code in unasked:
            ElementTree.SubElement(case, "skipped", message=_text(f"not evaluated: needs {unasked[rule.code]}"))
            continue
        found = [one for one in item.diagnosis.findings if one.rule.code == rule.code]
        failing = [one for one in found if _fails(one, fail_on)]
        if failing:
            failures += 1
            title = failing[0].finding.title + (f" and {len(failing) - 1} more" if len(failing) > 1 else "")
            failure = ElementTree.SubElement(case, "failure", message=_text(title), type=failing[0].severity)
            failure.text = _text("\n\n".join(map(_words, failing)))
        if others := [one for one in found if one not in failing]:
            ElementTree.SubElement(case, "system-out").text = _text("\n\n".join(map(_words, others)))
    for name, count in (("tests", len(RULES)), ("failures", failures), ("errors", 0), ("skipped", len(unasked))):
        suite.set(name, str(count))
    return len(RULES), failures, len(unasked)


def _fails(finding: Ranked, fail_on: str | None) -> bool:
    return fail_on is not None and SEVERITIES.index(finding.severity) <= SEVERITIES.index(fail_on)


def _words(finding: Ranked) -> str:
    """One finding with proof and fix."""
    said = finding.finding
    lines = [
        f"{said.title} [{finding.severity}]",
        f"{price(finding)}{confidence_words(finding)}",
        said.summary,
        *(f"- {evidence.text} ({evidence.place})" for evidence in said.evidence),
    ]
    for advice in said.advice:
        setting = f"{advice.setting}={advice.value}: " if advice.kind == "set" else ""
        lines.append(f"> {'remove ' + str(advice.setting) + ': ' if advice.kind == 'unset' else setting}{advice.text}")
    return "\n".join(lines)


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", visible(text))
