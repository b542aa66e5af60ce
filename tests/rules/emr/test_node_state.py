from __future__ import annotations

from emberscope.logs.instance_state import log_events, read_instance_state
from emberscope.rules.emr.lost_node import RULE as LOST_NODE
from emberscope.rules.emr.node_state import RULE as NODE_STATE
from emberscope.rules.emr.vcores_over import RULE as VCORES_OVER
from emberscope.tables.coverage import Coverage
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Application, Run
from tests.logs.test_instance_state import FULL, HEALTHY, PATH
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import executor, found, run_of

LOST = {
    "count": 1,
    "level": "ERROR",
    "message": "Container marked as failed: container_1_01_000007 on host: ip-10-0-0-7. Exit status: -100. "
    "Diagnostics: "
    "Container released on a *lost* node",  # AWS EMR guide, 5.2.6
    "signatures": ["emr_lost_node"],
    "fields": "{}",
    "file": "driver.log",
    "line": 3,
    "role": "driver",
}
SEEN_MS = 1_661_177_662_000


def run_with(state: str, *more: dict[str, object]) -> Run:
    rows = [*log_events(read_instance_state(state, PATH), PATH), *more]
    table = LOG_EVENTS.from_rows([{**row, "event_id": number} for number, row in enumerate(rows)])
    return Run("node", Application(), {"log_events": table}, Coverage())


def test_a_full_disk_a_busy_log_pusher_and_a_high_load_are_three_findings() -> None:
    titles = [finding.title for finding in found(NODE_STATE, run_with(FULL))]
    assert titles == [
        "Disk /mnt of node ip-10-0-0-7 is 97 % full",
        "The log pusher takes 99.7 % CPU of a node",
        "Load of 41.10 on a node of 8 cores (ip-10-0-0-7)",
    ]


def test_executors_with_more_cores_than_the_node_has() -> None:
    run = run_with(HEALTHY)
    tables = run_of(
        executors=[{**executor(str(number), 3), "host": "ip-10-0-0-7.ec2.internal"} for number in range(45)]
    ).tables
    run = Run("node", Application(), {**run.tables, "executors": tables["executors"]}, Coverage())
    (finding,) = found(VCORES_OVER, run)
    assert finding.title == "Executors have 135 cores on node ip-10-0-0-7, which has 8"
    assert found(VCORES_OVER, run_with(HEALTHY)) == []


def test_a_log_pusher_in_plain_words() -> None:
    (finding,) = found(NODE_STATE, run_of_words("The logpusher of a node takes all CPU.", rules=[NODE_STATE]))
    assert "log pusher" in finding.title


def test_a_healthy_node_is_none() -> None:
    assert found(NODE_STATE, run_with(HEALTHY)) == []


def test_disks_that_yarn_has_taken_out_of_use() -> None:
    # Hadoop, DirectoryCollection and LocalDirsHandlerService
    line = (
        "22/08/22 14:14:24 ERROR LocalDirsHandlerService: Most of the disks failed. 1/1 local-dirs usable space is "
        "below configured utilization percentage/no more usable space [ /mnt/yarn : used space above threshold of "
        "90.0% ] ; "
    )
    (finding,) = found(NODE_STATE, run_of_log(line, rules=[NODE_STATE]))
    assert finding.title == "Disk /mnt/yarn is out of use for YARN"
    (bad,) = found(NODE_STATE, run_of_log("1/2 local-dirs are bad: /mnt1/yarn; 1/1 log-dirs", rules=[NODE_STATE]))
    assert "/mnt1/yarn" in bad.title


def test_a_lost_node_whose_disk_was_full_before() -> None:
    (finding,) = found(LOST_NODE, run_with(FULL, {**LOST, "time_ms": SEEN_MS + 600_000}))
    assert "its disk was full" in finding.title
    assert "-100" in finding.title
    assert any("/mnt" in evidence.text for evidence in finding.evidence)


def test_a_lost_node_that_was_in_order_was_taken() -> None:
    (finding,) = found(LOST_NODE, run_with(HEALTHY, {**LOST, "time_ms": SEEN_MS + 600_000}))
    assert "in order before" in finding.title
    assert any("Spot" in advice.text for advice in finding.advice)


def test_a_state_from_another_time_says_nothing() -> None:
    assert found(LOST_NODE, run_with(FULL, {**LOST, "time_ms": SEEN_MS + 7_200_000})) == []
    assert found(LOST_NODE, run_of_log(str(LOST["message"]), rules=[LOST_NODE])) == []


def test_the_state_of_another_node_says_nothing() -> None:
    other = {**LOST, "time_ms": SEEN_MS + 600_000, "fields": '{"emr_lost_node": {"host": "ip-10-0-0-8.ec2.internal"}}'}
    assert found(LOST_NODE, run_with(FULL, other)) == []
    same = {**other, "fields": '{"emr_lost_node": {"host": "ip-10-0-0-7.ec2.internal"}}'}
    (finding,) = found(LOST_NODE, run_with(FULL, same))
    assert finding.title.startswith("Node ip-10-0-0-7.ec2.internal was lost")
