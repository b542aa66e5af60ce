from __future__ import annotations

from tests.rules.profilers.pasted import answers, words_of


def test_the_tools_own_words_name_the_file() -> None:
    # tools of github.com/NVIDIA/cudf-spark-tools, issue 815
    text = "ERROR Profiler: OOM error while processing large file file:/logs/app_1.Increase heap size."
    finding = answers(text)["P20"]
    assert "line by line" in words_of(finding)
    assert finding.consequence == "hint"


def test_a_tool_is_known_by_its_classes() -> None:
    text = (
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat java.io.BufferedReader.readLine"
        "(BufferedReader.java:1)"
        "\n\tat org.apache.spark.sql.rapids.tool.AppBase.processEvents(AppBase.scala:200)"
    )
    assert "P20" in answers(text)


def test_a_history_server_is_another_matter() -> None:
    text = "The history server runs out of heap while parsing large event logs; which tool helps?"
    assert "P20" not in answers(text)


def test_an_application_out_of_heap_is_none() -> None:
    text = "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.spark.sql.execution.Sort.run(Sort.scala:1)"
    assert "P20" not in answers(text)
