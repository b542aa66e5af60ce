"""EMRFS's consistent view and S3 do not agree on what is there.

## What it means
The consistent view of EMRFS keeps a list of objects in a DynamoDB table, from the time when S3 could not promise to
show a new object at once. What is deleted or written by other means than EMRFS (the console, other tools, a life-cycle
rule) is not in that list, or still is: reads of it fail with a ConsistencyException. S3 has been consistent since the
end of 2020, and nothing needs the view any more.

## What it costs
The job that reads or writes such a path, each time that it tries, until list and bucket agree again.

## What to do
Bring the list in line with the bucket once, then switch the consistent view off.

## When to ignore it
Never where it ended a job; where the list is brought in line by a job of its own, runs before that one may show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

INCONSISTENT: Final = "emr_view_inconsistent"


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, INCONSISTENT)
    if not rows:
        return
    path = next((row.fields["path"] for row in rows if row.fields.get("path")), None)
    place = path if path and path.startswith("s3") else "s3://bucket/path"
    yield told(
        f"EMRFS's consistent view and S3 disagree{f' on {path}' if path else ''}",
        "The consistent view keeps a list of objects in DynamoDB (EmrFSMetadata). Objects that were deleted or written "
        "past EMRFS are still in it, or not: a ConsistencyException. S3 itself is consistent since December 2020.",
        rows,
        (
            Advice("cluster", f"On the primary node: `emrfs diff {place}`, then `emrfs sync {place}`."),
            Advice(
                "cluster",
                "Switch the consistent view off (emrfs-site: fs.s3.consistent=false) on all clusters that use these "
                "paths.",
            ),
            Advice(
                "check", "Who deletes or writes there without EMRFS: life-cycle rules, the console, s3a, other tools."
            ),
        ),
        consequence="ended",
        confidence=0.9,
    )


RULE = Rule(
    code="L20",
    name="emrfs-inconsistent",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            INCONSISTENT,
            r"hadoop\.fs\.consistency\.exception\.(?P<kind>(?:Consistency|FileDeletedInMetadata|ConcurrentWrite)\w*)"
            r"(?:: (?:Directory|File|Key|Object)? ?'?(?P<path>[^\s':]+(?::/[^\s':]+)?))?",
            ("hadoop.fs.consistency.exception.",),
            ((r"emrfs|\bemr\b", r"consisten(?:t view|cy)", r"metadata|dynamodb|sync|exception"),),
        ),
    ),
)
