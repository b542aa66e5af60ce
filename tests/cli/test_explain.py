import json

import pytest

from emberscope.cli.main import exit_code
from emberscope.rules.catalog import RULES


def test_the_list_has_every_rule(capsys):
    assert exit_code(["explain"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{rule.code}  {rule.headline}" for rule in RULES]


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
