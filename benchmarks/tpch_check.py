"""Are the 22 queries of `tpch.py` right? Spark's answers against DuckDB's, which has TPC-H's own text of each query.

    pip install tpchgen-cli duckdb==1.5.5 duckdb-extension-tpch==1.5.5
    python benchmarks/tpch_check.py --work DIR [--scale 0.1]

Both engines read the same Parquet files. The answers are compared in order and value by value; figures that one engine
computes as a decimal and the other as a double may differ by a millionth part. DuckDB's query 11 has the threshold of
scale 1, so the scale is put into it.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession
from tpch import QUERIES, TABLES, make_tables, query

# Columns of our answers in the order of the standard's, where they differ.
ORDER = {1: (0, 1, 3, 5, 8, 9, 4, 6, 7, 2)}


def oracle(data: Path, scale: float) -> dict[int, list[tuple[Any, ...]]]:
    connection = duckdb.connect()
    found = importlib.util.find_spec("duckdb_extension_tpch")
    if found is None or found.origin is None:
        raise SystemExit("DuckDB's queries are not here: pip install duckdb-extension-tpch, of DuckDB's own version")
    extension = next(Path(found.origin).parent.glob("extensions/*/tpch.duckdb_extension"))
    connection.execute(f"LOAD '{extension}'")
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{data / table}.parquet'")
    texts = connection.sql("SELECT query_nr, query FROM tpch_queries()").fetchall()
    return {
        number: connection.sql(text.replace("0.0001000000", repr(0.0001 / scale))).fetchall() for number, text in texts
    }


def ours(data: Path, scale: float) -> dict[int, list[tuple[Any, ...]]]:
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.log.level": "ERROR"}
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    for table in TABLES:
        spark.read.parquet(str(data / f"{table}.parquet")).createOrReplaceTempView(table)
    answers = {number: [tuple(row) for row in spark.sql(query(number, scale)).collect()] for number in QUERIES}
    spark.stop()
    return answers


def same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def difference(number: int, mine: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> str:
    """Empty where the answers are the same."""
    if len(mine) != len(theirs):
        return f"{len(mine)} rows, not {len(theirs)}"
    for place, (row, expected) in enumerate(zip(mine, theirs, strict=True)):
        ordered = tuple(row[index] for index in ORDER.get(number, range(len(row))))
        if len(ordered) != len(expected) or not all(map(same, ordered, expected)):
            return f"row {place}: {ordered}, not {expected}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where the tables are kept")
    parser.add_argument("--scale", type=float, default=0.1)
    chosen = parser.parse_args()
    data = chosen.work / f"tpch-{chosen.scale:g}"
    chosen.work.mkdir(parents=True, exist_ok=True)
    make_tables(data, chosen.scale)
    theirs, mine = oracle(data, chosen.scale), ours(data, chosen.scale)
    wrong = 0
    for number in sorted(QUERIES):
        different = difference(number, mine[number], theirs[number])
        wrong += bool(different)
        print(f"query {number:2}: {len(mine[number]):6,} rows, {different or 'the same'}")
    print(f"{len(QUERIES) - wrong} of {len(QUERIES)} answers are the same, at scale {chosen.scale:g}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
