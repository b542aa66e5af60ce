"""`kubectl describe` and `kubectl get`, in the form that kubectl 1.34 prints (k8s.io/kubectl/pkg/describe)."""

from __future__ import annotations

from emberscope.logs.pod_description import looks_like_pod_description, read_pod_description

DESCRIBED = """\
Name:             job-exec-6
Namespace:        jobs
Priority:         0
Service Account:  spark
Node:             node-3/10.0.0.7
Start Time:       Mon, 30 Nov 2026 10:00:00 +0000
Labels:           spark-app-selector=spark-0a1b
                  spark-exec-id=6
                  spark-role=executor
Annotations:      <none>
Status:           Failed
IP:               10.244.1.9
Containers:
  spark-kubernetes-executor:
    Container ID:  containerd://9f
    Image:         spark:4.0.1
    Args:
      executor
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Mon, 30 Nov 2026 10:00:02 +0000
      Finished:     Mon, 30 Nov 2026 12:42:07 +0200
    Ready:          False
    Restart Count:  0
    Limits:
      memory:  1408Mi
    Requests:
      cpu:     1
      memory:  1408Mi
    Environment:
      SPARK_USER:  root
Conditions:
  Type              Status
  Initialized       True
  Ready             False
  PodScheduled      True
QoS Class:                   Burstable
Events:
  Type     Reason     Age    From               Message
  ----     ------     ----   ----               -------
  Normal   Scheduled  43m    default-scheduler  Successfully assigned jobs/job-exec-6 to node-3
  Normal   Pulled     43m    kubelet            Container image "spark:4.0.1" already present on machine
  Warning  Evicted    60s    kubelet            The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi
"""

HEALTHY = DESCRIBED.replace("Failed", "Running").replace(
    "    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
    "    State:          Running\n",
)

EVENTS = """\
LAST SEEN   TYPE      REASON             OBJECT                MESSAGE
4m12s       Warning   FailedScheduling   pod/job-exec-11       0/3 nodes are available: 3 Insufficient memory.
3m2s        Normal    Pulled             pod/job-exec-1        Container image "spark:4.0.1" already present
"""

PODS = """\
NAME            READY   STATUS             RESTARTS       AGE
job-driver      1/1     Running            0              12m
job-exec-1      0/1     OOMKilled          0              11m
job-exec-2      0/1     ImagePullBackOff   3 (2m1s ago)   11m
job-exec-3      0/1     Completed          0              11m
"""


def test_a_described_pod_is_told_in_the_same_words_as_its_status() -> None:
    killed, evicted = read_pod_description(DESCRIBED)[0]
    assert killed.message == (
        "Pod jobs/job-exec-6 (executor 6): container spark-kubernetes-executor terminated: OOMKilled, exit code 137, "
        "memory limit 1408Mi"
    )
    assert "exited with exit code 137(SIGKILL, possible container OOM)" in killed.text
    assert killed.time_ms == 1_796_035_327_000
    assert (killed.host, killed.app_id, killed.role) == ("node-3", "spark-0a1b", "executor")
    assert "OOMKilled" in DESCRIBED.split("\n")[(killed.line or 0) - 1]
    assert evicted.message.startswith("Pod jobs/job-exec-6: Evicted: The node was low on resource: ephemeral-storage.")
    assert (evicted.executor_id, evicted.time_ms, evicted.level) == ("6", None, "ERROR")


def test_a_pod_that_runs_says_nothing() -> None:
    healthy = HEALTHY[: HEALTHY.index("  Warning")]
    assert read_pod_description(healthy)[0] == []


def test_several_pods_in_one_text_are_told_apart() -> None:
    found, _ = read_pod_description(DESCRIBED + "\n\n" + DESCRIBED.replace("exec-6", "exec-7").replace("id=6", "id=7"))
    assert [said.executor_id for said in found] == ["6", "6", "7", "7"]
    assert (found[2].line or 0) > (found[0].line or 0)


