"""The job of `loss.py`, whose processes die: `loss_job.py steady UNTIL_FILE` or `loss_job.py bursts UNTIL_FILE`.

Steady work, or bursts of work with pauses in which dynamic allocation lets executors go, until the file is there.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

PAUSE_SECONDS = 6


def main() -> None:
    way, until = sys.argv[1], Path(sys.argv[2])
    spark = SparkSession.builder.appName(f"loss {way}").getOrCreate()
    while not until.exists():
        for _ in range(3 if way == "bursts" else 1):
            spark.range(0, 60_000_000, 1, 6).selectExpr("sum(sqrt(id))").collect()
        if way == "bursts":
            time.sleep(PAUSE_SECONDS)
    spark.stop()


main()
