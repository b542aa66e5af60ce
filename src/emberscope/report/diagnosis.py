"""The answer as data: one run with its waterfall and findings, and the JSON document of `diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from emberscope.report.chain import Link, chain
from emberscope.report.hot_code import HotCode, hot_code
from emberscope.report.outcome import is_told, outcome
from emberscope.report.spots import Spot, spots
from emberscope.report.waterfall import Part, waterfall
from emberscope.rules.evaluate import Diagnosis, NotEvaluated, Ranked, evaluate, ranked_together
from emberscope.sources.join import join
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.tuning.patch import Patch
from emberscope.tuning.resolve import resolved

if TYPE_CHECKING:
    from emberscope.sources.load import Input as Item
    from emberscope.tables.run import Run

SCHEMA = "emberscope.diagnose/1"

_MOST_CODES = 20


class Input(Struct, frozen=True):
    """One input as the command line was given it; `kind` is None where it could not be told."""

    path: str
    kind: str | None
    coverage: Coverage

    def document(self) -> dict[str, Any]:
        return {"path": self.path, "kind": self.kind, "coverage": self.coverage.document()}


class Diagnosed(Struct, frozen=True):
    """A run with the answers to "where did the time go" and "what is wrong".

    The run may be without its tables. `outcome` is what happened in a sentence, `hot` what is hot in the code where
    there is no waterfall, `spots` the place of each finding in the user's program. `patch` is what the findings advise,
    as one change of settings; advice that it cannot follow is a remark in its finding. `chain` is how it came to the
    end, where something died. `only_told` is whether there is nothing but words: logs, reports, a question.
    """

    run: Run
    diagnosis: Diagnosis
    waterfall: tuple[Part, ...]
    outcome: str = ""
    hot: HotCode | None = None
    spots: tuple[Spot, ...] = ()
    patch: Patch = Patch(None)
    chain: tuple[Link, ...] = ()
    only_told: bool = False


def diagnose(run: Run) -> Diagnosed:
    diagnosis = evaluate(run)
    findings, patch = resolved(diagnosis.findings, run)
    diagnosis = structs.replace(diagnosis, findings=findings)
    item = Diagnosed(run, diagnosis, waterfall(run), spots=spots(run, findings), patch=patch)
    item = structs.replace(item, chain=chain(run, findings), only_told=is_told(run))
    return structs.replace(item, outcome=outcome(item), hot=None if item.waterfall else hot_code(run))


def diagnose_one(item: Item, run: Run) -> Run | Diagnosed:
    """One of many inputs diagnosed, without its tables; else the run, which may be joined with another."""
    if not item.of_many:
        return run
    done = diagnose(run)
    return structs.replace(done, run=replace(run, tables={}))


def run_of(found: Run | Diagnosed) -> Run:
    """The run of what `diagnose_one` gave."""
    return found.run if isinstance(found, Diagnosed) else found


def diagnose_each(found: Sequence[Run | Diagnosed]) -> list[Diagnosed]:
    """All of what `diagnose_one` gave, in its order; an event log and its recording are one, copies of a log too."""
    together = {run.path: run for run in join([run for run in found if not isinstance(run, Diagnosed)])}
    done = [
        one if isinstance(one, Diagnosed) else diagnose(together[one.path])
        for one in found
        if isinstance(one, Diagnosed) or one.path in together
    ]
    return _without_copies(done)


def _without_copies(done: Sequence[Diagnosed]) -> list[Diagnosed]:
    """Of event logs that say the same of one application the first, which then tells of the others."""
    kept: list[Diagnosed] = []
    firsts: dict[tuple[str | None, str | None], list[int]] = {}
    for one in done:
        application = one.run.application
        places = firsts.setdefault((application.app_id, application.attempt), [])
        first = next((place for place in places if _is_copy(one.run, kept[place].run)), None)
        if first is None:
            places.append(len(kept))
            kept.append(one)
            continue
        run = kept[first].run
        note = Note("duplicate_part", f"It says the same as {run.path}, and counts once.", one.run.path)
        kept[first] = structs.replace(kept[first], run=replace(run, coverage=Coverage((*run.coverage.notes, note))))
    return kept


def _is_copy(run: Run, other: Run) -> bool:
    recorded = run.recordings or other.recordings
    return run.application.app_id is not None and run.application == other.application and not recorded


def diagnose_document(diagnosed: Sequence[Diagnosed], inputs: Sequence[Input] = ()) -> dict[str, Any]:
    """The document that `diagnose --json` prints and `findings.json` holds. Findings of all applications together are
    ranked; the indices of `caused_by` point into that list."""
    coverage = total([*(item.run.coverage for item in diagnosed), *(item.coverage for item in inputs)])
    return {
        "schema": SCHEMA,
        "inputs": [item.document() for item in inputs],
        "apps": [
            {
                "app_id": item.run.application.app_id,
                "app_name": item.run.application.app_name,
                "duration_ms": item.run.application.observed_ms,
                "waterfall": [part.document() for part in item.waterfall],
            }
            for item in diagnosed
        ],
        "findings": [finding.document() for finding in all_findings(diagnosed)],
        "patches": [item.patch.document() for item in diagnosed],
        "chains": _chains(diagnosed),
        "not_evaluated": [{"code": item.code, "needs": item.needs} for item in all_not_evaluated(diagnosed)],
        "coverage": coverage.document(),
    }


def _chains(diagnosed: Sequence[Diagnosed]) -> list[dict[str, Any]]:
    """Of each application in which something died, how it came to that; `finding` is an index into all findings."""
    every = all_findings(diagnosed)
    told = []
    for item in diagnosed:
        if item.chain:
            own = {
                number: next(place for place, one in enumerate(every) if one.finding is finding.finding)
                for number, finding in enumerate(item.diagnosis.findings, 1)
            }
            steps = [link.document() | {"finding": own.get(link.number or 0)} for link in item.chain]
            told.append({"app_id": item.run.application.app_id, "steps": steps})
    return told


def all_findings(diagnosed: Sequence[Diagnosed]) -> tuple[Ranked, ...]:
    """The findings of all applications, ranked together."""
    return ranked_together([item.diagnosis.findings for item in diagnosed])


def all_not_evaluated(diagnosed: Sequence[Diagnosed]) -> tuple[NotEvaluated, ...]:
    """What could not be asked of any of them, each answer once."""
    return tuple(dict.fromkeys(answer for item in diagnosed for answer in item.diagnosis.not_evaluated))


def not_evaluated_sentences(answers: Sequence[NotEvaluated]) -> list[str]:
    """What could not be asked, in words: one sentence for each reason, with the rules that have it."""
    by_reason: dict[str, list[str]] = {}
    for answer in answers:
        by_reason.setdefault(answer.reason, []).append(answer.code)
    return [f"Not evaluated: {_named(codes)} {reason}." for reason, codes in by_reason.items()]


def _named(codes: Sequence[str]) -> str:
    if len(codes) == 1:
        return f"{codes[0]} needs"
    more = f" and {len(codes) - _MOST_CODES} others" if len(codes) > _MOST_CODES + 1 else ""
    return f"{', '.join(codes[:_MOST_CODES] if more else codes)}{more} need"


def no_finding(diagnosed: Sequence[Diagnosed]) -> str:
    """What there is to say where there is no finding: that rules were asked in vain, or that none could be asked."""
    if not any(item.diagnosis.asked for item in diagnosed):
        return "No finding, but this is no all-clear: none of the rules could be evaluated."
    return "No finding: none of the rules that could be evaluated found anything to save."
