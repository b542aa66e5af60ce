from __future__ import annotations

from emberscope.rules.failures.streaming_offsets import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# InternalKafkaConsumer and KafkaMicroBatchStream of Spark's Kafka source.
AGED = (
    "java.lang.IllegalStateException: Cannot fetch offset 196 (GroupId: spark-kafka-source-6, TopicPartition: "
    "events-0). \n"
    "Some data may have been lost because they are not available in Kafka any more; either the\n data was aged out "
    "by Kafka"
)
RESET = (
    "java.lang.IllegalStateException: Partition events-1's offset was changed from 500 to 0, some data may have been "
    "missed."
)
NEW = (
    "org.apache.spark.SparkException: [KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost "
    "because"
)
SKIPPED = "24/01/01 00:00:00 WARN KafkaDataConsumer: Cannot fetch offset 196 (GroupId: g, TopicPartition: events-0)."


def test_says_which_offset_of_which_partition() -> None:
    (finding,) = found(RULE, run_of_log(AGED))
    assert finding.title.startswith("Kafka no longer has offset 196 of events-0")
    assert finding.consequence == "ended"


def test_a_topic_made_anew_is_told_from_retention() -> None:
    (finding,) = found(RULE, run_of_log(RESET))
    assert finding.title == "Kafka's offsets of events-1 went back from 500 to 0: the topic was made anew"


def test_the_condition_of_spark_4() -> None:
    (finding,) = found(RULE, run_of_log(NEW))
    assert "failOnDataLoss" in " ".join(advice.text for advice in finding.advice)


def test_skipped_data_is_lost_but_nothing_ended() -> None:
    (finding,) = found(RULE, run_of_log(SKIPPED))
    assert finding.consequence == "lost"


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("stream restarted after a week: offsets are out of range"))
    assert "Kafka" in finding.title


def test_silent_on_healthy_lines() -> None:
    text = (
        "24/01/01 00:00:00 INFO SubscriptionState: Resetting offset for partition events-0 to position "
        "FetchPosition{offset=196}"
    )
    assert found(RULE, run_of_log(text)) == []
