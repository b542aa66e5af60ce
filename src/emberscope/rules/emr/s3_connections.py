"""All connections of the S3 client are in use, and requests wait for one until they give up.

## What it means
Each JVM has a pool of connections to S3. Tasks that read many columns or files at one time, wide writes, and streams
that a program opens and never closes take all of them; then a request waits, and fails with “Timeout waiting for
connection from pool”. S3 itself was not asked, and has refused nothing.

## What it costs
The task, which is tried again, and the job after four tries; until then requests that wait.

## What to do
Close what the program opens; make the pool as large as the cores of an executor need; run fewer tasks in one executor.

## When to ignore it
When a few requests failed in one moment and their tasks succeeded at the next try.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

POOL_TIMEOUT: Final = "emr_s3_pool_timeout"

_S3A_POOL: Final = "spark.hadoop.fs.s3a.connection.maximum"
_S3A_DEFAULT: Final = 96


class Limits(Struct, frozen=True):
    """The pool is made so many times larger (our proposal); EMRFS is given this many at least."""

    larger: int = 2
    emrfs_connections: int = 1000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, POOL_TIMEOUT)
    if not rows:
        return
    emrfs = any("com.amazon.ws.emr" in row.text for row in rows)
    yield told(
        "The S3 client ran out of connections (timeout waiting for connection from pool)",
        "All connections of the client's pool in this JVM were in use, so that the request never left it: too many "
        "tasks and streams at one time, or streams that the program opens and does not close. It is no throttling by "
        "S3.",
        rows,
        (
            Advice("code", "Close every stream of S3 that the program opens itself (in a finally or with block)."),
            *_pool(run, rows, emrfs, limits),
            Advice("cluster", "Fewer tasks in one executor (spark.executor.cores): they share one pool."),
        ),
        consequence="lost",
    )


def _pool(run: Run, rows: tuple[Said, ...], emrfs: bool, limits: Limits) -> Iterator[Advice]:
    if emrfs:
        most = max(int(number_setting(run, "spark.hadoop.fs.s3.maxConnections", 0)), limits.emrfs_connections)
        yield Advice("cluster", f"emrfs-site: fs.s3.maxConnections={most}, the pool of EMRFS.")
        return
    pool = limits.larger * int(number_setting(run, _S3A_POOL, _S3A_DEFAULT))
    yield set_conf(_S3A_POOL, pool, "The pool of s3a://; and fs.s3a.threads.max below it.")


RULE = Rule(
    code="L21",
    name="s3-connections",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            POOL_TIMEOUT,
            r"Unable to execute HTTP request: (?P<said>Timeout waiting for connection from pool"
            r"|Acquire operation took longer)",
            ("HTTP request: Timeout waiting for connection", "HTTP request: Acquire operation took"),
            ((r"timeout waiting for connection from pool", r"\bs3"),),
        ),
    ),
)
