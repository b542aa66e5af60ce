"""What is handed on holds no secret and no name, and can be read as what it was."""

from __future__ import annotations

import json

import pytest

from emberscope.report.scrub import Scrub

SECRET = "hunter2hunter2hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"spark.hadoop.fs.s3a.secret.key     {SECRET}",
        f"spark.hadoop.fs.s3a.secret.key={SECRET}",
        f"<property><name>fs.s3a.secret.key</name>\n  <value>{SECRET}</value></property>",
        f"    - name: AWS_SECRET_ACCESS_KEY\n      value: {SECRET}",
        f"      AWS_SECRET_ACCESS_KEY:           {SECRET}",
        f"export DB_PASSWORD={SECRET}",
        f"25/01/31 12:00:00 INFO Main: connecting with password={SECRET} to the data base",
        f"jdbc:postgresql://alice:{SECRET}@db-1.example.com/sales",
    ],
)
@pytest.mark.parametrize("keep_names", [True, False])
def test_a_secret_goes_however_it_is_written(text: str, keep_names: bool) -> None:
    scrub = Scrub(keep_names=keep_names)
    assert SECRET not in scrub.text(f"before\n{text}\nafter\n")
    assert scrub.secrets >= 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Container on host: node-17.corp.example.com was lost\nnode-17.corp.example.com again", ["node-17"]),
        ("Changing view acls to: alicesmith\nalicesmith ran it", ["alicesmith"]),
        ("Lost task 3.0 in stage 1.0 (TID 7) (node17.corp executor 3): x", ["node17"]),
        ("Permission denied: user=alicesmith, access=WRITE", ["alicesmith"]),
        ("reading s3://acme-sales/2026/part-1.parquet and /home/alicesmith/app.py", ["acme", "alicesmith"]),
        ("ip-10-1-2-3.eu-west-1.compute.internal and 10.1.2.3 and a.smith@acme.com", ["10-1-2-3", "10.1.2.3", "acme"]),
    ],
)
def test_names_go_wherever_they_stand(text: str, names: list[str]) -> None:
    said = Scrub().text(text)
    assert [name for name in names if name in said] == []
    assert all(name in Scrub(keep_names=True).text(text) for name in names)


def test_what_a_diagnosis_rests_on_stays() -> None:
    lines = (
        "24/05/16 10:42:07 ERROR YarnScheduler: Lost executor 6: Container killed by YARN for exceeding memory limits. "
        "8.2 GB of 8 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.\n"
        "\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1599)\n"
        "container_1525_0001_01_000007 exit code 137, Status Code: 503; Error Code: SlowDown\n"
    )
    assert Scrub().text(lines) == lines


def test_a_path_keeps_its_disk_and_its_container() -> None:
    path = "/mnt1/yarn/usercache/alicesmith/appcache/application_1525_0001/container_1525_0001_01_000007/x.jar"
    said = Scrub().text(f"No space left on {path}\n")
    assert said == "No space left on /mnt1/path-1/application_1525_0001/container_1525_0001_01_000007.jar\n"
    assert Scrub().text("/home/alicesmith/app.py and /data/secret-project/x\n") == "path-1/app.py and /data/path-2\n"


def test_the_same_name_is_the_same_in_every_file() -> None:
    scrub = Scrub()
    event = {"Event": "SparkListenerTaskEnd", "Task Info": {"Host": "bigmachine", "Executor ID": "6"}}
    there = json.loads(scrub.event(json.dumps(event).encode()))
    assert there == {"Event": "SparkListenerTaskEnd", "Task Info": {"Host": "host-1", "Executor ID": "6"}}
    assert scrub.text("bigmachine went away\n") == "host-1 went away\n"


def test_numbers_and_spelling_of_events_stay() -> None:
    event = {"Event": "X", "Big": 9007199254740993, "Part": 0.1, "Flag": False, "None": None, "Value": "12"}
    assert json.loads(Scrub().event(json.dumps(event).encode() + b"\n")) == event


def test_settings_keep_what_tunes_and_lose_what_tells() -> None:
    settings = {
        "spark.executor.memory": "8g",
        "spark.app.name": "quarterly sales of acme",
        "spark.hadoop.fs.s3a.access.key": SECRET,
        "spark.acme.customer": "Smith",
        "spark.driver.host": "gateway.acme.com",
    }
    event = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}
    said = json.loads(Scrub().event(json.dumps(event).encode()))["Spark Properties"]
    assert said["spark.executor.memory"] == "8g"
    assert not any(word in json.dumps(said) for word in ("sales", SECRET, "Smith", "gateway"))
    kept = json.loads(Scrub(keep_names=True).event(json.dumps(event).encode()))["Spark Properties"]
    assert kept == {**settings, "spark.hadoop.fs.s3a.access.key": "*********(redacted)"}


def test_variables_and_secrets_of_pods_go() -> None:
    pods = {
        "items": [
            {"kind": "Secret", "data": {"x": SECRET}},
            {
                "kind": "Pod",
                "spec": {"nodeName": "gke-7", "containers": [{"env": [{"name": "TOKEN", "value": SECRET}]}]},
            },
            {
                "status": {
                    "containerStatuses": [{"lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]
                }
            },
        ]
    }
    said = Scrub().document(pods)
    assert SECRET not in json.dumps(said)
    assert said["items"][1]["spec"]["nodeName"] == "host-1"
    assert said["items"][2] == pods["items"][2]


def test_a_line_that_is_cut_is_cleaned_too() -> None:
    assert SECRET.encode() not in Scrub().event(b'{"Event":"SparkListenerJobStart","password=' + SECRET.encode())


def test_bytes_that_are_no_text_stay() -> None:
    line = b"24/05/16 10:42:07 INFO X: \xff\xfe\x00 odd\n"
    text = line.decode("utf-8", "surrogateescape")
    assert Scrub().text(text).encode("utf-8", "surrogateescape") == line
