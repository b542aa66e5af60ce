"""Tasks of a stream open connections to Kafka anew in every batch.

## What it means
By itself a stream has one task for each partition of a topic, and Spark sends a partition to the same executor in each
batch, which keeps its consumer and its connection. With `minPartitions` above the number of partitions that pairing is
gone: several tasks share a partition, any executor may get it, and consumers are made and closed again and again. In
Spark 2 the cache of consumers is off where two tasks of an executor read one partition; Spark 3 has a pool of them.

## What it costs
A consumer costs a connection, with TLS and SASL a handshake that is dear on both sides: brokers show a high rate of new
connections and a high CPU load, and each batch starts late. Logs give no price.

## What to do
Leave `minPartitions` out, unless the stream falls behind or partitions are skewed; more partitions of the topic are the
better way to more tasks. On Spark 3 make the pool of consumers as large as what an executor reads.

## When to ignore it
When brokers and batches are well within their time: each consumer that is closed is one line, and few do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import times, told
from emberscope.rules.said import Said, said
from emberscope.rules.settings import version
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

POOL_FULL: Final = "emr_kafka_pool_full"

_MIN_PARTITIONS: Final = re.compile(r"minPartitions\W{1,6}(?:of |is |to |set to )?(\d+)", re.IGNORECASE)
_TOPIC: Final = re.compile(r"\b(\d+)\s+(?:topic[- ]?|kafka )?partitions|(?<!min)partitions?\W{1,4}(\d+)", re.IGNORECASE)
_OLD: Final = re.compile(r"\bspark[ -]?(?:version )?2\.|\bEMR[ -]?(?:release )?5\.|emr-5\.", re.IGNORECASE)
_POOL_DEFAULT: Final = 64


class Limits(Struct, frozen=True):
    """So many consumers may be closed before it is worth a word (our proposal)."""

    least: int = 20


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, POOL_FULL)
    asked = [row for row in rows if row.level is None and not row.fields]
    if not rows or (not asked and times(rows) < limits.least):
        return
    text = " ".join(row.text for row in asked)
    wanted, topic = _first(_MIN_PARTITIONS, text), _first(_TOPIC, text)
    old = bool(_OLD.search(text)) or (0, 0) < version(run) < (3, 0) or any(row.fields.get("old") for row in rows)
    title = "Kafka consumers are closed and opened again from batch to batch"
    if wanted and topic and wanted > topic:
        title = f"minPartitions of {wanted} on a topic of {topic} partitions: tasks open Kafka connections anew"
    yield told(
        title,
        _summary(wanted, topic, old),
        rows,
        tuple(_advice(rows, wanted, topic, old)),
        consequence="risk",
        confidence=0.7,
    )


def _summary(wanted: int | None, topic: int | None, old: bool) -> str:
    several = ""
    if wanted and topic and wanted > topic:
        several = f" Here about {wanted} tasks read {topic} partitions, {-(-wanted // topic)} on each."
    cache = (
        "Spark 2 turns its consumer cache off where two tasks of an executor read one partition."
        if old
        else "Spark 3 keeps several consumers of a partition in a pool, which is too small for them here."
    )
    return (
        "With minPartitions above the number of topic partitions, tasks and partitions are not one to one any more: "
        "an executor gets other partitions in each batch and makes a new consumer, with a new connection to the "
        f"brokers (ConnectionCreationRate and CPU of the brokers rise).{several} {cache}"
    )


def _advice(rows: tuple[Said, ...], wanted: int | None, topic: int | None, old: bool) -> Iterator[Advice]:
    most = f" ({topic} here)" if topic else ""
    yield Advice(
        "code",
        f"Leave the option minPartitions out, or no higher than the partitions of the topic{most}; set it only while "
        "the stream falls behind or partitions are skewed. More partitions of the topic are the other way.",
    )
    if old:
        yield Advice("cluster", "Move to Spark 3 (EMR 6 or later): its consumer pool keeps connections across batches.")
        return
    capacity = max(2 * _capacity(rows), wanted or 0)
    yield set_conf(
        "spark.kafka.consumer.cache.capacity",
        capacity,
        "Consumers that an executor keeps: as many as the partitions that its tasks read at one time and soon after.",
    )


def _capacity(rows: tuple[Said, ...]) -> int:
    """The size of the pool, as a line of Spark 2 names it."""
    return next((int(row.fields["capacity"]) for row in rows if row.fields.get("capacity")), _POOL_DEFAULT)


def _first(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    number = next((group for group in found.groups() if group), None) if found else None
    return int(number) if number and len(number) < 8 else None


RULE = Rule(
    code="L1",
    name="kafka-connections",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            POOL_FULL,
            r"(?P<old>KafkaConsumer cache) hitting max capacity of (?P<capacity>\d{1,9}), removing consumer for"
            r"|(?P<pool>Pool exceeds its soft max size), cleaning up idle objects",
            ("KafkaConsumer cache hitting max capacity of ", "Pool exceeds its soft max size"),
            (
                (r"minPartitions", r"kafka|msk|broker|topic"),
                (r"ConnectionCreationRate",),
                (r"kafka|msk", r"(?:new|too many|high) (?:rate of )?connection|connection (?:creat|churn|rate)"),
            ),
        ),
    ),
)
