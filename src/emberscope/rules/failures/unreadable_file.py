"""A file of the input could not be read: it is gone, damaged, or not of the type that the table says.

## What it means
Spark lists the files of a table when it plans a query and reads them later. A file that was replaced or removed in
between is not found. A file that a writer did not finish, or that was copied in part, has no valid footer. A column
whose type in one file differs from the table's type cannot be converted. HDFS may have lost every copy of a block.

## What it costs
The tasks that come to the file fail each time, and the job ends with them after four attempts.

## What to do
For a file that is gone, refresh the table and see who rewrites it while it is read. For a damaged one, find it by the
path in the message, and restore it or write it again. For types, read with the right schema or rewrite the odd files.
`spark.sql.files.ignoreCorruptFiles` and `ignoreMissingFiles` drop rows without a word.

## When to ignore it
Where the files are known to come and go, and results that lack some of them are acceptable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

UNREADABLE_FILE: Final = Signature(
    name="unreadable-file",
    pattern=r"(?P<gone>It is possible the underlying files have been updated|FILE_NOT_EXIST|SparkFileNotFoundException|"
    r"FileReadException: Error while reading file [^\n]{0,500}does not exist|File does not exist: (?:hdfs|"
    r"s3a?|abfss?|gs|/))|"
    r"(?P<block>BlockMissingException|Could not obtain block)|"
    r"(?P<type>Parquet column cannot be converted|SchemaColumnConvertNotSupportedException|"
    r"PARQUET_COLUMN_DATA_TYPE_MISMATCH|PARQUET_TYPE_(?:ILLEGAL|NOT_)\w+|"
    r"Failed to merge incompatible (?:data types|schemas)|CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE)|"
    r"(?P<damaged>is not a Parquet file|Could not read footer|CANNOT_READ_FILE_FOOTER|Can ?not read value at|"
    r"Malformed ORC file|not a SequenceFile|ChecksumException|ParquetDecodingException|Unexpected end of ZLIB|"
    r"Not in GZIP format|invalid (?:stored block lengths|distance|code lengths set)|"
    r"Not an Avro data file|Not a data file|incorrect header check)|"
    r"(?P<other>FAILED_READ_FILE[.\w]*)",
    literals=(
        "It is possible the underlying files have been updated",
        "FILE_NOT_EXIST",
        "SparkFileNotFoundException",
        "FileReadException: Error while reading file",
        "File does not exist: ",
        "BlockMissingException",
        "Could not obtain block",
        "Parquet column cannot be converted",
        "SchemaColumnConvertNotSupportedException",
        "PARQUET_COLUMN_DATA_TYPE_MISMATCH",
        "PARQUET_TYPE_",
        "Failed to merge incompatible",
        "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
        "is not a Parquet file",
        "Could not read footer",
        "CANNOT_READ_FILE_FOOTER",
        "not read value at",
        "Malformed ORC file",
        "not a SequenceFile",
        "ChecksumException",
        "ParquetDecodingException",
        "Unexpected end of ZLIB",
        "Not in GZIP format",
        "invalid stored block lengths",
        "invalid distance",
        "invalid code lengths set",
        "Not an Avro data file",
        "Not a data file",
        "incorrect header check",
        "FAILED_READ_FILE",
    ),
    words=(
        (
            r"(parquet|orc|avro|gz(ip)?) files?",
            r"corrupt|damaged|not a parquet|footer|magic|truncated|cannot be converted",
        ),
        (r"underlying files have been updated|refresh table",),
        (r"block ?missing|missing blocks?|corrupt blocks?",),
    ),
)
_PATH: Final = re.compile(r"(?:file|File|path|block)[^\n]{0,80}?((?:[a-z][\w+.-]{0,20}:/)?/[^\s,;'\"()\[\]]+\.?\w*)")
_TYPES: Final = re.compile(
    r"[Cc]olumn:? (?:\[|`)(?P<column>[^\]`\n]+)(?:\]|`)[,.][\s\S]{0,40}?Expected(?: Spark type)?:? (?P<wanted>[\w()<>, "
    r"]+?),\s*"
    r"(?:Found|actual Parquet type):? (?P<found>\w+)"
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups = by(said(run, UNREADABLE_FILE.name), _kind)
    # The line that says no more than that a file failed is the frame around one that says why.
    named = [group for group in groups if group[0] != "other"] or groups
    for kind, rows in named:
        yield _unreadable(run, kind, rows)


def _kind(row: Said) -> str:
    found = groups_of(row, UNREADABLE_FILE)
    if "other" in found or not found:
        text = row.text
        if re.search(r"does not exist|underlying files", text):
            return "gone"
        if re.search(r"corrupt|damaged|footer|magic|not a Parquet|EOFException", text):
            return "damaged"
        if re.search(r"cannot be converted|Column", text):
            return "type"
        return "block" if re.search(r"blocks?\b", text) and "arquet" not in text else "other"
    return next(kind for kind in ("gone", "block", "type", "damaged") if kind in found)


def _unreadable(run: Run, kind: str, rows: list[Said]) -> Finding:
    text = "\n".join(row.text for row in rows[:20])
    path = _PATH.search(text)
    which = path[1].rstrip(".,:") if path else ""
    short = "…/" + "/".join(which.split("/")[-2:]) if which.count("/") > 4 else which
    at = f" {short}" if short else ""
    title, summary, advice = _told(kind, at, text)
    return failure(run, rows, title=title, summary=summary, advice=advice, confidence=0.6 if kind == "other" else 0.9)


def _told(kind: str, at: str, text: str) -> tuple[str, str, list[Advice]]:
    if kind == "gone":
        return (
            f"A file{at} was gone when it was read",
            "Spark listed the table's files earlier, from a cache or when the query was planned; in between another "
            "job rewrote, moved or removed them, or this one overwrites what it reads.",
            [
                Advice("code", "Run REFRESH TABLE (or make the DataFrame anew) after each rewrite, before it is read."),
                Advice(
                    "check",
                    "See which job writes there at that time. Overwriting the path that is read needs a second path.",
                ),
                Advice(
                    "code",
                    "A table format (Delta, Iceberg, Hudi) gives readers a snapshot, so that rewrites do not hurt.",
                ),
            ],
        )
    if kind == "block":
        return (
            f"HDFS has no copy left of a block of{at or ' a file'}",
            "All data nodes that held the block are gone, or cannot be reached from here: the file cannot be read "
            "there.",
            [
                Advice(
                    "check",
                    "Run `hdfs fsck <path> -files -blocks -locations` and `hdfs dfsadmin -report`: which nodes are "
                    "dead?",
                ),
                Advice(
                    "cluster",
                    "Bring the nodes back or restore the file; on clusters that shrink keep replication at 2 or more.",
                ),
            ],
        )
    if kind == "type":
        types = _TYPES.search(text)
        column = f" {types['column'].strip('` ')}" if types else ""
        between = f": {types['found']} in the file, {types['wanted'].strip()} in the table" if types else ""
        return (
            f"Column{column} has another type in file{at} than in the table{between}",
            "Files of one table were written with different types of this column; Parquet values are read as the file "
            "has them, and this pair cannot be converted.",
            [
                Advice(
                    "code",
                    "Rewrite the odd files with a cast to the table's type, or read them by themselves and unite them.",
                ),
                set_conf(
                    "spark.sql.parquet.enableVectorizedReader",
                    "false",
                    "Only where it is a decimal: the reader row by row converts more of them, and is slower.",
                ),
            ],
        )
    if kind == "damaged":
        return (
            f"A file{at} is damaged or not of its format",
            "Its end, its header or a page does not fit the format: a write that was cut off, a file of another kind "
            "in the folder, a copy in part, or a bad disk.",
            [
                Advice(
                    "check",
                    "Look at the file by its size and first bytes (parquet-tools, `hdfs dfs -ls`): empty or foreign "
                    "files.",
                ),
                Advice("code", "Write it again or take it out of the folder."),
                set_conf(
                    "spark.sql.files.ignoreCorruptFiles", "true", "Reads the rest, but drops its rows without an error."
                ),
            ],
        )
    return (
        f"A file{at} could not be read",
        "Spark wraps whatever a reader throws in this message: the last “Caused by” under it has the reason (access, "
        "network, format).",
        [Advice("check", "Read the innermost cause of the trace, and try that one file by itself.")],
    )


RULE = Rule(
    code="K22",
    name="unreadable-file",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(UNREADABLE_FILE,),
)
