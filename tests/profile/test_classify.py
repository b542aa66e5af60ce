"""Names as JDK Flight Recorder and async-profiler print them, seen in recordings of Spark 3.5 and 4.3."""

import pytest
from hypothesis import given

from emberscope.profile.classify import FAMILIES, families_by_frame, family_of, operator_of, operators_by_node
from tests.profile.strategies import recording, rows

GENERATED = "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage2"
SQL = "org.apache.spark.sql.execution"


@pytest.mark.parametrize(
    ("name", "kind", "family"),
    [
        ("java.util.concurrent.ThreadPoolExecutor.runWorker", "java", "java"),
        ("jdk.internal.misc.Unsafe.park", "java", "java"),
        ("java.lang.invoke.LambdaForm$MH.invoke", "java", "java"),
        ("scala.collection.Iterator$$anon$9.hasNext", "java", "scala"),
        ("org.apache.spark.executor.Executor$TaskRunner.run", "java", "spark_core"),
        ("org.apache.spark.rdd.RDD.iterator", "java", "spark_core"),
        (f"{SQL}.BufferedRowIterator.hasNext", "java", "spark_sql"),
        ("org.apache.spark.unsafe.types.UTF8String.compare", "java", "spark_sql"),
        (f"{GENERATED}.processNext", "java", "codegen"),
        ("org.apache.spark.sql.catalyst.expressions.GeneratedClass$SpecificUnsafeProjection.apply", "java", "codegen"),
        ("org.apache.spark.shuffle.sort.BypassMergeSortShuffleWriter.write", "java", "shuffle"),
        ("org.apache.spark.storage.ShuffleBlockFetcherIterator.next", "java", "shuffle"),
        ("org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter.spill", "java", "shuffle"),
        ("org.apache.spark.api.python.BasePythonRunner$ReaderIterator.hasNext", "java", "python_border"),
        (f"{SQL}.python.BasicPythonArrowOutput$$anon$1.read", "java", "python_border"),
        ("org.apache.spark.deploy.PythonRunner$.main", "java", "python_border"),
        ("org.apache.spark.examples.SparkPi$.main", "java", "user"),
        ("com.acme.etl.Jobs$.enrich", "java", "user"),
        ("Main.main", "java", "user"),
        ("io.netty.channel.epoll.EpollEventLoop.run", "java", "library"),
        ("org.apache.parquet.column.impl.ColumnReaderBase.readValue", "java", "library"),
        ("org.sparkproject.jetty.io.ManagedSelector.select", "java", "library"),
        ("io.emberscope.ChunkShipper.ship", "java", "recorder"),
        ("app.enrich", "python", "python"),
        ("do_syscall_64", "kernel", "kernel"),
        ("__memmove_avx_unaligned_erms", "native", "native"),
        ("G1ParScanThreadState::trim_queue_to_threshold", "native", "gc"),
        ("[no stack]", "java", "none"),
    ],
)
def test_a_frame_has_the_family_of_whose_code_it_is(name, kind, family):
    assert family in FAMILIES
    assert family_of(name, kind) == family


