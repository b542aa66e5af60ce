"""The families of rules: the folders that they lie in, in the order in which lists have them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from emberscope.rules.base import Rule

FAMILIES: Final = {
    "time": "Time and cores",
    "skew": "Skew and slow machines",
    "executors": "Executors and lost work",
    "failures": "Failures that logs tell",
    "emr": "Cases of managed clusters",
    "profilers": "Troubles of profilers",
    "memory": "Memory",
    "shuffle": "Shuffle",
    "storage": "Files and tables",
    "plan": "SQL plans and functions",
    "cache": "Cached data",
    "stacks": "Hot code",
    "conf": "Settings",
    "sizing": "Shapes of executors",
    "streaming": "Structured streaming",
    "complaints": "Complaints in plain words",
}
_MOST_NEAREST: Final = 3


def family_of(rule: Rule[Any]) -> str:
    """The folder that the rule lies in."""
    return rule.check.__module__.split(".")[2]


def by_family(rules: Sequence[Rule[Any]]) -> list[tuple[str, list[Rule[Any]]]]:
    """Title and rules of each family that has some; within it in the order of the catalogue."""
    groups: dict[str, list[Rule[Any]]] = {family: [] for family in FAMILIES}
    for rule in rules:
        groups.setdefault(family_of(rule), []).append(rule)
    return [(FAMILIES.get(family, family.capitalize()), group) for family, group in groups.items() if group]


def nearest(word: str, rules: Sequence[Rule[Any]]) -> list[Rule[Any]]:
    """The rules whose code or name is most like a word that is neither: names that hold it, then look-alikes."""
    word = word.strip().lower()
    inside = [rule for rule in rules if len(word) > 2 and word in rule.name]
    names = {name: rule for rule in rules for name in (rule.name, rule.code.lower())}
    alike = [names[name] for name in get_close_matches(word, names, n=_MOST_NEAREST, cutoff=0.5)]
    return list({rule.code: rule for rule in (*inside, *alike)}.values())[:_MOST_NEAREST]
