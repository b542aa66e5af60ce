"""Findings as SARIF 2.1.0, the format of code scanning: a gate shows them at the line of the program."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from emberscope import __version__
from emberscope.report.diagnosis import Diagnosed, all_findings, all_not_evaluated
from emberscope.report.finding_lines import confidence_words
from emberscope.report.spots import Spot
from emberscope.report.text import price
from emberscope.report.visible import visible
from emberscope.rules.catalog import RULES
from emberscope.rules.families import family_of
from emberscope.rules.page import sections
from emberscope.tables.coverage import Coverage, total

if TYPE_CHECKING:
    from emberscope.rules.base import Advice, Rule
    from emberscope.rules.evaluate import Ranked

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS: Final = {"critical": "error", "high": "error", "medium": "warning", "low": "note", "info": "note"}
_ROOT: Final = "SRCROOT"

# How a path of the driver's machine is called in the sources at hand; None where it is not among them.
Locate = Callable[[str], str | None]


def sarif_document(diagnosed: Sequence[Diagnosed], *, locate: Locate = lambda path: None) -> dict[str, Any]:
    """One run of the tool with every rule of the catalogue and every finding of all applications, in their order.

    A finding keeps its fingerprint from one run of an application to the next: it is made of the rule, the
    application's name, the call site and the operator, never of times or ids of jobs.
    """
    findings = all_findings(diagnosed)
    told = {
        id(finding.finding): (item, spot)
        for item in diagnosed
        for finding, spot in zip(item.diagnosis.findings, item.spots, strict=True)
    }
    index = {rule.code: number for number, rule in enumerate(RULES)}
    results, seen = [], Counter[str]()
    for finding in findings:
        item, spot = told[id(finding.finding)]
        key = _identity(finding, spot, item)
        results.append(_result(finding, spot, item, index[finding.rule.code], f"{key}:{seen[key]}", locate))
        seen[key] += 1
    coverage = total(item.run.coverage for item in diagnosed)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Emberscope",
                        "version": __version__,
                        "rules": [_rule(rule) for rule in RULES],
                    }
                },
                "invocations": [
                    {"executionSuccessful": True, "toolExecutionNotifications": _notes(diagnosed, coverage)}
                ],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


@cache
def _help(rule: Rule[Any]) -> Mapping[str, Any]:
    parts = sections(rule)
    return {
        "shortDescription": {"text": rule.headline},
        "fullDescription": {"text": " ".join(parts[0][1].split()) if parts else rule.headline},
        "help": {"text": rule.page, "markdown": f"# {rule.code} {rule.name}\n\n{rule.page}"},
    }


def _rule(rule: Rule[Any]) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        **_help(rule),
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["spark", "performance", family_of(rule)]},
    }


def _result(
    finding: Ranked, spot: Spot, item: Diagnosed, rule_index: int, identity: str, locate: Locate
) -> dict[str, Any]:
    said = finding.finding
    text = f"{said.title}. {price(finding)}{confidence_words(finding)} {said.summary}"
    advice = [visible(_advice(one)) for one in said.advice]
    return {
        "ruleId": finding.rule.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {
            "text": "\n".join([visible(text), *(f"- {line}" for line in advice)]),
        },
        "locations": _locations(finding, spot, item, locate),
        "partialFingerprints": {"emberscope/v1": hashlib.sha256(identity.encode()).hexdigest()[:32]},
        "rank": round(100 * finding.confidence, 1),
        "properties": {
            "app_id": finding.app_id,
            "severity": finding.severity,
            "confidence": round(finding.confidence, 2),
            "wasted_wall_ms": said.wasted_wall_ms,
            "wasted_core_ms": said.wasted_core_ms,
            "saving_basis": said.saving_basis,
            "where": said.where.document(),
            "caused_by": list(finding.caused_by),
        },
    }


def _advice(advice: Advice) -> str:
    if advice.kind == "set":
        return f"{advice.setting}={advice.value}: {advice.text}"
    return f"remove {advice.setting}: {advice.text}" if advice.kind == "unset" else advice.text


def _locations(finding: Ranked, spot: Spot, item: Diagnosed, locate: Locate) -> list[dict[str, Any]]:
    """Where it is in the program's sources, if that is known, and where in what Spark ran."""
    where = finding.finding.where
    steps = [("namespace", item.run.application.app_name or item.run.application.app_id or item.run.path)]
    if where.sql is not None:
        steps.append(("function", f"SQL execution {where.sql}" + (f": {spot.sql}" if spot.sql else "")))
    if where.stage is not None:
        steps.append(("object", f"stage {where.stage}" + (f" ({spot.call_site})" if spot.call_site else "")))
    if spot.operator:
        steps.append(("member", spot.operator))
    names = [visible(" ".join(step.split()).replace("/", "∕")) for _, step in steps]
    logical = [{"name": names[-1], "fullyQualifiedName": "/".join(names), "kind": steps[-1][0]}]
    for what, machine in (("executor", where.executor), ("host", where.host)):
        if machine:
            name = visible(f"{what} {machine}")
            logical.append({"name": name, "fullyQualifiedName": f"{names[0]}/{name}", "kind": "resource"})
    location: dict[str, Any] = {"logicalLocations": logical}
    if spot.path is not None and spot.line is not None:
        location["physicalLocation"] = {
            "artifactLocation": _artifact(spot.path, locate),
            "region": {"startLine": max(1, spot.line)},
        }
    return [location]


def _artifact(path: str, locate: Locate) -> dict[str, Any]:
    """The file below the root of the sources where it is there, else as the driver's machine calls it."""
    here = locate(path)
    if here is not None:
        return {"uri": quote(here), "uriBaseId": _ROOT}
    path = path.removeprefix("file:")
    if path.startswith("/"):
        return {"uri": "file://" + quote("/" + path.lstrip("/"))}
    return {"uri": quote(path.removeprefix("./"), safe="/"), "uriBaseId": _ROOT}


def _notes(diagnosed: Sequence[Diagnosed], coverage: Coverage) -> list[dict[str, Any]]:
    """What was not evaluated and what is missing in the data: no finding is no all-clear there."""
    unasked = [
        {
            "level": "note",
            "message": {"text": f"{answer.code} was not evaluated: it needs {answer.needs}."},
            "associatedRule": {"id": answer.code},
            "descriptor": {"id": "not_evaluated"},
        }
        for answer in all_not_evaluated(diagnosed)
    ]
    lost = [
        {
            "level": "note" if Coverage((note,)).complete else "warning",
            "message": {"text": visible(f"{note.message} ({note.where})" if note.where else note.message)},
            "descriptor": {"id": note.code},
        }
        for note in coverage.notes
    ]
    return [*unasked, *lost]


def _identity(finding: Ranked, spot: Spot, item: Diagnosed) -> str:
    """What stays the same from run to run: where the call site and the operator are not known, the place itself."""
    program = [item.run.application.app_name or "", spot.call_site, spot.operator]
    place = finding.finding.where.document()
    if any(program[1:]):
        place = {name: place[name] for name in ("executor", "host") if name in place and place[name] == "driver"}
    return json.dumps([finding.rule.code, *program, place], sort_keys=True)