@pytest.mark.parametrize(
    ("leaf", "operator"),
    [
        (f"{GENERATED}.hashAgg_doAggregateWithKeys_0$", "hash aggregate"),
        (f"{GENERATED}.hashAgg_doConsume_0", "hash aggregate"),
        (f"{GENERATED}$hashAgg_FastHashMap_0.findOrInsert", "hash aggregate"),
        (f"{GENERATED}.smj_findNextJoinRows_0", "sort merge join"),
        (f"{GENERATED}.bhj_doConsume_0", "broadcast hash join"),
        (f"{GENERATED}.sort_addToSorter_0", "sort"),
        (f"{GENERATED}.project_doConsume_0", "project"),
        (f"{GENERATED}.columnartorow_nextBatch_0", "columnar to row"),
        (f"{GENERATED}.generate_doConsume_0$", "generate"),
        (f"{GENERATED}.processNext", "generated code"),
        (f"{GENERATED}.wholestagecodegen_init_0_0", "generated code"),
        (f"{GENERATED}.writeFields_0_0", "generated code"),
        (f"{SQL}.window.WindowExec$$anon$1.fetchNextRow", "window"),
        (f"{SQL}.window.WindowEvaluatorFactory$WindowPartitionEvaluator$$anon$1.next", "window"),
        (f"{SQL}.aggregate.ObjectHashAggregateExec.$anonfun$doExecute$1", "object hash aggregate"),
        (f"{SQL}.aggregate.TungstenAggregationIterator.processInputs", "hash aggregate"),
        (f"{SQL}.joins.SortMergeJoinScanner.findNextInnerJoinRows", "sort merge join"),
        (f"{SQL}.exchange.BroadcastExchangeExec.$anonfun$relationFuture$1", "broadcast exchange"),
        (f"{SQL}.columnar.CachedRDDBuilder$$anon$2.next", "cache"),
        (f"{SQL}.datasources.FileScanRDD$$anon$1.hasNext", "scan"),
        (f"{SQL}.datasources.parquet.VectorizedParquetRecordReader.nextBatch", "scan"),
        (f"{SQL}.datasources.parquet.ParquetOutputWriter.write", "write of output"),
        (f"{SQL}.python.BatchEvalPythonEvaluatorFactory.evaluate", "Python"),
        ("org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter.insertRecord", "sort"),
        ("org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter.spill", "spill"),
        ("org.apache.spark.util.collection.unsafe.sort.UnsafeSorterSpillReader.loadNext", "spill"),
        ("org.apache.spark.util.collection.ExternalSorter.spillMemoryIteratorToDisk", "spill"),
        ("org.apache.spark.util.collection.ExternalSorter.insertAll", "shuffle write"),
        ("org.apache.spark.shuffle.sort.ShuffleExternalSorter.insertRecord", "shuffle write"),
        ("org.apache.spark.storage.ShuffleBlockFetcherIterator.next", "shuffle read"),
        (f"{SQL}.UnsafeRowSerializerInstance$$anon$2$$anon$3.next", "shuffle read"),
        ("org.codehaus.janino.UnitCompiler.compile2", "compilation of generated code"),
        ("org.apache.spark.sql.catalyst.optimizer.ColumnPruning$.apply", "planning"),
        (f"{SQL}.WholeStageCodegenExec$$anon$1.hasNext", None),
        (f"{SQL}.SQLExecution$.withNewExecutionId", None),
        ("java.util.HashMap.get", None),
        ("com.acme.Exec.run", None),
    ],
)
def test_a_frame_tells_of_its_operator(leaf, operator):
    assert operator_of(["java.lang.Thread.run", leaf]) == operator


def test_the_operator_nearest_to_the_leaf_works():
    pulling = [
        f"{GENERATED}.hashAgg_doAggregateWithKeys_0$",
        "org.apache.spark.storage.ShuffleBlockFetcherIterator.next",
    ]
    assert operator_of([*pulling, "sun.nio.ch.SocketChannelImpl.read"]) == "shuffle read"
    assert operator_of([pulling[0], "org.apache.spark.unsafe.map.BytesToBytesMap.safeLookup"]) == "hash aggregate"


def test_a_task_that_waits_for_its_python_worker_is_told_by_frames_not_by_state():
    stack = [
        "org.apache.spark.api.python.BasePythonRunner$ReaderIterator.hasNext",
        "org.apache.spark.api.python.BasePythonRunner$ReaderInputStream.read",
        "sun.nio.ch.EPoll.wait",
    ]
    assert operator_of(stack) == "Python"
    assert operator_of(stack[2:]) is None


@given(rows())
def test_prop_operators_by_node_are_those_of_each_stack(samples):
    samples = [{**row, "stack": [*row["stack"], f"{GENERATED}.{row['event']}_doConsume_0"]} for row in samples]
    recorded = recording(samples)
    codes, names = operators_by_node(recorded.stacks, recorded.frames)
    found = [names[code] if code >= 0 else None for code in codes[recorded.samples["stack"].fill_null(0).to_numpy()]]
    assert found == [operator_of(row["stack"]) for row in samples]
    assert len(families_by_frame(recorded.frames)) == recorded.frames.num_rows
