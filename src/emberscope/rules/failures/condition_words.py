"""What the commonest error conditions of Spark mean, and what to do about each."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from emberscope.rules.base import Advice, set_conf


class Words(Struct, frozen=True):
    """What happened, in one clause, and what to do."""

    meaning: str
    advice: tuple[Advice, ...]


_ANSI: Final = "Spark 4 checks this by default (ANSI mode), Spark 3 gave NULL"
_SET_ANSI: Final = set_conf(
    "spark.sql.ansi.enabled",
    "false",
    "Gives NULL or a wrapped number as before, for the whole session: bad rows go on.",
)


def _code(meaning: str, *texts: str, ansi: bool = False) -> Words:
    return Words(meaning, (*(Advice("code", text) for text in texts), *((_SET_ANSI,) if ansi else ())))


WORDS: Final[dict[str, Words]] = {
    "AMBIGUOUS_REFERENCE": _code(
        "a name fits several columns, mostly after a join of tables that share it",
        "Qualify the column (t.id), give aliases to both sides, or join by name with USING so that it comes once.",
    ),
    "ARITHMETIC_OVERFLOW": _code(
        f"a result does not fit its type; {_ANSI}",
        "Cast to a larger type first, or use try_add and its like.",
        ansi=True,
    ),
    "BINARY_ARITHMETIC_OVERFLOW": _code(
        f"a result does not fit its type; {_ANSI}",
        "Cast to a larger type first, or use try_add and its like.",
        ansi=True,
    ),
    "CANNOT_PARSE_TIMESTAMP": _code(
        f"a text is no time in the pattern given; {_ANSI}",
        "Mend the pattern or the text, or use try_to_timestamp, and look which rows it is.",
        ansi=True,
    ),
    "CAST_INVALID_INPUT": _code(
        f"a text is no value of the type that it is cast to; {_ANSI}",
        "Clean the values, or use try_cast and count the NULLs it makes.",
        ansi=True,
    ),
    "CAST_OVERFLOW": _code(
        f"a number is outside the type that it is cast to; {_ANSI}", "Take a larger type or try_cast.", ansi=True
    ),
    "CONFLICTING_PARTITION_COLUMN_NAMES": _code(
        "folders of the table are partitioned in different ways, or files lie beside partition folders",
        "Read one level of folders with basePath, and move what does not belong there.",
    ),
    "DATATYPE_MISMATCH": _code(
        "a function or an operator got types that it does not take", "Cast the argument that the message names."
    ),
    "DIVIDE_BY_ZERO": _code(f"a divisor was 0; {_ANSI}", "Use try_divide or NULLIF(divisor, 0).", ansi=True),
    "DUPLICATED_MAP_KEY": Words(
        "a map was built with one key twice",
        (set_conf("spark.sql.mapKeyDedupPolicy", "LAST_WIN", "Keeps the last; or take the duplicates out first."),),
    ),
    "FAILED_EXECUTE_UDF": _code(
        "a function of the program threw an exception on some row; the cause below names it",
        "Read the last cause in the trace, and handle that value (mostly a null) in the function.",
    ),
    "INCOMPATIBLE_DATA_FOR_TABLE": _code(
        "the columns written do not fit the table's", "Cast and order the columns as the table has them."
    ),
    "INCONSISTENT_BEHAVIOR_CROSS_VERSION": Words(
        "old dates or patterns mean something else since Spark 3 changed its calendar, and it asks how to read them",
        (
            Advice(
                "check",
                "Files written before Spark 3 or by Hive: the message names the setting; LEGACY rebases, CORRECTED "
                "does not.",
            ),
            set_conf(
                "spark.sql.legacy.timeParserPolicy", "CORRECTED", "For patterns of dates: CORRECTED is Spark 3's way."
            ),
        ),
    ),
    "INSERT_COLUMN_ARITY_MISMATCH": _code(
        "the query gives another number of columns than the table has", "Name the columns in INSERT INTO t (a, b)."
    ),
    "INTERNAL_ERROR": Words(
        "Spark met a state that it did not expect: a bug, or jars of different versions on the class path",
        (
            Advice(
                "check", "Look for jars of another Spark on the class path; then search the tracker for the message."
            ),
            Advice("cluster", "Try the newest patch release of this version of Spark."),
        ),
    ),
    "INVALID_ARRAY_INDEX": _code(
        f"an index is outside the array; {_ANSI}", "Use get(array, index) or try_element_at.", ansi=True
    ),
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT": _code(
        f"an index is outside the array; {_ANSI}", "Use try_element_at.", ansi=True
    ),
    "MALFORMED_RECORD_IN_PARSING": _code(
        "a record of the input is not what the schema says, and the mode is FAILFAST",
        "Read with mode PERMISSIVE and a column for corrupt records to see which they are.",
    ),
    "MERGE_CARDINALITY_VIOLATION": _code(
        "several rows of the source match one row of the target in a MERGE",
        "Take duplicates out of the source by the key of the MERGE first.",
    ),
    "MISSING_AGGREGATION": _code(
        "a column is neither grouped by nor aggregated", "Add it to GROUP BY or take any_value() or first() of it."
    ),
    "NOT_NULL_ASSERT_VIOLATION": _code(
        "a NULL came into a column that must not have one",
        "Filter or fill it (coalesce), or let the column be nullable.",
    ),
    "NUMERIC_VALUE_OUT_OF_RANGE": _code(
        f"a decimal does not fit its precision; {_ANSI}", "Give the decimal more digits, or try_cast.", ansi=True
    ),
    "PARSE_SYNTAX_ERROR": _code(
        "the text is no SQL that Spark knows",
        "Look at the place that the message marks: a comma, a quote, a reserved word.",
    ),
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": _code(
        "a subquery that must give one value gave more rows", "Aggregate it (max) or join instead."
    ),
    "TABLE_OR_VIEW_NOT_FOUND": _code(
        "no table or view has this name here",
        "Look at the spelling, the catalog and the schema (SHOW TABLES IN …): another metastore, or a temporary view "
        "of another session, is the usual reason.",
    ),
    "UNRESOLVED_COLUMN": _code(
        "no column in reach has this name",
        "Look at printSchema() of that input: spelling, case, or a column dropped before.",
    ),
    "UNRESOLVED_ROUTINE": _code(
        "no function has this name here",
        "Register it in this session, or look at the version of Spark that brought it.",
    ),
    "UNSUPPORTED_FEATURE": _code(
        "this version of Spark does not have that feature here",
        "Write it in another way, or move to a version that has it.",
    ),
}

# Conditions that another rule tells of, with the numbers of its line; and frames around another exception.
ELSEWHERE: Final = (
    "CANNOT_LOAD_STATE_STORE",
    "CANNOT_MERGE_INCOMPATIBLE",
    "CONCURRENT_STREAM_LOG_UPDATE",
    "CONTEXT_ONLY_VALID_ON_DRIVER",
    "DATA_SOURCE_NOT_FOUND",
    "DELTA_CONCURRENT",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
    "FAILED_READ_FILE",
    "FAILED_RENAME",
    "JAVA_GATEWAY_EXITED",
    "KAFKA_DATA_LOSS",
    "KRYO_BUFFER_OVERFLOW",
    "LOCATION_ALREADY_EXISTS",
    "PATH_ALREADY_EXISTS",
    "PYTHON_VERSION_MISMATCH",
    "STATE_STORE_",
    "STREAM_FAILED",
    "TASK_WRITE_FAILED",
    "UNABLE_TO_ACQUIRE_MEMORY",
    "UNABLE_TO_FETCH_HIVE_TABLES",
    "WRITING_JOB_ABORTED",
)
