from __future__ import annotations

import pytest

from emberscope.rules.failures.image_pull import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Events of the kubelet and of containerd.
UNKNOWN = (
    'E0101 00:00:00.000000 1 pod.go:1] Failed to pull image "registry.example.com/spark:9.9": rpc error: code = '
    'NotFound desc = failed to pull and unpack image "registry.example.com/spark:9.9": not found'
)
REFUSED = (
    'E0101 00:00:00.000000 1 pod.go:1] Failed to pull image "registry.example.com/spark:3.5": rpc error: code = '
    "Unknown desc = "
    "failed to authorize: 401 unauthorized"
)
BACK_OFF = "22/01/01 00:00:00 ERROR Pod: \t container state: waiting\n\t pending reason: ImagePullBackOff"
MOUNT = (
    '22/01/01 00:00:00 WARN Pod: FailedMount: MountVolume.SetUp failed for volume "spark-conf-volume-exec" : configmap '
    '"spark-exec-1-conf-map" not found'
)


def test_a_name_that_the_registry_does_not_know() -> None:
    (finding,) = found(RULE, run_of_log(UNKNOWN))
    assert "registry.example.com/spark:9.9" in finding.title
    assert "does not know this name or tag" in finding.summary
    assert finding.consequence == "ended"


def test_missing_credentials_are_a_setting() -> None:
    (finding,) = found(RULE, run_of_log(REFUSED))
    assert "spark.kubernetes.container.image.pullSecrets" in {advice.setting for advice in finding.advice}


@pytest.mark.parametrize(("text", "consequence"), [(BACK_OFF, "ended"), (MOUNT, "hint")])
def test_states_and_mounts(text: str, consequence: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.consequence == consequence


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("the driver pod says ImagePullBackOff"))


def test_healthy_lines() -> None:
    assert (
        found(RULE, run_of_log('22/01/01 00:00:00 INFO Pod: Successfully pulled image "apache/spark:3.5.0" in 2s'))
        == []
    )
