"""What adaptive execution changed of a plan: the plan before the run, out of Spark's text, and the changes in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from emberscope.report.plan_figures import Metric
from emberscope.report.plan_tree import Operator, Plan
from emberscope.report.plan_words import base_name, is_join, join_keys, telling
from emberscope.report.visible import visible
from emberscope.units import counted, format_count

_INITIAL: Final = "== Initial Plan =="
_SUBQUERIES: Final = "===== Subqueries"
_LINE: Final = re.compile(r"^(?P<indent>(?:[ :]{3})*(?:[+:]- )?)(?P<code>\*(?:\(\d+\))? )?(?P<words>\S.*)$")
_NUMBERED: Final = re.compile(r"^(?P<name>.*) \((?P<number>\d+)\)(?:, .*)?$")
_SECTION: Final = re.compile(r"^\((\d+)\) ")
_FIELD: Final = re.compile(r"^([A-Z][\w ]*?)(?: \[\d+\])? ?: (.*)$")
_MARKS: Final = ("AdaptiveSparkPlan", "WholeStageCodegen", "InputAdapter")
_EMPTY: Final = ("EmptyRelation", "LocalTableScan <empty>")
_READERS: Final = ("AQEShuffleRead", "CustomShuffleReader", "GpuCustomShuffleReader")


def initial_plan(text: str | None) -> Plan | None:
    """The plan as it was before the run, as the text of an adaptive plan has it; None where it has none."""
    main = visible((text or "").partition(_SUBQUERIES)[0])
    before, found, after = main.partition(_INITIAL)
    if not found:
        return None
    base = len(before) - (before.rfind("\n") + 1)
    sections = _sections(after)
    operators: list[Operator] = []
    places: dict[int, int] = {}  # by depth, where the last operator of that depth stands
    for line in after.split("\n")[1:]:
        match = _LINE.match(line)
        if match is None or len(match["indent"]) < max(1, base - 3):
            break
        depth = len(match["indent"]) // 3
        numbered = _NUMBERED.match(match["words"])
        name = (numbered["name"] if numbered else match["words"]).strip()
        detail = _detail(name, sections.get(int(numbered["number"]), {})) if numbered else name
        if not numbered:
            name = name.partition(" ")[0].partition("(")[0]
        if is_join(name):
            name = name.partition(" ")[0]  # what follows is in the detail too
        parent = max((d for d in places if d < depth), default=None)
        if name.startswith(_MARKS):
            continue
        operators.append(Operator(len(operators), None if parent is None else places[parent], name, detail))
        places = {d: place for d, place in places.items() if d < depth} | {depth: len(operators) - 1}
    return Plan(tuple(operators), (), len(operators)) if operators else None


def _sections(text: str) -> dict[int, dict[str, str]]:
    """What the text says of each operator by its number."""
    found: dict[int, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        section = _SECTION.match(line)
        if section:
            fields = found.setdefault(int(section[1]), {})
        elif match := _FIELD.match(line):
            fields[match[1].strip()] = match[2]
    return found


def _detail(name: str, fields: Mapping[str, str]) -> str:
    """The operator in one line, in the way of Spark's other lists."""
    if "Left keys" in fields:
        right, how = fields.get("Right keys", ""), fields.get("Join type", "")
        return f"{name.partition(' ')[0]} {fields['Left keys']}, {right}, {how}"
    if "Keys" in fields:
        return f"{name}(keys={fields['Keys']}, functions={fields.get('Functions', '[]')})"
    if "Location" in fields:
        return f"{name} {fields.get('Output', '')} Location: {fields['Location']}"
    said = fields.get("Arguments") or fields.get("Condition") or (fields.get("Output") if "Project" in name else None)
    if not said:
        return name
    return said if said.startswith(name) else f"{name} {said}"


