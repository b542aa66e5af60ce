"""A service of the cloud throttled requests: more came at a time than it takes.

## What it means
Object stores and catalogs answer with 503 or 429 where they get more requests in a second than they allow: S3 about
3,500 writes and 5,500 reads per second and prefix, and it grows with steady load; other services per account. It is
the number of requests that counts, not their bytes: many small files, many partitions and table formats that list,
mark and rename make many.

## What it costs
Retries and waiting, and where all tries of a client are used up, failed tasks and jobs.

## What to do
Make fewer requests: fewer and larger files, fewer partitions written at a time, compaction, fewer tasks at once. Spread
what is left over more prefixes. Let clients try longer and wait between tries.

## When to ignore it
When a few retries were logged and the work went on: clients are made for that, and S3 grows with steady load.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

THROTTLED: Final = Signature(
    name="throttled",
    pattern=r"(?P<s3>Slow ?Down\b|Status Code: 503\b|[Pp]lease reduce your request rate)|"
    r"(?P<gcs>rateLimitExceeded|userRateLimitExceeded|429 Too Many Requests|rate of change requests to the object)|"
    r"(?P<azure>(?:Operations per second|Ingress|Egress) is over the account limit|\bServerBusy\b|TooManyRequests)|"
    r"(?P<dynamo>ProvisionedThroughputExceeded\w*|ThroughputExceeded)|"
    r"(?P<aws>ThrottlingException|ThrottledException|RequestLimitExceeded|Rate exceeded)",
    literals=(
        "Slow Down",
        "Status Code: 503",
        "SlowDown",
        "lease reduce your request rate",
        "ateLimitExceeded",
        "429 Too Many Requests",
        "rate of change requests to the object",
        "is over the account limit",
        "ServerBusy",
        "TooManyRequests",
        "ThroughputExceeded",
        "ThrottlingException",
        "ThrottledException",
        "RequestLimitExceeded",
        "Rate exceeded",
    ),
    words=((r"throttl",), (r"slow ?down", r"s3|503|object store"), (r"\b503\b", r"s3|bucket")),
)
_TABLE_FORMATS: Final = ("hudi", "iceberg", "delta")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, THROTTLED.name)
    if rows:
        yield _throttled(run, rows)


def _throttled(run: Run, rows: tuple[Said, ...]) -> Finding:
    text = "\n".join(row.text for row in rows[:100])
    service = _service(text)
    count = sum(row.count for row in rows)
    times = f" ({count:,} times in these logs)" if count > 1 else ""
    return failure(
        run,
        rows,
        title=f"{service} throttled requests{times}",
        summary=_WHY[service if service in _WHY else "A service"],
        advice=_advice(text, service),
        confidence=0.95,
    )


def _service(text: str) -> str:
    if any(word in text for word in ("ProvisionedThroughput", "DynamoDb", "dynamodb")):
        return "DynamoDB"
    if "rateLimitExceeded" in text or "com.google.cloud" in text or "storage.googleapis" in text:
        return "Google Cloud Storage"
    if any(word in text for word in ("over the account limit", "ServerBusy", "abfs", "blob.core.windows")):
        return "Azure Storage"
    for word, name in (("glue", "The Glue catalog"), ("kms", "KMS"), ("kinesis", "Kinesis"), ("athena", "Athena")):
        if word in text.lower() and ("hrottl" in text or "Rate exceeded" in text):
            return name
    if any(word in text for word in ("Slow Down", "SlowDown", "educe your request rate", "Amazon S3", "Service: S3")):
        return "S3 (503 Slow Down)"
    return "A service"


_WHY: Final = {
    "S3 (503 Slow Down)": "Too many requests came at a time: S3 takes about 3,500 writes and 5,500 reads per second "
    "for one prefix. It is their number, not their bytes: small files, many partitions or file groups written at once, "
    "listings, markers and renames.",
    "A service": "More requests came in a second than the service allows for this account, table or prefix; the "
    "client's retries were not enough. It is the number of requests, not their bytes, that counts.",
}


def _advice(text: str, service: str) -> Iterator[Advice]:
    lower = text.lower()
    formats = [name for name in _TABLE_FORMATS if name in lower]
    if service in ("The Glue catalog", "KMS", "Kinesis", "DynamoDB", "Athena"):
        yield Advice(
            "code",
            "Make fewer calls: fewer partitions touched at once, partitions pruned before they are listed, keys and "
            "metadata cached, fewer tasks at a time.",
        )
        yield Advice("cluster", f"Ask for a higher limit of {service}, and let its client retry with growing waits.")
        return
    about = " (compaction, small-file limits, markers by the timeline server)" if "hudi" in formats else ""
    yield Advice(
        "code",
        "Make fewer requests: fewer and larger files, fewer partitions or file groups touched in one write, small "
        f"files compacted{about}, and repartition by the partition columns before a write.",
    )
    yield Advice("code", "Spread hot data over more prefixes, and run fewer tasks at a time while it writes.")
    if "com.amazon.ws.emr" in text or "EmrFileSystem" in text:
        yield Advice("cluster", "Let EMRFS try longer: fs.s3.maxRetries in emrfs-site, from 15 to 30.")
    elif "s3a" in lower or "org.apache.hadoop.fs.s3a" in text:
        yield Advice(
            "cluster",
            "Let S3A wait longer between tries: fs.s3a.retry.throttle.limit=30 and "
            "fs.s3a.retry.throttle.interval=500ms, and fs.s3a.attempts.maximum=30.",
        )
    else:
        yield Advice(
            "cluster",
            "Let the client try longer: fs.s3.maxRetries (EMRFS), fs.s3a.retry.throttle.limit (S3A), or its like.",
        )


RULE = Rule(
    code="K14",
    name="throttled",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(THROTTLED,),
)
