import pytest

from emberscope.tables.coverage import Coverage, Note, total

CUT = Note("cut", "the last line is cut", "log", {"lines": 1})
REDACTED = Note("redacted", "2 secrets replaced")


def test_nothing_noted_is_complete() -> None:
    assert Coverage().complete
    assert Coverage().document() == {"complete": True, "notes": []}


def test_redaction_is_no_loss_but_a_cut_is() -> None:
    assert Coverage((REDACTED,)).complete
    assert not Coverage((REDACTED, CUT)).complete


def test_a_sampling_that_lost_something_is_a_loss() -> None:
    assert not Coverage((Note("sampled", "one executor in ten", "", {"seconds": 9}),)).complete


def test_coverages_add_without_repeating() -> None:
    assert total([Coverage((CUT,)), Coverage((CUT, REDACTED))]).notes == (CUT, REDACTED)


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(ValueError, match="not a coverage code"):
        Note("gone", "what?")


def test_the_document_has_the_contracts_keys() -> None:
    assert Coverage((CUT,)).document() == {
        "complete": False,
        "notes": [{"code": "cut", "message": "the last line is cut", "where": "log", "lost": {"lines": 1}}],
    }