def changes(final: Plan, initial: Plan | None) -> list[str]:
    """What adaptive execution did, one sentence for each change."""
    said = [*_joins(final, initial)] if initial else []
    empty = _empty_parts(final) - (_empty_parts(initial) if initial else 0)
    if empty > 0:
        what = "a part" if empty == 1 else f"{empty} parts"
        said.append(f"What came out of {what} of the plan had no rows, so that the rest of it was not run")
    said.extend(_reads(final))
    return [f"{what} ({times} times)" if times > 1 else what for what, times in Counter(said).items()]


def _empty_parts(plan: Plan) -> int:
    """Operators that stand for an empty result, of those within one another the outermost."""
    within: list[bool] = []
    count = 0
    for operator in plan.operators:
        above = operator.parent is not None and within[operator.parent]
        is_empty = operator.detail.startswith(_EMPTY) or operator.name.startswith(_EMPTY)
        count += is_empty and not above
        within.append(is_empty or above)
    return count


def _joins(final: Plan, initial: Plan) -> Iterator[str]:
    before, after = _joins_by_keys(initial), _joins_by_keys(final)
    for keys, names in before.items():
        now = after.get(keys, Counter())
        gone, come = list((names - now).elements()), list((now - names).elements())
        where = f" by {keys[0]}" if keys[0] == keys[1] else f" by {keys[0]} = {keys[1]}"
        for old, new in zip(gone, come, strict=False):
            yield f"{old}{where} became {new}"
        for old in gone[len(come) :]:
            if not now:
                yield f"{old}{where} was not needed"
    for operator in final.operators:
        if "skew=true" in operator.name:
            what = f"{base_name(operator.name)} {telling(operator.name, operator.detail)}"
            yield f"{what}: its skewed partitions were split"


def _joins_by_keys(plan: Plan) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for operator in plan.operators:
        keys = join_keys(operator.detail) if is_join(operator.name) else None
        if keys:
            found.setdefault(keys, Counter())[base_name(operator.name)] += 1
    return found


def _reads(final: Plan) -> Iterator[str]:
    """How shuffles were read otherwise than they were written."""
    under: dict[int, Operator] = {}
    for operator in final.operators:
        if operator.parent is not None:
            under.setdefault(operator.parent, operator)
    for place, operator in enumerate(final.operators):
        if not operator.name.startswith(_READERS):
            continue
        written = under.get(place)
        known = {metric.plain_name: metric for metric in operator.metrics}
        by = telling(written.name, written.detail).rpartition(", into ")[0] if written else ""
        where = f"Shuffle {by}" if by else "A shuffle"
        yield from (f"{where}: {what}" for what in _read(operator, known, written))


def _read(operator: Operator, known: Mapping[str, Metric], written: Operator | None) -> Iterator[str]:
    read, wrote = operator.figures.partitions, _partitions(written)
    skewed, splits = _value(known, "number of skewed partitions"), _value(known, "number of skewed partition splits")
    if "local" in operator.detail:
        yield "each part read where it was written, as the join needs no shuffle any more"
    elif read is not None and wrote is not None and read != wrote:
        verb = "joined" if read < wrote else "split"
        yield f"{format_count(wrote)} partitions {verb} into {format_count(read)}"
    elif read is None and "coalesced" in operator.detail:
        yield "small partitions joined"
    if skewed:
        yield f"{counted(skewed, 'skewed partition')} split into {format_count(splits or 0)}"


def _partitions(written: Operator | None) -> int | None:
    """How many partitions a shuffle wrote: as counted, or before Spark 3.2 as planned."""
    if written is None or written.figures.partitions is not None:
        return written.figures.partitions if written else None
    planned = telling(written.name, written.detail).rpartition(", into ")[2]
    return int(planned) if planned.isdecimal() else None


def _value(known: Mapping[str, Metric], name: str) -> int | None:
    metric = known.get(name)
    return metric.value if metric else None


def changes_words(updates: int, said: Sequence[str]) -> str:
    """The line before the changes."""
    times = "once" if updates == 1 else f"{format_count(updates)} times"
    return f"Adaptive execution updated the plan {times}" + (
        ":" if said else "; joins and partitions stayed as planned."
    )