def test_a_container_that_waits_after_it_was_killed() -> None:
    crash = DESCRIBED.replace(
        "    State:          Terminated\n      Reason:       OOMKilled",
        "    State:          Waiting\n      Reason:       CrashLoopBackOff\n"
        "    Last State:     Terminated\n      Reason:       OOMKilled",
    )
    found, _ = read_pod_description(crash)
    assert ["OOMKilled" in found[0].message, "CrashLoopBackOff" in found[1].message] == [True, True]


def test_tables_of_events_and_of_pods() -> None:
    (event,), _ = read_pod_description(EVENTS)
    assert event.message == ("Pod job-exec-11: FailedScheduling: 0/3 nodes are available: 3 Insufficient memory.")
    assert (event.executor_id, event.line) == ("11", 2)
    killed, pulling = read_pod_description(PODS)[0]
    assert killed.message == "Pod job-exec-1 (executor 1): OOMKilled, 0 restarts"
    assert "ImagePullBackOff" in pulling.message
    assert (killed.line, pulling.line) == (3, 4)


NODE = """\
Name:               node-3
Roles:              <none>
Labels:             kubernetes.io/os=linux
CreationTimestamp:  Mon, 30 Nov 2026 08:00:00 +0000
Taints:             node.kubernetes.io/disk-pressure:NoSchedule
Conditions:
  Type            Status  LastHeartbeatTime                LastTransitionTime               Reason  Message
  ----            ------  -----------------                ------------------               ------  -------
  MemoryPressure  False   Mon, 30 Nov 2026 10:42:07 +0000  Mon, 30 Nov 2026 08:00:00 +0000  KubeletHas  has memory
  DiskPressure    True    Mon, 30 Nov 2026 10:42:07 +0000  Mon, 30 Nov 2026 10:41:00 +0000  KubeletHasDiskPressure  full
  Ready           True    Mon, 30 Nov 2026 10:42:07 +0000  Mon, 30 Nov 2026 08:00:00 +0000  KubeletReady  is ready
Capacity:
  cpu:                4
Allocatable:
  cpu:                4
Events:
  Type     Reason                 Age   From     Message
  ----     ------                 ----  ----     -------
  Warning  EvictionThresholdMet   61s   kubelet  Attempting to reclaim ephemeral-storage
"""

APPLICATION = """\
Name:         nightly
Namespace:    jobs
Labels:       <none>
API Version:  sparkoperator.k8s.io/v1beta2
Kind:         SparkApplication
Spec:
  Mode:  cluster
Status:
  Application State:
    Error Message:  driver container failed with ExitCode: 1, Reason: Error
    State:          FAILED
  Driver Info:
    Pod Name:            nightly-driver
  Spark Application Id:  spark-0a1b
Events:                  <none>
"""


def test_a_node_under_pressure() -> None:
    pressure, event = read_pod_description(NODE)[0]
    assert pressure.message == "Node node-3: DiskPressure is True: KubeletHasDiskPressure: full"
    assert "The node had condition: [DiskPressure]" in pressure.text
    assert (pressure.host, pressure.role) == ("node-3", "node")
    assert event.message == "Node node-3: EvictionThresholdMet: Attempting to reclaim ephemeral-storage"
    well = NODE.replace("DiskPressure    True ", "DiskPressure    False")
    assert read_pod_description(well[: well.index("Events:")])[0] == []


def test_an_application_of_the_operator() -> None:
    (said,), _ = read_pod_description(APPLICATION)
    assert said.message == "SparkApplication nightly: FAILED: driver container failed with ExitCode: 1, Reason: Error"
    assert said.app_id == "spark-0a1b"
    assert read_pod_description(APPLICATION.replace("FAILED", "COMPLETED"))[0] == []


def test_it_is_told_by_its_content() -> None:
    for text in (DESCRIBED, EVENTS, PODS, NODE, APPLICATION):
        assert looks_like_pod_description(text.encode())
    assert not looks_like_pod_description(
        b"Name: x\n26/11/30 10:00:00 INFO SparkContext: Running Spark version 4.0.1\n"
    )


def test_every_cut_of_it_is_read() -> None:
    for text in (DESCRIBED, EVENTS, PODS, NODE, APPLICATION):
        for end in range(0, len(text), 7):
            read_pod_description(text[:end])
