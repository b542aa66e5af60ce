import json

import pytest

from emberscope.cli.main import exit_code
from emberscope.rules.catalog import RULES
from emberscope.rules.families import by_family


def test_the_list_has_every_rule_under_its_family(capsys):
    assert exit_code(["explain"]) == 0
    blocks = capsys.readouterr().out.strip().split("\n\n")
    told = {block.partition("\n")[0]: block.splitlines()[1:] for block in blocks}
    assert list(told) == [title for title, _ in by_family(RULES)]
    for title, group in by_family(RULES):
        assert [line.split(maxsplit=1) for line in told[title]] == [[rule.code, rule.headline] for rule in group]


def test_a_typo_is_answered_by_the_nearest_names(capsys):
    assert exit_code(["explain", "skewd-stage"]) == 2
    assert "B1 skewed-stage" in capsys.readouterr().err


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_page_is_found_by_code_or_name(rule, capsys):
    pages = set()
    for word in (rule.code, rule.code.lower(), rule.name):
        assert exit_code(["explain", word]) == 0
        pages.add(capsys.readouterr().out)
    assert pages == {f"{rule.code}: {rule.page}\n"}


def test_json_lists_the_pages(capsys):
    assert exit_code(["explain", "--json"]) == 0
    assert [rule["code"] for rule in json.loads(capsys.readouterr().out)["rules"]] == [rule.code for rule in RULES]
