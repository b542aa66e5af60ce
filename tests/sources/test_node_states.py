from __future__ import annotations

import gzip
from pathlib import Path

from emberscope.rules.emr.lost_node import RULE as LOST_NODE
from emberscope.rules.emr.node_state import RULE
from emberscope.sources.kind import kind_of
from emberscope.sources.load import find_inputs, load_input
from emberscope.sources.log_groups import application_of
from emberscope.sources.logs import load_log
from tests.logs.test_instance_state import FULL
from tests.runs import found

CLEAR = "java -cp /emr/logpusher/lib/* Push"


def state(tmp_path: Path, text: str = FULL) -> str:
    folder = tmp_path / "node" / "i-0abc12345" / "daemons" / "instance-state"
    folder.mkdir(parents=True)
    path = folder / "instance-state.log-2022-08-22-14-15.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return str(path)


def test_the_state_of_a_node_is_a_log(tmp_path: Path) -> None:
    path = state(tmp_path)
    assert kind_of(path) == "container_log"
    titles = [finding.title for finding in found(RULE, load_log(path))]
    assert titles[0] == "Disk /mnt of node ip-10-0-0-7 is 97 % full"
    assert len(titles) == 3


def test_it_is_no_log_of_an_application_that_a_process_names(tmp_path: Path) -> None:
    path = state(tmp_path, FULL.replace(CLEAR, f"{CLEAR} application_1600000000000_0001"))
    assert application_of(path) is None


def test_secrets_of_commands_are_taken_out(tmp_path: Path) -> None:
    path = state(tmp_path, FULL.replace(CLEAR, f"{CLEAR} --conf spark.my.password=geheim123"))
    table = load_log(path).tables["log_events"]
    assert "geheim123" not in str(table.to_pylist())


def test_a_lost_node_in_the_folders_of_a_cluster(tmp_path: Path) -> None:
    """EMR's layout of its log bucket: containers of the application, and the state of each node."""
    state(tmp_path)
    driver = tmp_path / "containers" / "application_1661000000000_0001" / "container_1661000000000_0001_01_000001"
    driver.mkdir(parents=True)
    (driver / "stderr").write_text(
        "22/08/22 14:10:00 INFO ApplicationMaster: Preparing Local resources\n"
        "22/08/22 14:24:24 WARN YarnAllocator: Container from a bad node: container_1661000000000_0001_01_000007 on "
        "host: "
        "ip-10-0-0-7.ec2.internal. Exit status: -100. Diagnostics: Container released on a *lost* node.\n"
    )
    (item,) = find_inputs(str(tmp_path))[0]
    run = load_input(item, signatures=[*LOST_NODE.signatures, *RULE.signatures])
    (finding,) = found(LOST_NODE, run)
    assert finding.title == "Node ip-10-0-0-7.ec2.internal was lost (exit status -100): its disk was full"
