"""Reports of YARN, as ApplicationCLI, NodeCLI (hadoop-yarn-client) and the resource manager's REST interface give them.

The diagnostics are those of the AWS EMR guide's cases and of https://github.com/yahoo/TensorFlowOnSpark/issues/282.
"""

from __future__ import annotations

import json

import pytest

from emberscope.logs.yarn_report import looks_like_yarn_report, read_yarn_report

FAILED = """\
26/11/30 10:50:00 INFO client.RMProxy: Connecting to ResourceManager at rm/10.0.0.1:8032
Application Report :
\tApplication-Id : application_1796000000000_0007
\tApplication-Name : nightly
\tUser : etl
\tQueue : default
\tStart-Time : 1796032800000
\tFinish-Time : 1796035330000
\tState : FAILED
\tFinal-State : FAILED
\tAM Host : 10.0.0.9
\tDiagnostics : Application application_1796000000000_0007 failed 2 times due to AM Container exited with exitCode: 13
Failing this attempt.Diagnostics: [2026-11-30 10:42:10.000]Exception from container-launch.
State : this line belongs to the diagnostics
\tUnmanaged Application : false
"""
UNHEALTHY = """\
Node Report :
\tNode-Id : ip-10-0-0-9.ec2.internal:8041
\tRack : /default-rack
\tNode-State : UNHEALTHY
\tHealth-Report : 1/1 local-dirs usable space is below configured utilization percentage/no more usable space
\tContainers : 0
"""
CONTAINER = """\
Container Report :
\tContainer-Id : container_e05_1796000000000_0007_01_000007
\tStart-Time : 1796032800000
\tFinish-Time : 1796035327000
\tState : COMPLETE
\tHost : ip-10-0-0-9.ec2.internal:8041
\tDiagnostics : Container killed by YARN for exceeding memory limits. 8.2 GB of 8 GB physical memory used.
"""


def test_an_application_that_failed_is_told_with_all_of_its_diagnostics() -> None:
    (said,), coverage = read_yarn_report(FAILED, "report.txt")
    assert said.message == (
        "Application application_1796000000000_0007 ended FAILED: Application application_1796000000000_0007 failed 2 "
        "times due to AM Container exited with exitCode: 13"
    )
    assert "this line belongs to the diagnostics" in said.text
    assert "Unmanaged" not in said.text
    assert (said.time_ms, said.app_id, said.line, said.level) == (
        1_796_035_330_000,
        "application_1796000000000_0007",
        2,
        "ERROR",
    )
    assert coverage.complete


def test_what_ended_well_says_nothing() -> None:
    well = FAILED.replace("State : FAILED", "State : FINISHED").replace(
        "Final-State : FINISHED", "Final-State : SUCCEEDED"
    )
    assert read_yarn_report(well, "r")[0] == []
    assert read_yarn_report(UNHEALTHY.replace("UNHEALTHY", "RUNNING"), "r")[0] == []
    assert read_yarn_report(CONTAINER[: CONTAINER.index("\tDiagnostics")], "r")[0] == []


def test_nodes_and_containers() -> None:
    node, container = read_yarn_report(UNHEALTHY + CONTAINER, "r")[0]
    assert node.message.startswith("Node ip-10-0-0-9.ec2.internal is UNHEALTHY: 1/1 local-dirs")
    assert (node.role, node.host, node.level) == ("node", "ip-10-0-0-9.ec2.internal", "ERROR")
    assert "8.2 GB of 8 GB physical memory used" in container.message
    assert (container.role, container.time_ms, container.app_id) == (
        "executor",
        1_796_035_327_000,
        "application_1796000000000_0007",
    )


def test_the_same_as_json() -> None:
    app = {"id": "application_1_2", "state": "KILLED", "finalStatus": "KILLED", "diagnostics": "killed by user etl"}
    for document in ({"app": app}, {"apps": {"app": [app, {**app, "state": "FINISHED", "finalStatus": "SUCCEEDED"}]}}):
        text = json.dumps(document, indent=1)
        assert looks_like_yarn_report(text.encode())
        (said,), _ = read_yarn_report(text, "r")
        assert said.message == "Application application_1_2 ended KILLED: killed by user etl"
    assert not read_yarn_report(json.dumps({"app": app})[:-9], "r")[1].complete


@pytest.mark.parametrize("text", [FAILED, UNHEALTHY, CONTAINER])
def test_every_cut_of_it_is_read(text: str) -> None:
    assert looks_like_yarn_report(text.encode())
    for end in range(0, len(text), 11):
        read_yarn_report(text[:end], "r")


def test_a_log_is_no_report() -> None:
    assert not looks_like_yarn_report(
        b"26/11/30 10:50:00 INFO Client: Application report for application_1_2 (state: X)"
    )
