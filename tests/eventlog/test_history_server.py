"""Our tables are what Spark's History Server says, letter by letter. For any log: `benchmarks/eventlogs_rest.py`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.eventlog.logs import EVENTFUL, RETRIED

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "eventlogs_rest.py"


@pytest.mark.spark
def test_two_real_logs_equal_the_history_server() -> None:
    command = [sys.executable, str(SCRIPT), str(EVENTFUL), str(RETRIED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(r"^  ([a-z, ]+): ([\d,]+) equal, (\d+) different$", done.stdout, re.MULTILINE)
    assert {what for what, _, _ in counts} >= {"stages", "jobs", "executors", "sql", "sql metrics", "storage"}
    assert all(equal != "0" and different == "0" for what, equal, different in counts)
    # The second log has a stage with two attempts, of which the server forgets the first.
    assert re.search(r"^  repeated: \d+$", done.stdout, re.MULTILINE)
    assert "unexplained" not in done.stdout
