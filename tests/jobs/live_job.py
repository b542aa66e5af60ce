"""An application whose interface can be asked: jobs that ended, one that failed, one that runs until told to stop.

Arguments: the directory of event logs, a file to write the interface's URL to, a file that ends the application.
"""

import pathlib
import sys
import threading
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

log, ready, stop = sys.argv[1:4]
spark = (
    SparkSession.builder.master("local-cluster[2,1,512]")
    .appName("live-job")
    .config("spark.executor.memory", "512m")
    .config("spark.ui.port", "0")
    .config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", pathlib.Path(log).as_uri())
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.my.password", "swordfish-live")
    .getOrCreate()
)
sc = spark.sparkContext
spark.range(0, 100_000, 1, 4).groupBy((F.col("id") % 7).alias("k")).agg(F.sum("id")).collect()
sc.setJobGroup("group-1", "grouped")
sc.parallelize(range(1000), 3).map(lambda x: (x % 3, x)).groupByKey().count()
spark.range(0, 1100, 1, 1100).count()
try:
    sc.parallelize(range(4), 2).map(lambda x: x // 0).count()
except Exception as error:
    print(type(error).__name__)


def wait(rows):
    while not pathlib.Path(stop).exists():
        time.sleep(0.1)
    return rows


running = threading.Thread(target=lambda: sc.parallelize(range(2), 1).mapPartitions(wait).count())
running.start()
while not any(sc.statusTracker().getStageInfo(s).numActiveTasks for s in sc.statusTracker().getActiveStageIds()):
    time.sleep(0.1)
partial = pathlib.Path(f"{ready}.part")
partial.write_text(sc.uiWebUrl)
partial.rename(ready)
running.join()
spark.stop()
