"""Whether a text is a log or a question, by its first lines."""

from __future__ import annotations

import re
from typing import Final

from emberscope.logs.head import head_of
from emberscope.logs.read import NOISE
from emberscope.logs.wrapping import unwrapped

_LINES: Final = 200
_ENOUGH: Final = 3
_TRACE: Final = re.compile(
    r"^\s+at [\w.$]+\(|^(?:Caused by: |Exception in thread )?(?:[a-z_]\w*\.)+[A-Z]\w*(?:Exception|Error)\b"
    r"|^Traceback \(most recent call last\)|^Container: container_|^Log ?Type: ?\w",
    re.MULTILINE,
)
_WORDS: Final = re.compile(
    r"(?i)\b(?:spark|pyspark|executors?|driver|yarn|emr|databricks|glue|livy|shuffle|kafka|hive|hudi|iceberg|parquet"
    r"|dataframe|partitions?|tasks?|stages?|joins?|quer(?:y|ies)|listing|cluster|oom|jvm|gc|flame ?graph|profil\w+|perf"
    r"|files?|folders?|datasets?|tables?|\w+joins?|with_?columns?|heap|memory|cpus?|cores|disks?|containers?|pods?|s3"
    r"|hdfs|delta|jdbc|pandas|oom\w*|aggregat\w+|group ?by|udfs?|python|airflow|(?:query|execution|physical) plans?"
    r"|distinct|windows? functions?|row_number|order ?by|timestamps?|time ?zones?|schemas?|csv|json|avro"
    r"|orc|merge|upserts?"
    r"|workers?|broadcast|repartition|coalesce|cach(?:e|ed|ing)|persist|collect|rdds?|streaming|micro-?batch\w*|watermark"
    r"|checkpoints?|explode|scala|notebook|sql|billion (?:rows|records)|million (?:rows|records)"
    r"|jobs? (?:is|are|was|hangs?|fails?|failed|takes?|runs?|died?|dies|stuck|count)"
    r"|exit (?:code|status)|exception|error)\b"
)
_MOST_SHOWN: Final = 40
_REMARK: Final = re.compile(r"#+ ?[A-Za-z]")
_WORD: Final = re.compile(r"[(\"']?[A-Za-z0-9%][\w'/-]{0,40}[)\"'.,;?!]{0,3}")
_MOST_ASKED: Final = 32 * 1024


def looks_like_log(head: bytes) -> bool:
    """Whether a tenth of the first lines, or three of them, begin as records of logs do; or a stack trace is there."""
    text = NOISE.sub("", head.decode("utf-8", "replace"))
    if _TRACE.search(text):
        return True
    lines = [line for line in text.split("\n")[:_LINES] if line.strip()]
    heads = 0
    for line in lines:
        found = head_of(line)
        heads += (
            found is not None and (found.level is not None or (found.time_ms is not None and found.length > 15))
        ) or unwrapped(line) != line
    return heads >= min(_ENOUGH, max(1, len(lines) // 10))


def looks_like_question(text: bytes) -> bool:
    """Whether a short text speaks of what we can answer."""
    return (
        len(text) <= _MOST_ASKED
        and len(text.split()) >= 3
        and _WORDS.search(text.decode("utf-8", "replace")) is not None
    )


def has_prose(text: str) -> bool:
    """Whether somebody wrote between the lines of a log that they show: a remark, or a sentence or two above it."""
    heads = prose = 0
    for line in text.split("\n")[:_LINES]:
        if head_of(line) is not None:
            heads += 1
        elif _REMARK.match(line) or (not heads and _is_sentence(line)):
            prose += 1
    return prose > 0 and heads <= _MOST_SHOWN


def _is_sentence(line: str) -> bool:
    """Whether a line is made of five words or more and of nothing else."""
    words = line.split()
    return 5 <= len(words) <= 200 and line[:1].isupper() and all(_WORD.fullmatch(word) for word in words)
