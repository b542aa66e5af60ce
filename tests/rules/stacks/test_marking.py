from __future__ import annotations

import pytest

from emberscope.rules.stacks.marking import NONE, marks_of
from emberscope.rules.stacks.patterns import PATTERNS
from emberscope.tables.stack_tree import StackTree
from tests.rules.stacks.profiles import TASK, USER


def code_of(*frames: str) -> str | None:
    """The code of the pattern that has a stack under a task."""
    tree = StackTree()
    # Other stacks before it, so that node numbers are not depths.
    tree.node([tree.frame(name) for name in ("a", "b", "c")])
    node = tree.node([tree.frame(name) for name in (TASK, *frames)])
    found = marks_of(*tree.tables(), PATTERNS).pattern[node]
    return None if found == NONE else PATTERNS[found].code


@pytest.mark.parametrize(
    ("code", "frames"),
    [
        (None, [USER]),
        (None, ["java.util.HashMap.get"]),
        (
            "S1",
            [USER, "java.lang.String.replaceAll", "java.util.regex.Pattern.compile", "java.util.regex.Pattern.<init>"],
        ),
        ("S2", [USER, "java.util.regex.Matcher.find", "java.util.regex.Pattern$Start.match"]),
        ("S3", [USER, "java.lang.Long.valueOf"]),
        ("S4", ["org.apache.spark.sql.catalyst.CatalystTypeConverters$StructConverter.toScala"]),
        ("S6", [USER, "com.amazonaws.client.builder.AwsSyncClientBuilder.build", "java.util.HashMap.put"]),
        ("S6", [USER, "com.zaxxer.hikari.HikariDataSource.<init>"]),
        ("S8", [USER, "org.joda.time.format.DateTimeFormatter.parseDateTime"]),
        (
            "S9",
            [
                "org.apache.hadoop.fs.s3a.S3AFileSystem.listStatus",
                "com.amazonaws.services.s3.AmazonS3Client.listObjects",
            ],
        ),
        ("S13", ["org.apache.spark.SparkEnv.createPythonWorker", "java.io.FileInputStream.readBytes"]),
        ("S16", ["com.github.luben.zstd.ZstdOutputStreamNoFinalizer.compressStream"]),
        (None, ["net.jpountz.lz4.LZ4JNI.LZ4_compress_limitedOutput"]),
        ("S24", ["org.codehaus.janino.Parser.parse"]),
    ],
)
def test_frames_mark_their_hot_spot_and_all_below_it(code: str | None, frames: list[str]) -> None:
    assert code_of(*frames) == code


def test_what_is_made_keeps_what_it_does_while_it_is_made() -> None:
    """A client that reads JSON, compiles patterns and logs while it is made is a client that is made."""
    client = "software.amazon.awssdk.core.client.builder.SdkDefaultClientBuilder.build"
    for inner in ("com.fasterxml.jackson.core.JsonFactory.createParser", "java.util.regex.Pattern.compile"):
        assert code_of(USER, client, inner, "java.lang.String.charAt") == "S6"
    assert code_of(USER, "java.text.SimpleDateFormat.<init>", "java.util.regex.Pattern.compile") == "S5"


def test_among_equals_the_one_nearest_to_the_leaf_has_the_stack() -> None:
    json, regex = "com.fasterxml.jackson.databind.ObjectMapper.readValue", "java.util.regex.Matcher.find"
    assert code_of(USER, json, regex) == "S2"
    assert code_of(USER, regex, json) == "S15"
    assert code_of(USER, json, "java.lang.Long.valueOf") == "S15"


def test_java_serialisation_of_closures_and_results_is_no_matter_of_rows() -> None:
    spark, java = "org.apache.spark.serializer.", "java.io.ObjectOutputStream.writeObject"
    assert code_of(spark + "JavaSerializationStream.writeObject", java) == "S7"
    assert (
        code_of(spark + "JavaSerializerInstance.serialize", spark + "JavaSerializationStream.writeObject", java) is None
    )
    tree = StackTree()
    node = tree.node([tree.frame(name) for name in ("org.apache.spark.rpc.netty.Inbox.process", java)])
    assert marks_of(*tree.tables(), PATTERNS).pattern[node] == NONE


def test_the_entry_is_where_the_marked_part_begins() -> None:
    tree = StackTree()
    compile_ = [
        tree.frame(name) for name in (USER, "java.util.regex.Pattern.compile", "java.util.regex.Pattern.<init>")
    ]
    leaf = tree.node([*compile_, tree.frame("java.lang.String.charAt")])
    entry = marks_of(*tree.tables(), PATTERNS).entry[leaf]
    assert entry == tree.node(compile_[:2])


def test_a_tree_without_stacks_has_no_hot_spot() -> None:
    found = marks_of(*StackTree().tables(), PATTERNS)
    assert found.pattern.tolist() == [NONE]
