from __future__ import annotations

import pytest

from emberscope.rules.failures.deep_recursion import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Frames of Spark 3 and of the JDK as bug reports show them (SPARK-1006, SPARK-5955, SPARK-25603; apache/hudi).
CASES = {
    "The lineage of an RDD": (
        'Exception in thread "dag-scheduler-event-loop" java.lang.StackOverflowError\n'
        "\tat org.apache.spark.rdd.UnionRDD.getPartitions(UnionRDD.scala:96)\n\tat "
        "org.apache.spark.rdd.RDD.partitions(RDD.scala:300)"
    ),
    "The query plan": (
        "java.lang.StackOverflowError\n\tat "
        "org.apache.spark.sql.catalyst.trees.TreeNode.transformDown(TreeNode.scala:309)\n"
        "\tat org.apache.spark.sql.catalyst.trees.TreeNode.mapChildren(TreeNode.scala:351)"
    ),
    "An object is too deeply nested": (
        "24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)\njava.lang.StackOverflowError\n"
        "\tat java.io.ObjectInputStream.readObject0(ObjectInputStream.java:1535)\n"
        "\tat scala.collection.immutable.List$SerializationProxy.readObject(List.scala:490)"
    ),
    "A regular expression": (
        "java.lang.StackOverflowError\n\tat java.util.regex.Pattern$GroupHead.match(Pattern.java:4658)\n"
        "\tat java.util.regex.Pattern$Loop.match(Pattern.java:4785)"
    ),
    "Python's recursion limit": (
        'Traceback (most recent call last):\n  File "/home/u/job.py", line 9, in walk\nRecursionError: maximum '
        "recursion depth exceeded"
    ),
    "A stack overflowed by recursion": "java.lang.StackOverflowError\n\tat com.example.Tree.depth(Tree.scala:12)",
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_the_frames_tell_what_is_too_deep(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_names_the_line_of_the_program() -> None:
    (finding,) = found(RULE, run_of_log(CASES["A stack overflowed by recursion"]))
    assert finding.where.line == "Tree.scala:12"


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("StackOverflow after some hundred iterations of unions in a loop"))
    assert "lineage" in finding.title


def test_silent_on_other_errors() -> None:
    assert found(RULE, run_of_log("java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)")) == []
