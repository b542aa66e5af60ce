"""Batches of a stream take longer and longer, or fall behind their source.

## What it means
A batch takes what came since the last. Once it takes longer than its trigger, the next has more to do. Batches that
grow with the same input have more to keep (state without a watermark, a table of more and more files or versions).

## What it costs
A delay that grows from batch to batch, memory with it, and in the end data that the source no longer keeps.

## What to do
Bound the state with a watermark, move it to RocksDB, bound the batch, and compact the table that is written.

## When to ignore it
After a restart, while a backlog is worked off: batches are long at first, and get shorter one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_STREAM_LAG: Final = Signature(
    name="told-stream-lag",
    pattern=r"(?P<said>Current batch is falling behind)",
    literals=("Current batch is falling behind",),
    words=(
        (
            r"\bstream(s|ing)?\b|micro-?batch|\btriggers?\b",
            r"(batch|processing|duration|latency|time|delay|lag|state)\w*.{0,60}(increas|grow|longer|"
            r"slower|climb|degrad)|"
            r"(increas|grow|longer|slower|degrad)\w*.{0,60}(batch|processing|duration|latency|time|delay|lag|state)|"
            r"fall\w* behind|backlog|can ?not keep up|can't keep up|keep(ing)? up|consumer lag|scheduling delay",
        ),
        (r"state ?store|watermark|rocksdb", r"grow|huge|increas|large|slow|memory"),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_STREAM_LAG.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The stream falls behind: batches grow by state that is kept, by the sink's files, or by too much input",
        summary="Batches that take longer with the same input keep more each time: state without a "
        "watermark, or a sink with ever more "
        "small files and versions. Batches longer than their trigger fall behind.",
        advice=(
            Advice(
                "code", "Bound the state: withWatermark before the aggregation, join or dropDuplicatesWithinWatermark."
            ),
            set_conf(
                "spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
                "Large state outside the heap.",
            ),
            Advice(
                "code",
                "Bound the batch (maxOffsetsPerTrigger, maxFilesPerTrigger; minPartitions for more readers), and "
                "compact the table that is written (OPTIMIZE, clustering, checkpoints of its log).",
            ),
        ),
        confirm="The queries' progress in the event log (durationMs, stateOperators) tells which part grows.",
    )


RULE = Rule(
    code="W15",
    name="told-stream-lag",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_STREAM_LAG,),
)
