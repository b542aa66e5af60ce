from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from emberscope.report.finding_tree import branches
from emberscope.rules.evaluate import Ranked
from tests.report.told import three


def ranked(*caused_by: tuple[int, ...]) -> list[Ranked]:
    """Findings with these causes."""
    first = three().diagnosis.findings[0]
    return [structs.replace(first, caused_by=causes) for causes in caused_by]


def test_what_follows_stands_under_the_first_of_its_causes() -> None:
    found = branches(ranked((), (0,), (), (1, 2), (2,)))
    assert [(branch.number, [number for number, _ in branch.consequences]) for branch in found] == [
        (1, [2, 4]),
        (3, [5]),
    ]


@given(st.integers(0, 12).flatmap(lambda n: st.tuples(*(st.sets(st.integers(0, max(0, i - 1))) for i in range(n)))))
def test_prop_every_finding_stands_in_it_once(causes: tuple[set[int], ...]) -> None:
    findings = ranked(*(tuple(sorted(one)) if i else () for i, one in enumerate(causes)))
    numbers = [n for b in branches(findings) for n in (b.number, *(number for number, _ in b.consequences))]
    assert sorted(numbers) == list(range(1, len(findings) + 1))


def test_it_is_a_hint_where_nothing_in_it_is_worth_more() -> None:
    low, info = (structs.replace(one, severity=s) for one, s in zip(ranked((), (0,)), ("low", "info"), strict=True))
    assert not branches([low])[0].is_hint
    assert branches([structs.replace(low, severity="info"), info])[0].is_hint
    assert not branches([structs.replace(info, caused_by=()), structs.replace(low, caused_by=(0,))])[0].is_hint
