from __future__ import annotations

from emberscope.rules.failures.direct_memory import RULE as DIRECT_MEMORY
from emberscope.rules.failures.large_frame import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# TransportFrameDecoder of Spark.
LARGE = (
    "22/01/01 00:00:00 ERROR Executor: Exception in task 7.0 in stage 3.0 (TID 99)\n"
    "java.lang.IllegalArgumentException: Too large frame: 4294967296\n"
    "\tat org.apache.spark.network.util.TransportFrameDecoder.decodeNext(TransportFrameDecoder.java:119)"
)
HTTP = LARGE.replace("4294967296", str(int.from_bytes(b"GET / HT", "big") - 8))
# CoarseGrainedExecutorBackend of Spark.
DIRECT = (
    "22/01/01 00:00:00 ERROR CoarseGrainedExecutorBackend: Executor self-exiting due to : Unable to create executor "
    "due to Netty direct memory should at least be bigger than 'spark.network.maxRemoteBlockSizeFetchToMem', but got "
    "477626368 bytes < 2147483135"
)


def test_partitions_follow_from_the_size() -> None:
    (finding,) = found(RULE, run_of_log(LARGE))
    assert "4.0 GiB (4,294,967,296 bytes)" in finding.title
    settings = {advice.setting: advice.value for advice in finding.advice}
    assert settings["spark.sql.shuffle.partitions"] == "4200"  # 200 · ⌈4 GiB / 200 MiB⌉
    assert settings["spark.network.maxRemoteBlockSizeFetchToMem"] == "200m"


def test_another_protocol_is_no_block() -> None:
    (finding,) = found(RULE, run_of_log(HTTP))
    assert "no Spark" in finding.title
    assert finding.consequence == "hint"


def test_the_name_of_the_setting_in_old_versions() -> None:
    (finding,) = found(RULE, run_of_log(LARGE, spark_version="2.4.0"))
    assert "spark.maxRemoteBlockSizeFetchToMem" in {advice.setting for advice in finding.advice}


def test_direct_memory_below_the_bound() -> None:
    (finding,) = found(DIRECT_MEMORY, run_of_log(DIRECT))
    assert "456 MiB of direct memory, 2.0 GiB wanted" in finding.title
    assert finding.advice[0].value == "200m"
    assert "MaxDirectMemorySize=2g" in finding.advice[1].text


def test_in_plain_words_and_healthy_lines() -> None:
    assert found(RULE, run_of_words("Too large frame when I join two tables"))
    healthy = "22/01/01 00:00:00 INFO ShuffleBlockFetcherIterator: Getting 12 (2.1 GiB) non-empty blocks"
    assert found(RULE, run_of_words(healthy)) == []
    assert found(DIRECT_MEMORY, run_of_words(healthy)) == []
