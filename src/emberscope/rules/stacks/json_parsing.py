"""Much CPU time went into parsing JSON.

## What it means
JSON is text: each value of each row is searched for, unescaped and converted, though the query may need one field of
fifty. get_json_object parses the whole text once for each field that is asked for. Where the reader gets no schema, it
reads all data once more to find one.

## What it costs
An upper bound: the CPU time of the parser, as if the data were columns already, taken off the tasks before the schedule
is replayed.

## What to do
Convert once to Parquet, ORC or a table and read that. Parse a text column once with from_json and a schema of just the
fields that are needed, in place of several get_json_object. Give the reader of JSON files a schema. In your own code
make one parser for all rows, and read token by token (JsonParser) where few fields are needed.

## When to ignore it
When JSON is what comes in, it is read only once, and most of its fields are needed; then parsing is the job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import INHERENT, READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import JSON_PARSING

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words("parsing JSON", 0.5, "the task time of these stacks taken off, as if the work were free.", _advice)
    return findings(run, JSON_PARSING.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Parse each text once, by from_json with a schema of just the fields that are needed ({asker(spots)} parses "
        "here), and keep the result as Parquet or a table when it is read again.",
    )


RULE = Rule(code=JSON_PARSING.code, name="json-hot", since="0.1", reads=READS, limits=INHERENT, check=check)
