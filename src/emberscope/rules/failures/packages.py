"""Which package brings a class, a data source or a file system that Spark does not bring itself."""

from __future__ import annotations

import re
from typing import Final

# (how the class begins, what brings it). {scala} is Spark's Scala version, {spark} its version, {minor} 3.5 of 3.5.1.
_CLASSES: Final[tuple[tuple[str, str], ...]] = (
    ("org.apache.spark.sql.kafka010", "org.apache.spark:spark-sql-kafka-0-10_{scala}:{spark}"),
    ("org.apache.spark.streaming.kafka010", "org.apache.spark:spark-streaming-kafka-0-10_{scala}:{spark}"),
    ("org.apache.spark.kafka010", "org.apache.spark:spark-token-provider-kafka-0-10_{scala}:{spark}"),
    ("org.apache.kafka", "org.apache.spark:spark-sql-kafka-0-10_{scala}:{spark}"),
    ("org.apache.spark.streaming.kinesis", "org.apache.spark:spark-streaming-kinesis-asl_{scala}:{spark}"),
    ("org.apache.spark.sql.avro", "org.apache.spark:spark-avro_{scala}:{spark}"),
    ("org.apache.spark.sql.protobuf", "org.apache.spark:spark-protobuf_{scala}:{spark}"),
    ("org.apache.spark.sql.connect", "org.apache.spark:spark-connect_{scala}:{spark}"),
    ("org.apache.spark.sql.hive", "a build of Spark with Hive (spark-hive_{scala} of version {spark})"),
    ("org.apache.hadoop.hive", "a build of Spark with Hive (spark-hive_{scala} of version {spark})"),
    ("org.apache.hadoop.fs.s3a", "org.apache.hadoop:hadoop-aws of the very version of Spark's hadoop-client jars"),
    ("org.apache.hadoop.fs.azure", "org.apache.hadoop:hadoop-azure of the version of Spark's hadoop-client jars"),
    (
        "org.apache.hadoop.fs.adl",
        "org.apache.hadoop:hadoop-azure-datalake of the version of Spark's hadoop-client jars",
    ),
    ("org.apache.hadoop.fs.aliyun", "org.apache.hadoop:hadoop-aliyun of the version of Spark's hadoop-client jars"),
    ("com.amazon.ws.emr.hadoop.fs", "EMRFS, which only EMR has (its jars must be on the class path there)"),
    ("com.amazonaws", "com.amazonaws:aws-java-sdk-bundle of the version that hadoop-aws 3.3 and older was built with"),
    ("software.amazon.awssdk", "software.amazon.awssdk:bundle of the version that hadoop-aws 3.4 was built with"),
    ("com.google.cloud.hadoop.fs", "com.google.cloud.bigdataoss:gcs-connector for hadoop3"),
    ("com.google.cloud.spark.bigquery", "com.google.cloud.spark:spark-bigquery-with-dependencies_{scala}"),
    (
        "org.apache.spark.sql.delta",
        "io.delta:delta-spark_{scala} (delta-core_{scala} before 3.0) made for Spark {minor}",
    ),
    ("io.delta.storage", "io.delta:delta-storage of the version of delta-spark"),
    ("io.delta", "io.delta:delta-spark_{scala} (delta-core_{scala} before 3.0) made for Spark {minor}"),
    ("org.apache.iceberg", "org.apache.iceberg:iceberg-spark-runtime-{minor}_{scala}"),
    ("org.apache.hudi", "org.apache.hudi:hudi-spark{minor}-bundle_{scala}"),
    ("org.apache.paimon", "org.apache.paimon:paimon-spark-{minor}"),
    ("com.databricks.spark.xml", "com.databricks:spark-xml_{scala} (Spark 4 has it built in as format xml)"),
    ("com.databricks.spark.avro", "org.apache.spark:spark-avro_{scala}:{spark}, as format avro"),
    ("com.databricks.spark.csv", "Spark itself since 2.0, as format csv"),
    ("com.databricks.spark.redshift", "io.github.spark-redshift-community:spark-redshift_{scala}"),
    ("com.crealytics.spark.excel", "com.crealytics:spark-excel_{scala}"),
    ("com.mysql", "com.mysql:mysql-connector-j"),
    ("org.mariadb.jdbc", "org.mariadb.jdbc:mariadb-java-client"),
    ("org.postgresql", "org.postgresql:postgresql"),
    ("com.microsoft.sqlserver", "com.microsoft.sqlserver:mssql-jdbc"),
    ("com.microsoft.azure.eventhubs", "com.microsoft.azure:azure-eventhubs-spark_{scala}"),
    ("org.apache.spark.eventhubs", "com.microsoft.azure:azure-eventhubs-spark_{scala}"),
    ("oracle.jdbc", "com.oracle.database.jdbc:ojdbc8 or ojdbc11"),
    ("com.ibm.db2", "com.ibm.db2:jcc"),
    ("com.amazon.redshift", "com.amazon.redshift:redshift-jdbc42"),
    ("com.clickhouse", "com.clickhouse:clickhouse-jdbc"),
    ("org.h2", "com.h2database:h2"),
    ("org.sqlite", "org.xerial:sqlite-jdbc"),
    ("net.snowflake.spark", "net.snowflake:spark-snowflake_{scala} and net.snowflake:snowflake-jdbc"),
    ("net.snowflake", "net.snowflake:snowflake-jdbc"),
    ("com.mongodb", "org.mongodb.spark:mongo-spark-connector_{scala}"),
    ("org.elasticsearch", "org.elasticsearch:elasticsearch-spark-30_{scala}"),
    ("org.opensearch", "org.opensearch.client:opensearch-spark-30_{scala}"),
    ("com.datastax", "com.datastax.spark:spark-cassandra-connector_{scala}"),
    ("org.apache.hadoop.hbase", "the HBase client jars of the cluster and its Spark connector"),
    ("org.apache.phoenix", "org.apache.phoenix:phoenix5-spark3"),
    ("org.neo4j", "org.neo4j:neo4j-connector-apache-spark_{scala}"),
    ("org.graphframes", "graphframes for Spark {minor} and Scala {scala}"),
    ("org.apache.sedona", "org.apache.sedona:sedona-spark-shaded-{minor}_{scala}"),
    ("com.johnsnowlabs", "com.johnsnowlabs.nlp:spark-nlp_{scala}"),
    ("ml.dmlc.xgboost4j", "ml.dmlc:xgboost4j-spark_{scala}"),
    ("com.microsoft.azure.synapse.ml", "com.microsoft.azure:synapseml_{scala}"),
    ("com.nvidia.spark", "com.nvidia:rapids-4-spark_{scala}"),
    ("org.apache.gluten", "the Gluten bundle made for Spark {minor} and Scala {scala}"),
    ("com.hadoop.compression.lzo", "hadoop-lzo, which is not part of Hadoop (its licence is GPL)"),
    ("com.hadoop.mapreduce", "hadoop-lzo, which is not part of Hadoop (its licence is GPL)"),
    ("org.apache.spark.sql.cassandra", "com.datastax.spark:spark-cassandra-connector_{scala}"),
    ("javax.xml.bind", "jakarta.xml.bind:jakarta.xml.bind-api 2.3: Java 11 no longer has it"),
    ("javax.activation", "com.sun.activation:jakarta.activation 1.2: Java 11 no longer has it"),
    ("com.amazonaws.glue.catalog", "the Glue client for Hive's metastore, which EMR and Glue have"),
)
# The last name that Spark adds to the short name of a source that it cannot find.
_DEFAULT_SOURCE: Final = re.compile(r"\.DefaultSource$")
_FORMATS: Final = {
    "kafka": "org.apache.spark.sql.kafka010",
    "kinesis": "org.apache.spark.streaming.kinesis",
    "avro": "org.apache.spark.sql.avro",
    "delta": "org.apache.spark.sql.delta",
    "iceberg": "org.apache.iceberg",
    "hudi": "org.apache.hudi",
    "paimon": "org.apache.paimon",
    "xml": "com.databricks.spark.xml",
    "excel": "com.crealytics.spark.excel",
    "mongo": "com.mongodb",
    "mongodb": "com.mongodb",
    "snowflake": "net.snowflake.spark",
    "bigquery": "com.google.cloud.spark.bigquery",
    "redshift": "com.databricks.spark.redshift",
    "eventhubs": "org.apache.spark.eventhubs",
    "es": "org.elasticsearch",
    "cassandra": "com.datastax",
    "hive": "org.apache.spark.sql.hive",
}
_SCHEMES: Final = {
    "s3a": "org.apache.hadoop.fs.s3a",
    "s3": "org.apache.hadoop.fs.s3a",
    "s3n": "org.apache.hadoop.fs.s3a",
    "abfs": "org.apache.hadoop.fs.azure",
    "abfss": "org.apache.hadoop.fs.azure",
    "wasb": "org.apache.hadoop.fs.azure",
    "wasbs": "org.apache.hadoop.fs.azure",
    "adl": "org.apache.hadoop.fs.adl",
    "oss": "org.apache.hadoop.fs.aliyun",
    "gs": "com.google.cloud.hadoop.fs",
}
_DRIVERS: Final = {
    "mysql": "com.mysql",
    "mariadb": "org.mariadb.jdbc",
    "postgresql": "org.postgresql",
    "sqlserver": "com.microsoft.sqlserver",
    "oracle": "oracle.jdbc",
    "db2": "com.ibm.db2",
    "redshift": "com.amazon.redshift",
    "snowflake": "net.snowflake",
    "clickhouse": "com.clickhouse",
    "sqlite": "org.sqlite",
    "h2": "org.h2",
}


