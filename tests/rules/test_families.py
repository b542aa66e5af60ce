from __future__ import annotations

import importlib
import pkgutil

import pytest

import emberscope.rules
from emberscope.rules.base import Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.families import FAMILIES, by_family, family_of, nearest


def test_every_rule_lies_in_a_family_that_has_a_title() -> None:
    assert {family_of(rule) for rule in RULES} <= set(FAMILIES)


def test_every_rule_that_is_written_is_in_the_catalogue() -> None:
    # Two lists that are merged by hand lose lines: a rule that is not in the catalogue never answers.
    modules = pkgutil.walk_packages(emberscope.rules.__path__, "emberscope.rules.")
    made = [getattr(importlib.import_module(module.name), "RULE", None) for module in modules]
    codes = [rule.code for rule in made if isinstance(rule, Rule)]
    assert sorted(codes) == sorted(rule.code for rule in RULES)


def test_lists_by_family_have_every_rule_once() -> None:
    assert sorted(rule.code for _, group in by_family(RULES) for rule in group) == sorted(r.code for r in RULES)


@pytest.mark.parametrize(
    ("word", "code"), [("skewd-stage", "B1"), ("skew", "B1"), ("idle", "A2"), ("gc-presure", "C1"), ("SPILLS", "C3")]
)
def test_a_typo_finds_the_rule_that_was_meant(word: str, code: str) -> None:
    assert nearest(word, RULES)[0].code == code


def test_nothing_is_like_nonsense() -> None:
    assert nearest("qqqqqqqqqqqq", RULES) == []
