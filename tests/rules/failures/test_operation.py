from __future__ import annotations

import pytest

from emberscope.rules.failures.operation import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# Hadoop's container manager; RMAppImpl and ClientRMService of Hadoop; MySQL.
CLOCK = (
    "22/01/01 00:00:00 ERROR ApplicationMaster: Unauthorized request to start container.\nThis token is expired. "
    "current time is 1424969604829 found 1424940604829\nNote: System times on machines may be out of sync. Check "
    "system time and time zones."
)
KILLED = (
    "22/01/01 00:00:00 INFO Client: diagnostics: Application application_1_0001 was killed by user hadoop at 10.0.0.1"
)
ACCOUNT = (
    "22/01/01 00:00:00 ERROR Job: java.sql.SQLException: Access denied for user 'spark'@'10.0.0.5' (using password: "
    "YES)"
)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (CLOCK, "Clocks of machines disagree by 29,000 s or more"),
        (KILLED, "The application was killed by hadoop, not by a failure of its own"),
        (ACCOUNT, "The database refuses the account spark from 10.0.0.5"),
    ],
)
def test_what_it_was(text: str, title: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title == title


def test_healthy_lines() -> None:
    assert found(RULE, run_of_log("22/01/01 00:00:00 INFO Executor: Executor killed task 3.1 in stage 2.0")) == []
