"""Native libraries that come with Spark and with what people add to it: whose they are, and what does without them."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct


class Library(Struct, frozen=True):
    """`name` is the project, `what` what it does in Spark, `instead` (the end of a sentence) what does without it;
    `settings` are key, value and words of what turns to the other way."""

    pattern: str
    name: str
    what: str
    instead: str
    settings: tuple[tuple[str, str, str], ...] = ()


_LZ4: Final = (
    ("spark.io.compression.codec", "lz4", "Compresses shuffle, spill and broadcast without the library that crashed."),
)

_LIBRARIES: Final = (
    Library(
        r"snappyjava|snappy-",
        "snappy-java",
        "which compresses Parquet files and, where it is set, shuffle",
        "or write Parquet with zstd.",
        _LZ4,
    ),
    Library(r"zstd-jni|zstd_jni", "zstd-jni", "which compresses shuffle and event logs", "or use lz4.", _LZ4),
    Library(
        r"lz4-java|lz4jni|liblz4",
        "lz4-java",
        "which compresses shuffle, spill and broadcast",
        "or use zstd.",
        (("spark.io.compression.codec", "zstd", "Compresses shuffle without the library that crashed."),),
    ),
    Library(
        r"rocksdbjni",
        "RocksDB",
        "which holds the state of streaming queries or the History Server's store",
        "or keep the state in the default provider, on a new checkpoint.",
    ),
    Library(r"leveldbjni", "leveldbjni", "which holds the History Server's store", "or use RocksDB there."),
    Library(
        r"netty_transport_native|netty_tcnative|netty-transport",
        "Netty's native transport",
        "which carries shuffle and RPC",
        "or leave it to Java's own channels.",
        (("spark.shuffle.io.mode", "NIO", "Shuffle over Java's own channels instead of native epoll."),),
    ),
    Library(
        r"libhadoop|nativetask|libhdfs",
        "Hadoop's native code",
        "for checksums and codecs",
        "or start without it on the library path.",
    ),
    Library(
        r"cudf|rmm|nvcomp|libcuda|libcudart",
        "the RAPIDS Accelerator",
        "which runs SQL on GPUs",
        "or turn it off for this query.",
    ),
    Library(
        r"velox|gluten", "Gluten and Velox", "which run SQL in native code", "or turn the plugin off for this query."
    ),
    Library(r"comet", "DataFusion Comet", "which runs SQL in native code", "or turn the plugin off for this query."),
    Library(r"blaze|auron", "Auron (Blaze)", "which runs SQL in native code", "or turn the plugin off for this query."),
    Library(
        r"spark_columnar_jni|libspark_sql",
        "the native SQL engine",
        "which runs SQL in native code",
        "or turn the plugin off.",
    ),
    Library(r"libphoton", "Photon", "which runs SQL in native code", "or take a cluster without Photon."),
    Library(
        r"arrow.*jni|libarrow|gandiva",
        "Arrow's native code",
        "which exchanges columns with native engines",
        "or do without it.",
    ),
    Library(
        r"xgboost4j",
        "XGBoost",
        "which trains and scores models",
        "and see that one task has all the cores it asks for.",
    ),
    Library(
        r"lightgbm|lib_lightgbm", "LightGBM", "which trains and scores models", "and try a single thread per task."
    ),
    Library(
        r"tensorflow|libtorch|onnxruntime",
        "the model's runtime",
        "which scores models",
        "or score in a process of its own.",
    ),
    Library(
        r"openblas|libmkl|netlib|libblas",
        "the native linear algebra",
        "of spark.ml",
        "or leave it off the library path.",
    ),
    Library(
        r"libpython|libjep", "Python within the JVM", "started by a package", "or run it in Spark's own Python workers."
    ),
    Library(r"sqlitejdbc|libsqlite", "the SQLite driver", "a JDBC driver in native code", "or read over another one."),
    Library(
        r"crypto|libssl|conscrypt",
        "the native cryptography",
        "for TLS and encrypted shuffle",
        "or use Java's own provider.",
    ),
)


def library_of(name: str | None) -> Library | None:
    """What is known of a native library by the name of its file; None where nothing is."""
    if name is None:
        return None
    return next((one for one in _LIBRARIES if re.search(one.pattern, name, re.IGNORECASE)), None)
