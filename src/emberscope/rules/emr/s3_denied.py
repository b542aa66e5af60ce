"""S3 refused a request of EMR's file system, or a write goes past the optimized committer.

## What it means
Status 403 with AccessDenied says that somebody's rule forbids the request, and not which: the role of the instance and
the bucket's policy, the access list of the object, the account's block on public access, an object lock, the policy of
a VPC endpoint, one of the organization, or of an access point. The request's id lets AWS say which. That the optimized
committer does not support a file system is a remark and no error: the output goes to HDFS, where it is not needed.

## What it costs
The job that needed the object, with all that it did before the request that was refused.

## What to do
Go through the seven causes with the role and the path of this request; the request's id helps AWS to find it.

## When to ignore it
When the optimized committer is named and nothing else: the write to HDFS went the usual way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DENIED: Final = "emr_s3_denied"
NO_COMMITTER: Final = "emr_committer_not_supported"

_MOST_IDS: Final = 5


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    committer = said(run, NO_COMMITTER)
    denied = said(run, DENIED)
    if denied:
        yield _denied(denied, committer)
    elif committer:
        yield _committer(committer)


def _denied(rows: tuple[Said, ...], committer: tuple[Said, ...]) -> Finding:
    ids = list(dict.fromkeys(row.fields["request"] for row in rows if row.fields.get("request")))[:_MOST_IDS]
    code = next((row.fields["error"] for row in rows if row.fields.get("error")), "AccessDenied")
    found = [Evidence(f"request {one}", rows[0].file or "log", line=rows[0].line) for one in ids]
    return told(
        f"S3 denied access to EMR's file system (403 {code})",
        "A policy forbids what the role of this cluster or job asked of S3; the message does not say which. The "
        "program's own data and settings are not at fault where the path is right.",
        rows,
        (
            Advice(
                "check",
                "Seven causes, in this order: IAM policy of the EC2 instance profile or runtime role (with "
                "kms:Decrypt for "
                "encrypted buckets) and the bucket policy; object ACLs; Block Public Access; Object Lock; VPC endpoint "
                "policy; organization policies (SCP); access point policy.",
            ),
            Advice(
                "check",
                "`aws s3 ls` and `aws s3 cp` of the same path on the node, with the same role; CloudTrail or AWS "
                "support find the request by its "
                f"id{': ' + ', '.join(ids) if ids else ''}.",
            ),
            Advice("code", "Use s3:// on EMR, and the bucket's and account's names as they are now."),
        ),
        consequence="ended",
        more=(*found, *(row.evidence() for row in committer[:1])),
    )


def _committer(rows: tuple[Said, ...]) -> Finding:
    system = next((row.fields["system"] for row in rows if row.fields.get("system")), "another file system")
    return told(
        f"Output goes to {system.rpartition('.')[2]}, where EMR's optimized committer is not used",
        "The committer is for S3 by s3:// alone; on other file systems the usual committer writes, and nothing fails. "
        "If the output was meant for S3, the path leads elsewhere.",
        rows,
        (Advice("check", "Whether the output path begins with s3:// and not with hdfs:// or nothing."),),
        consequence=None,
        confidence=0.6,
    )


RULE = Rule(
    code="L12",
    name="emr-s3-denied",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            DENIED,
            r"com\.amazon\.ws\.emr\.[^\n]*?AmazonS3Exception: [^\n]*?Status Code: 403; Error Code: (?P<error>\w+)"
            r"(?:; Request ID: (?P<request>\w+))?",
            ("Status Code: 403",),
        ),
        Signature(
            NO_COMMITTER,
            r"EMR Optimized [Cc]ommitter is not supported by this filesystem \((?P<system>[\w.$]+)\)",
            ("is not supported by this filesystem",),
            ((r"optimized committer", r"not supported|not used|disabled"),),
        ),
    ),
)
