"""TPC-H as a job: its tables as Parquet, and its 22 questions in Spark SQL, worded anew from what each of them asks.

    pip install tpchgen-cli
    python benchmarks/tpch.py DIR --scale 1

makes the tables DIR/<table>.parquet with the generator `tpchgen-cli` (scale 1: 330 MB, some seconds). The parameters
are those that the benchmark gives for checking answers; `tpch_check.py` compares the answers with another engine's. No
figure that comes of this is a TPC-H result: it is a load, the same one each time.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

TABLES: Final = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")

PAID: Final = "l_extendedprice * (1 - l_discount)"
"""What a line brings in."""

QUERIES: Final = {
    1: f"""
        SELECT l_returnflag, l_linestatus, count(*) AS lines,
               sum(l_quantity) AS quantity, avg(l_quantity) AS mean_quantity,
               sum(l_extendedprice) AS listed, avg(l_extendedprice) AS mean_listed, avg(l_discount) AS mean_discount,
               sum({PAID}) AS paid, sum({PAID} * (1 + l_tax)) AS charged
        FROM lineitem
        WHERE l_shipdate < DATE '1998-09-03'
        GROUP BY l_returnflag, l_linestatus
        ORDER BY l_returnflag, l_linestatus""",
    2: """
        WITH offers AS (
            SELECT p_partkey, p_mfgr, ps_supplycost, n_name, supplier.*
            FROM part
            JOIN partsupp ON ps_partkey = p_partkey
            JOIN supplier ON s_suppkey = ps_suppkey
            JOIN nation ON n_nationkey = s_nationkey
            JOIN region ON r_regionkey = n_regionkey
            WHERE r_name = 'EUROPE' AND p_size = 15 AND p_type LIKE '%BRASS'),
        cheapest AS (SELECT p_partkey AS part, min(ps_supplycost) AS cost FROM offers GROUP BY p_partkey)
        SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
        FROM offers JOIN cheapest ON p_partkey = part AND ps_supplycost = cost
        ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
        LIMIT 100""",
    3: f"""
        SELECT l_orderkey, sum({PAID}) AS revenue, o_orderdate, o_shippriority
        FROM lineitem
        JOIN orders ON o_orderkey = l_orderkey AND o_orderdate < DATE '1995-03-15'
        LEFT SEMI JOIN customer ON c_custkey = o_custkey AND c_mktsegment = 'BUILDING'
        WHERE l_shipdate > DATE '1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority
        ORDER BY revenue DESC, o_orderdate
        LIMIT 10""",
    4: """
        SELECT o_orderpriority, count(*) AS late
        FROM orders LEFT SEMI JOIN lineitem ON l_orderkey = o_orderkey AND l_receiptdate > l_commitdate
        WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL 3 MONTHS
        GROUP BY o_orderpriority
        ORDER BY o_orderpriority""",
    5: f"""
        SELECT n_name, sum({PAID}) AS revenue
        FROM region
        JOIN nation ON n_regionkey = r_regionkey
        JOIN supplier ON s_nationkey = n_nationkey
        JOIN lineitem ON l_suppkey = s_suppkey
        JOIN orders ON o_orderkey = l_orderkey AND year(o_orderdate) = 1994
        JOIN customer ON c_custkey = o_custkey AND c_nationkey = s_nationkey
        WHERE r_name = 'ASIA'
        GROUP BY n_name
        ORDER BY revenue DESC""",
    6: """
        SELECT sum(l_discount * l_extendedprice) AS gain
        FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
          AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    7: f"""
        WITH pairs AS (
            SELECT seller.n_name AS from_nation, seller.n_nationkey AS from_key,
                   buyer.n_name AS to_nation, buyer.n_nationkey AS to_key
            FROM nation AS seller CROSS JOIN nation AS buyer
            WHERE (seller.n_name, buyer.n_name) IN (('FRANCE', 'GERMANY'), ('GERMANY', 'FRANCE')))
        SELECT from_nation, to_nation, year(l_shipdate) AS shipped, sum({PAID}) AS revenue
        FROM lineitem
        JOIN supplier ON s_suppkey = l_suppkey
        JOIN orders ON o_orderkey = l_orderkey
        JOIN customer ON c_custkey = o_custkey
        JOIN pairs ON from_key = s_nationkey AND to_key = c_nationkey
        WHERE l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        GROUP BY from_nation, to_nation, year(l_shipdate)
        ORDER BY from_nation, to_nation, shipped""",
    8: f"""
        WITH sold AS (
            SELECT year(o_orderdate) AS ordered, seller.n_name AS from_nation, {PAID} AS paid
            FROM lineitem
            JOIN part ON p_partkey = l_partkey AND p_type = 'ECONOMY ANODIZED STEEL'
            JOIN orders ON o_orderkey = l_orderkey
            JOIN customer ON c_custkey = o_custkey
            JOIN nation AS buyer ON buyer.n_nationkey = c_nationkey
            JOIN region ON r_regionkey = buyer.n_regionkey AND r_name = 'AMERICA'
            JOIN supplier ON s_suppkey = l_suppkey
            JOIN nation AS seller ON seller.n_nationkey = s_nationkey
            WHERE o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31')
        SELECT ordered, sum(if(from_nation = 'BRAZIL', paid, 0)) / sum(paid) AS share
        FROM sold
        GROUP BY ordered
        ORDER BY ordered""",
    9: f"""
        SELECT n_name, year(o_orderdate) AS ordered, sum({PAID} - l_quantity * ps_supplycost) AS profit
        FROM lineitem
        LEFT SEMI JOIN part ON p_partkey = l_partkey AND contains(p_name, 'green')
        JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
        JOIN supplier ON s_suppkey = l_suppkey
        JOIN nation ON n_nationkey = s_nationkey
        JOIN orders ON o_orderkey = l_orderkey
        GROUP BY n_name, year(o_orderdate)
        ORDER BY n_name, ordered DESC""",
    10: f"""
        SELECT c_custkey, c_name, sum({PAID}) AS lost, c_acctbal, n_name, c_address, c_phone, c_comment
        FROM lineitem
        JOIN orders ON o_orderkey = l_orderkey
        JOIN customer ON c_custkey = o_custkey
        JOIN nation ON n_nationkey = c_nationkey
        WHERE l_returnflag = 'R'
          AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1993-10-01' + INTERVAL 3 MONTHS
        GROUP BY c_custkey, c_name, c_acctbal, n_name, c_address, c_phone, c_comment
        ORDER BY lost DESC
        LIMIT 20""",
    11: """
        WITH stock AS (
            SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS worth
            FROM partsupp
            JOIN supplier ON s_suppkey = ps_suppkey
            JOIN nation ON n_nationkey = s_nationkey AND n_name = 'GERMANY'
            GROUP BY ps_partkey)
        SELECT ps_partkey, worth
        FROM stock
        WHERE worth > (SELECT sum(worth) * 0.0001 / {scale} FROM stock)
        ORDER BY worth DESC""",
    12: """
        SELECT l_shipmode,
               count_if(o_orderpriority IN ('1-URGENT', '2-HIGH')) AS urgent,
               count_if(o_orderpriority NOT IN ('1-URGENT', '2-HIGH')) AS others
        FROM lineitem JOIN orders ON o_orderkey = l_orderkey
        WHERE l_shipmode IN ('MAIL', 'SHIP') AND year(l_receiptdate) = 1994
          AND l_shipdate < l_commitdate AND l_commitdate < l_receiptdate
        GROUP BY l_shipmode
        ORDER BY l_shipmode""",
    13: """
        WITH placed AS (
            SELECT c_custkey, count(o_orderkey) AS orders
            FROM customer
            LEFT JOIN (SELECT * FROM orders WHERE NOT o_comment LIKE '%special%requests%') ON o_custkey = c_custkey
            GROUP BY c_custkey)
        SELECT orders, count(*) AS customers
        FROM placed
        GROUP BY orders
        ORDER BY customers DESC, orders DESC""",
    14: f"""
        SELECT 100 * sum({PAID}) FILTER (WHERE startswith(p_type, 'PROMO')) / sum({PAID}) AS promoted_percent
        FROM lineitem JOIN part ON p_partkey = l_partkey
        WHERE l_shipdate BETWEEN DATE '1995-09-01' AND DATE '1995-09-30'""",
    15: f"""
        WITH supplied AS (
            SELECT l_suppkey, sum({PAID}) AS revenue
            FROM lineitem
            WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL 3 MONTHS
            GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, s_address, s_phone, revenue
        FROM supplier JOIN supplied ON l_suppkey = s_suppkey
        WHERE revenue = (SELECT max(revenue) FROM supplied)
        ORDER BY s_suppkey""",
    16: """
        SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers
        FROM partsupp
        JOIN part ON p_partkey = ps_partkey
        LEFT ANTI JOIN supplier ON s_suppkey = ps_suppkey AND s_comment LIKE '%Customer%Complaints%'
        WHERE p_brand <> 'Brand#45' AND NOT startswith(p_type, 'MEDIUM POLISHED')
          AND p_size IN (3, 9, 14, 19, 23, 36, 45, 49)
        GROUP BY p_brand, p_type, p_size
        ORDER BY suppliers DESC, p_brand, p_type, p_size""",
    17: """
        WITH usual AS (SELECT l_partkey AS part, avg(l_quantity) AS quantity FROM lineitem GROUP BY l_partkey)
        SELECT sum(l_extendedprice) / 7 AS a_year
        FROM lineitem
        LEFT SEMI JOIN part ON p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
        JOIN usual ON part = l_partkey AND l_quantity < quantity / 5""",
    18: """
        WITH large AS (
            SELECT l_orderkey, sum(l_quantity) AS quantity FROM lineitem GROUP BY l_orderkey HAVING quantity > 300)
        SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, quantity
        FROM large
        JOIN orders ON o_orderkey = l_orderkey
        JOIN customer ON c_custkey = o_custkey
        ORDER BY o_totalprice DESC, o_orderdate
        LIMIT 100""",
    19: f"""
        SELECT sum({PAID}) AS revenue
        FROM lineitem JOIN part ON p_partkey = l_partkey AND p_size >= 1
        WHERE l_shipinstruct = 'DELIVER IN PERSON' AND l_shipmode IN ('AIR', 'AIR REG')
          AND CASE p_brand
              WHEN 'Brand#12' THEN p_size <= 5 AND l_quantity BETWEEN 1 AND 11
                  AND p_container IN ('SM BOX', 'SM CASE', 'SM PACK', 'SM PKG')
              WHEN 'Brand#23' THEN p_size <= 10 AND l_quantity BETWEEN 10 AND 20
                  AND p_container IN ('MED BAG', 'MED BOX', 'MED PACK', 'MED PKG')
              WHEN 'Brand#34' THEN p_size <= 15 AND l_quantity BETWEEN 20 AND 30
                  AND p_container IN ('LG BOX', 'LG CASE', 'LG PACK', 'LG PKG')
              ELSE false END""",
    20: """
        WITH shipped AS (
            SELECT l_partkey, l_suppkey, sum(l_quantity) AS quantity
            FROM lineitem
            WHERE year(l_shipdate) = 1994
            GROUP BY l_partkey, l_suppkey),
        plenty AS (
            SELECT ps_suppkey
            FROM partsupp
            LEFT SEMI JOIN part ON p_partkey = ps_partkey AND startswith(p_name, 'forest')
            JOIN shipped ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND 2 * ps_availqty > quantity)
        SELECT s_name, s_address
        FROM supplier
        JOIN nation ON n_nationkey = s_nationkey AND n_name = 'CANADA'
        LEFT SEMI JOIN plenty ON ps_suppkey = s_suppkey
        ORDER BY s_name""",
    21: """
        WITH late AS (SELECT * FROM lineitem WHERE l_receiptdate > l_commitdate)
        SELECT s_name, count(*) AS held_up
        FROM late
        JOIN supplier ON s_suppkey = late.l_suppkey
        JOIN nation ON n_nationkey = s_nationkey AND n_name = 'SAUDI ARABIA'
        LEFT SEMI JOIN orders ON o_orderkey = late.l_orderkey AND o_orderstatus = 'F'
        LEFT SEMI JOIN lineitem AS beside
            ON beside.l_orderkey = late.l_orderkey AND beside.l_suppkey <> late.l_suppkey
        LEFT ANTI JOIN late AS other ON other.l_orderkey = late.l_orderkey AND other.l_suppkey <> late.l_suppkey
        GROUP BY s_name
        ORDER BY held_up DESC, s_name
        LIMIT 100""",
    22: """
        WITH called AS (
            SELECT left(c_phone, 2) AS country, c_acctbal, c_custkey
            FROM customer
            WHERE left(c_phone, 2) IN ('13', '17', '18', '23', '29', '30', '31'))
        SELECT country, count(*) AS customers, sum(c_acctbal) AS balance
        FROM called LEFT ANTI JOIN orders ON o_custkey = c_custkey
        WHERE c_acctbal > (SELECT avg(c_acctbal) FROM called WHERE c_acctbal > 0)
        GROUP BY country
        ORDER BY country""",
}
"""The questions by number. `{scale}` stands for the scale factor, on which one threshold depends."""


def query(number: int, scale: float) -> str:
    return QUERIES[number].replace("{scale}", f"{scale:g}")


def make_tables(directory: Path, scale: float) -> None:
    """Writes `<table>.parquet` for every table into the directory, unless they are there."""
    if all((directory / f"{table}.parquet").exists() for table in TABLES):
        return
    program = Path(sys.executable).with_name("tpchgen-cli")
    generator = str(program) if program.exists() else shutil.which("tpchgen-cli")
    if generator is None:
        raise SystemExit("The tables are made by tpchgen-cli, which is not here: pip install tpchgen-cli")
    unfinished = directory.with_name(directory.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    subprocess.run([generator, "parquet", "-s", f"{scale:g}", "-o", str(unfinished), "--quiet"], check=True)
    shutil.rmtree(directory, ignore_errors=True)
    unfinished.rename(directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--scale", type=float, default=1)
    chosen = parser.parse_args()
    make_tables(chosen.directory, chosen.scale)


if __name__ == "__main__":
    main()
