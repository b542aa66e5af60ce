"""What a frame is: its family (whose code it is), and the Spark operator at work in a stack.

Names decide, not thread states: a task that waits for a Python worker looks RUNNABLE to the JVM. Sources: Spark's
class and package names; the prefixes that whole-stage code generation gives its methods
(`CodegenSupport.variablePrefix`), which stand in the names of generated methods (`hashAgg_doAggregateWithKeys_0`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from emberscope.profile.ancestry import inherited, tree_arrays
from emberscope.tables.frame_kinds import CPP, JAVA, KERNEL, NATIVE, PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

FAMILIES: Final = {
    "user": "your code",
    "codegen": "generated code",
    "spark_sql": "Spark SQL",
    "shuffle": "shuffle and spill",
    "spark_core": "Spark core",
    "python_border": "border to Python",
    "python": "Python",
    "library": "libraries",
    "scala": "Scala",
    "java": "Java",
    "native": "native",
    "kernel": "kernel",
    "gc": "garbage collection",
    "recorder": "this recorder",
    "none": "no stack",
}
"""Families by name, with the words for people, in the order of a legend."""

_BY_NAME: Final = (
    ("none", r"\[no stack\]"),
    ("recorder", r"io\.emberscope\.|jdk\.jfr\.|one\.profiler\."),
    ("codegen", r".*(GeneratedClass|GeneratedIteratorForCodegenStage|SpecificUnsafeProjection|SpecificSafeProjection)"),
    (
        "python_border",
        r"org\.apache\.spark\.(api\.python\.|sql\.execution\.python\.|.*Python(Runner|Worker|UDFRunner))",
    ),
    (
        "shuffle",
        r"org\.apache\.spark\.(shuffle\.|storage\.(ShuffleBlockFetcher|DiskBlockObjectWriter|BlockObjectWriter)"
        r"|network\.shuffle|util\.collection\.(unsafe\.sort\.|External|.*Spill|PartitionedPairBuffer|PartitionedAppend)"
        r"|serializer\.|io\..*Compress|sql\.execution\.(UnsafeRowSerializer|UnsafeExternalRowSorter|exchange\.Shuffle"
        r"|ShuffledRowRDD|UnsafeKVExternalSorter))",
    ),
    ("spark_sql", r"org\.apache\.spark\.(sql|ml|unsafe|streaming|graphx|mllib)\."),
    ("spark_core", r"org\.apache\.spark\.(?!examples\.)"),
    ("scala", r"scala\."),
    ("java", r"(java|javax|jdk|sun|com\.sun|jakarta|org\.ietf\.jgss|org\.w3c\.dom|org\.xml\.sax)\."),
    (
        "library",
        r"(org\.(apache\.(?!spark\.)|sparkproject\.|codehaus\.|json4s\.|slf4j\.|eclipse\.|antlr\.|roaringbitmap\.|xerial\."
        r"|lz4\.|joda\.|jline\.|objenesis\.|glassfish\.|bouncycastle\.|postgresql\.|mariadb\.|rocksdb\.|tukaani\.)"
        r"|net\.(jpountz|razorvine|sf|minidev)\.|io\.(netty|delta|dropwizard|grpc|fabric8|airlift|prometheus|vertx)\."
        r"|com\.(ibm\.icu|fasterxml|google|esotericsoftware|twitter|codahale|github\.luben|github\.benmanes|univocity|ning"
        r"|thoughtworks|clearspring|amazonaws|microsoft|azure|databricks|zaxxer|mysql|oracle|typesafe|jcraft)\."
        r"|software\.amazon\.|py4j\.|breeze\.|dev\.ludovic\.|shaded\.|okhttp3\.|okio\.|gherkin\.|javassist\.)",
    ),
)
# HotSpot's own functions as native profilers print them.
_GC_NATIVE: Final = re.compile(
    r"(.*::)?(G1|GC[A-Z]|GCTask|Gen(Collected|Copy)|ParallelGC|ParallelCompact|ParallelScavenge|PSPromotion|PSScavenge"
    r"|PSParallel|ParScan|Par(Mark|New)|Shenandoah|Serial(Heap|GC)|DefNew|MarkSweep|Z(Mark|Relocate|Heap|Driver|Worker)"
    r"|X(Mark|Relocate|Heap|Driver)|CollectedHeap|StealTask|OldGCTask|ScavengeRoots)"
)
_FAMILY: Final = re.compile("|".join(f"(?P<{family}>{pattern})" for family, pattern in _BY_NAME))
_HIDDEN: Final = re.compile(r"Hidden|LambdaForm|\$Proxy\b|GeneratedMethodAccessor|GeneratedConstructorAccessor")


def family_of(name: str, kind: str) -> str:
    """The family of a frame, a key of `FAMILIES`. `kind` as in table frames.

    A Java frame outside the JDK, Scala, Spark and the libraries that Spark brings is the user's own code.
    """
    if kind in (PYTHON, KERNEL):
        return kind
    if kind in (NATIVE, CPP):
        return "gc" if _GC_NATIVE.match(name) else "native"
    found = _FAMILY.match(name)
    if found is not None:
        return found.lastgroup or "user"
    return "java" if _HIDDEN.match(name) else "user"


# What a frame says of the operator at work; the first that matches.
_OPERATORS: Final = (
    ("Python", r"org\.apache\.spark\.(api\.python|sql\.execution\.python)\.|org\.apache\.spark\..*Python\w*Runner"),
    (
        "spill",
        r"org\.apache\.spark\..*[.$](spill|trySpill)[\w$]*$|.*UnsafeSorterSpill(Writer|Reader|Merger)"
        r"|.*\.(ExternalSorter\$SpillReader|ExternalAppendOnlyMap\$DiskMapIterator)",
    ),
    ("write of output", r".*\.datasources\..*(FileFormatWriter|DataWriter|OutputWriter|WriteSupport|WritingSparkTask)"),
    ("write of output", r"org\.apache\.(parquet|orc|avro)\..*Writer"),
    (
        "shuffle write",
        r"org\.apache\.spark\.shuffle\.(sort\.|.*Writ)|.*\.ExternalSorter\b|.*\.exchange\.ShuffleExchangeExec\b",
    ),
    (
        "shuffle read",
        r"org\.apache\.spark\.(storage\.Shuffle|shuffle\.BlockStore|shuffle\..*Read|sql\.execution\.ShuffledRowRDD"
        r"|sql\.execution\.UnsafeRowSerializerInstance\$\$anon)",
    ),
    ("sort", r"org\.apache\.spark\..*\.(Unsafe(External|InMemory|ExternalRow)Sorter|RadixSort|TimSort|Sorter)\b"),
    ("aggregate by key (RDD)", r".*\.(ExternalAppendOnlyMap|AppendOnlyMap|SizeTrackingAppendOnlyMap)\b"),
    (
        "scan",
        r".*\.datasources\.(FileScanRDD|RecordReaderIterator|(parquet|orc|csv|json|text|jdbc|v2)\.)"
        r"|org\.apache\.(parquet|orc|avro)\.|org\.apache\.spark\.rdd\.(HadoopRDD|NewHadoopRDD)\b"
        r"|.*\.(UnivocityParser|JacksonParser|\w*ScanExec|\w*ScanExecBase)\b",
    ),
    ("cache", r"org\.apache\.spark\.(sql\.execution\.columnar\.|storage\.memory\.)"),
    (
        "compilation of generated code",
        r"org\.codehaus\.(janino|commons\.compiler)\.|.*\.CodeGenerator\$?\.(doC|c)ompile",
    ),
    (
        "planning",
        r"org\.apache\.spark\.sql\.(catalyst\.(analysis|optimizer|rules|planning|parser|plans)\."
        r"|execution\.(QueryExecution|adaptive\.AdaptiveSparkPlanExec|SparkPlanner)\b)",
    ),
    ("hash aggregate", r".*\.(TungstenAggregation|UnsafeFixedWidthAggregationMap)"),
    ("sort aggregate", r".*\.SortBasedAggregat"),
    ("object hash aggregate", r".*\.ObjectAggregation"),
    ("sort merge join", r"org\.apache\.spark\.sql\.execution\.joins\.SortMerge"),
)
_OPERATOR: Final = re.compile("|".join(f"(?P<o{i}>{pattern})" for i, (_, pattern) in enumerate(_OPERATORS)))
_GENERATED: Final = re.compile(
    r".*\bGeneratedIterator(?:ForCodegenStage\d+)?(?:\$NestedClass\d+)?[.$](?:(?P<prefix>[A-Za-z]+)_(?=[A-Za-z]))?"
)
_NODE: Final = re.compile(
    r"org\.apache\.spark\.sql\.execution\.(?:\w+\.)*(?P<name>[A-Z]\w*?)(?:Exec|EvaluatorFactory|Evaluator)\b"
)
_PREFIX_NAMES: Final = {
    "agg": "hash aggregate",
    "hashagg": "hash aggregate",
    "sortagg": "sort aggregate",
    "objecthashaggregate": "object hash aggregate",
    "bhj": "broadcast hash join",
    "shj": "shuffled hash join",
    "smj": "sort merge join",
    "bnlj": "broadcast nested loop join",
    "rdd": "scan",
    "filescan": "scan",
    "batchscan": "scan",
    "memoryscan": "cache",
    "inmemorytablescan": "cache",
    "columnartorow": "columnar to row",
    "mapelements": "map elements",
    "mappartitions": "map partitions",
    "deserializetoobject": "deserialize to object",
    "serializefromobject": "serialize from object",
    "locallimit": "limit",
    "globallimit": "limit",
}
# Names that code generation uses for what is no operator, and operators that only hand rows on.
_EMPTY_PREFIXES: Final = frozenset({"inputadapter", "wholestagecodegen"})
_EMPTY_NODES: Final = re.compile(r"WholeStageCodegen|AQEShuffleRead|Base[A-Z]|\w*QueryStage|SimpleCost|Subquery|Cached")
GENERATED_CODE: Final = "generated code"
"""The operator of a generated method that names none: several operators in one loop."""


def operator_of_frame(name: str) -> str | None:
    """The operator that this frame alone tells of, or None."""
    generated = _GENERATED.match(name)
    if generated is not None:
        prefix = (generated["prefix"] or "").lower()
        return _PREFIX_NAMES.get(prefix, prefix) if prefix and prefix not in _EMPTY_PREFIXES else GENERATED_CODE
    known = _OPERATOR.match(name)
    if known is not None and known.lastgroup is not None:
        return _OPERATORS[int(known.lastgroup[1:])][0]
    node = _NODE.match(name)
    if node is not None and not _EMPTY_NODES.match(node["name"]):
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node["name"]).lower()
    return None


def operator_of(names_root_first: Iterable[str]) -> str | None:
    """The operator at work in a stack: what the frame nearest to the leaf that tells of one says; None for none.

    Operators pull rows from each other, so the one nearest to the leaf is the one that works. Its name is in plain
    words: `hash aggregate`, `sort merge join`, `scan`, `sort`, `spill`, `shuffle read`, `shuffle write`, `Python`.
    """
    told = (operator_of_frame(name) for name in reversed(list(names_root_first)))
    return next((operator for operator in told if operator is not None), None)


def operators_by_node(stacks: pa.Table, frames: pa.Table) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """`operator_of` for every row of `stacks` at once: a number per node (-1 for none), and the names by number."""
    parents, frame_ids = tree_arrays(stacks)
    numbers: dict[str, int] = {}
    by_frame = np.full(frames.num_rows + 1, -1, np.int32)
    for row, name in enumerate(frames["name"].to_pylist()):
        operator = operator_of_frame(name)
        if operator is not None:
            by_frame[row] = numbers.setdefault(operator, len(numbers))
    return inherited(parents, by_frame[frame_ids]), tuple(numbers)


def families_by_frame(frames: pa.Table) -> list[str]:
    """The family of every row of `frames`."""
    kinds = frames["kind"].cast("string").fill_null(JAVA).to_pylist()
    return [family_of(name, kind) for name, kind in zip(frames["name"].to_pylist(), kinds, strict=True)]
