"""Whose Spark wrote a log, by what only that vendor's logs hold.

Sources: real logs of Databricks, EMR and RAPIDS; for the others the names of settings in the vendors' own documentation
and libraries (AWS Glue `spark.glue.JOB_RUN_ID`, Dataproc `spark.dataproc.…`, Synapse `spark.synapse.…`, Fabric
`spark.trident.…` and `trident.…`, Cloudera `spark.lineage.…` and its directories of logs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

_EVENTS: Final = (("DBCEventLoggingListenerMetadata", "databricks"),)

# The first that fits counts: Glue's Spark is EMR's, and Fabric's has settings of Synapse.
_SETTINGS: Final = (
    ("databricks", ("spark.databricks.clusterUsageTags.",)),
    ("glue", ("spark.glue.",)),
    ("emr", ("spark.emr.", "spark.sql.emr.", "spark.emr-serverless.", "spark.emr-containers.")),
    ("dataproc", ("spark.dataproc.",)),
    ("fabric", ("spark.trident.", "trident.", "spark.hadoop.trident.")),
    ("synapse", ("spark.synapse.",)),
    ("cloudera", ("spark.lineage.",)),
)

_VERSIONS: Final = (
    ("emr", re.compile(r"amzn")),
    ("cloudera", re.compile(r"cdh|cloudera|^\d+\.\d+\.\d+\.\d+\.\d+\.\d")),  # 2.4.7.7.1.7.0-551, 3.3.2.3.3.7190.0-91
)

_CLOUDERA_LOGS: Final = re.compile(r"/user/spark/(?:spark\d)?applicationHistory", re.IGNORECASE)
_RAPIDS: Final = "com.nvidia.spark.SQLPlugin"


def vendor_of(
    version: str | None, event_names: Collection[str], keys: Iterable[str], log_dir: str | None, plugins: str | None
) -> str | None:
    """databricks, emr, glue, dataproc, fabric, synapse or cloudera; rapids where its plugin runs on none of them.

    `keys` are those of all settings and properties, `log_dir` and `plugins` spark.eventLog.dir and spark.plugins. None
    for Spark as Apache releases it, and for vendors who leave no mark.
    """
    for name, vendor in _EVENTS:
        if name in event_names:
            return vendor
    known = list(keys)
    for vendor, prefixes in _SETTINGS:
        if any(key.startswith(prefixes) for key in known):
            return vendor
    for vendor, pattern in _VERSIONS:
        if version is not None and pattern.search(version):
            return vendor
    if log_dir is not None and _CLOUDERA_LOGS.search(log_dir):
        return "cloudera"
    return "rapids" if plugins is not None and _RAPIDS in plugins else None