def package_of(name: str, spark_version: str | None) -> str | None:
    """What brings this class or data source, for this version of Spark; None where we do not know."""
    bare = _DEFAULT_SOURCE.sub("", name)
    return _package(_FORMATS.get(bare.lower(), bare), spark_version)


def package_of_scheme(scheme: str, spark_version: str | None) -> str | None:
    """What brings the file system of `scheme:`."""
    prefix = _SCHEMES.get(scheme.lower())
    return _package(prefix, spark_version) if prefix else None


def package_of_database(url_kind: str, spark_version: str | None) -> str | None:
    """What brings the driver of `jdbc:<kind>:`."""
    prefix = _DRIVERS.get(url_kind.lower())
    return _package(prefix, spark_version) if prefix else None


def scala_of(spark_version: str | None) -> str:
    """The Scala version that this Spark is mostly built with."""
    major = (spark_version or "").partition(".")[0]
    return "2.13" if major.isdecimal() and int(major) >= 4 else "2.11" if major == "2" else "2.12"


def _package(name: str, spark_version: str | None) -> str | None:
    fitting = [(prefix, what) for prefix, what in _CLASSES if name == prefix or name.startswith(prefix + ".")]
    if not fitting:
        return None
    found = re.match(r"(\d+\.\d+)\.\d+", spark_version or "")
    spark, minor = (found[0], found[1]) if found else ("<Spark's version>", "<Spark's minor version>")
    _, what = max(fitting, key=lambda one: len(one[0]))
    return what.format(scala=scala_of(spark_version), spark=spark, minor=minor)
