from __future__ import annotations

from emberscope.rules.profilers.shared_output import RULE
from emberscope.tables.log_events import LOG_EVENTS
from tests.rules.profilers.pasted import answers, words_of
from tests.runs import run_of, with_rows

KEY = "spark.executor.extraJavaOptions"


def fires(options: str) -> list[str]:
    run = with_rows(run_of(conf={KEY: options}), "log_events", LOG_EVENTS.empty())
    return [finding.title for finding in RULE.check(run, RULE.limits)]


def test_a_fixed_name_in_the_executors_options_is_a_risk() -> None:
    assert fires("-agentpath:/opt/libasyncProfiler.so=start,jfr,file=/data/p.jfr,event=wall")
    assert fires("-Xss4m -XX:StartFlightRecording=duration=60s,filename=/data/p.jfr")
    assert fires("-javaagent:my-profiler.jar=file=/data/out.txt")


def test_a_name_of_its_own_for_each_process_is_none() -> None:
    assert fires("-agentpath:/opt/libasyncProfiler.so=start,jfr,file=/data/%p.jfr") == []
    assert fires("-XX:StartFlightRecording=filename=/data/{{EXECUTOR_ID}}.jfr") == []
    assert fires("-XX:StartFlightRecording=maxsize=1g") == []
    assert fires("-Xlog:gc:file=/data/gc.log") == []


def test_a_pasted_command_gets_its_own_name_as_advice() -> None:
    text = (
        'spark-submit --conf "spark.executor.extraJavaOptions=-agentpath:/x/libasyncProfiler.so=start,jfr,'
        'file=/mnt/wall.jfr,event=wall"'
    )
    said = words_of(answers(text)["P5"])
    assert "/mnt/wall-{{EXECUTOR_ID}}-%p.jfr" in said


def test_bytes_of_another_process_in_a_recording() -> None:
    # github.com/async-profiler/async-profiler/issues/1132, in other words
    found = answers("corrupted JFR: a log line overwrote bytes at 0x10, two processes had the agent")
    assert found["P5"].consequence == "blind"
