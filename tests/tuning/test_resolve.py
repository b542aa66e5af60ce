"""What becomes of advice: contradictions, versions, switches, and what the user had set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.evaluate import Ranked
from emberscope.tables.run import Run
from emberscope.tables.tasks import TASKS
from emberscope.tuning.patch import Patch, patch_of_document
from emberscope.tuning.resolve import patch_of, resolved
from tests.rules.log_lines import run_of_log
from tests.runs import run_of


def finding(code: str, *advice: Advice) -> Ranked:
    """A finding of a rule with this code; only its advice matters here."""
    rule: Rule[Any] = Rule(code, code.lower(), "0.1", (Reads(TASKS),), None, lambda run, limits: iter(()))
    said = Finding("title", "summary", Where(), (Evidence("fact", "tasks"),), advice, 1000, None, "basis", 0.8)
    return Ranked(rule, "app-1", said, "low", 0.8)


def on(version: str = "3.5.1", conf: dict[str, str] | None = None, master: str = "yarn", **hadoop: str) -> Run:
    run = run_of(conf=conf)
    run = replace(run, application=replace(run.application, spark_version=version, master=master))
    if hadoop:
        from emberscope.tables.conf import CONF

        rows = run.tables["conf"].to_pylist() + [
            {"key": key.replace("_", "."), "value": value, "scope": "hadoop"} for key, value in hadoop.items()
        ]
        run = replace(run, tables={**run.tables, "conf": CONF.from_rows(rows)})
    return run


@pytest.mark.parametrize(
    "key",
    [
        # Spark, TransportConf and LiveListenerBus: names that are put together
        "spark.shuffle.io.maxRetries",
        "spark.rpc.io.serverThreads",
        "spark.scheduler.listenerbus.eventqueue.eventLog.capacity",
    ],
)
def test_a_setting_that_spark_spells_nowhere_is_no_mistake(key: str) -> None:
    assert settings_after(on(), finding("K6", set_conf(key, "10", "More."))) == {key: "10"}


def test_what_a_log_does_not_say_of_settings_is_not_known() -> None:
    advice = finding("L3", set_conf("spark.eventLog.dir", "s3://bucket/logs", "Where applications write."))
    log = run_of_log("22/08/22 14:14:24 ERROR AppPusher: Wrong FS: s3://bucket/logs, expected: hdfs://ip:8020")
    assert settings_after(log, advice) == {"spark.eventLog.dir": "s3://bucket/logs"}
    (told,), _ = resolved([advice], on())
    assert "does nothing while spark.eventLog.enabled is false" in told.finding.advice[0].text


def settings_after(run: Run, *findings: Ranked) -> dict[str, str]:
    return patch_of(findings, run).settings


def test_white_space_within_the_options_of_the_user_stays() -> None:
    own = '-Da="x  y" -XX:+UseConcMarkSweepGC\n-Db=c'
    value = own.replace("ConcMarkSweep", "G1")
    advice = finding("C1", set_conf("spark.executor.extraJavaOptions", value, "Other collector."))
    after = settings_after(on(conf={"spark.executor.extraJavaOptions": own}), advice)
    assert after == {"spark.executor.extraJavaOptions": '-Da="x  y" -XX:+UseG1GC -Db=c'}


def test_the_dearer_finding_has_its_way_and_the_other_is_told() -> None:
    dear = finding("D1", set_conf("spark.sql.shuffle.partitions", 800, "More of them."))
    cheap = finding("D2", set_conf("spark.sql.shuffle.partitions", 50, "Fewer of them."))
    told, patch = resolved([dear, cheap], on())
    assert patch.settings == {"spark.sql.shuffle.partitions": "800"}
    assert any("D2" in note and "D1" in note for note in patch.notes)
    assert told[0] is dear
    (advice,) = told[1].finding.advice
    assert (advice.kind, advice.setting) == ("check", None)
    assert "spark.sql.shuffle.partitions=50" in advice.text


def test_no_more_memory_beside_less() -> None:
    more = finding("C1", set_conf("spark.executor.memory", "8g", "More."))
    fewer_cores = finding("C9", set_conf("spark.executor.cores", 8, "More tasks share it."))
    less = finding("C4", set_conf("spark.executor.memory", "2g", "Less."))
    run = on(conf={"spark.executor.memory": "4g", "spark.executor.cores": "4"})
    assert settings_after(run, more, fewer_cores, less) == {"spark.executor.memory": "8g"}
    assert settings_after(run, less, more) == {"spark.executor.memory": "2g"}


def test_of_two_that_ask_for_more_memory_the_larger_counts() -> None:
    a = finding("C1", set_conf("spark.executor.memory", "6g", "More."))
    b = finding("C3", set_conf("spark.executor.memory", "8192m", "Still more."))
    patch = patch_of([a, b], on(conf={"spark.executor.memory": "4g"}))
    assert patch.settings == {"spark.executor.memory": "8192m"}
    assert patch.changes[0].codes == ("C1", "C3")


def test_one_finding_pulls_one_lever() -> None:
    both = finding(
        "C3",
        set_conf("spark.executor.cores", 2, "Fewer tasks share the memory."),
        set_conf("spark.executor.memory", "16g", "More memory."),
        set_conf("spark.sql.shuffle.partitions", 999, "Or, in place of more memory, smaller partitions."),
    )
    run = on(conf={"spark.executor.cores": "4", "spark.executor.memory": "4g"})
    told, patch = resolved([both], run)
    assert patch.settings == {"spark.executor.cores": "2"}
    assert told[0].finding.advice == both.finding.advice  # the other ways stay told
    shape = finding(
        "G4",
        set_conf("spark.executor.cores", 5, "A shape."),
        set_conf("spark.executor.memory", "18g", "A shape."),
        set_conf("spark.executor.memoryOverhead", "2g", "A shape."),
    )
    assert len(settings_after(run, shape)) == 3


@pytest.mark.parametrize(
    ("setting", "value", "version", "words"),
    [
        ("spark.executor.memory", "much", "3.5.0", "no size"),
        ("spark.sql.adaptive.enabled", "yes", "3.5.0", "neither true nor false"),
        ("spark.memory.fraction", "1.5", "3.5.0", "the most"),
        ("spark.sql.shuffle.partitions", "0", "3.5.0", "less than 1"),
        ("spark.shuffel.compress", "true", "3.5.0", "spark.shuffle.compress may be meant"),
        ("spark.sql.files.maxPartitionNum", "10", "3.3.0", "Spark 3.3 has no such setting"),
        ("spark.executor.extraJavaOptions", "-Xmx8g", "3.5.0", "-Xmx"),
    ],
)
def test_what_spark_would_not_take_is_left_out(setting: str, value: str, version: str, words: str) -> None:
    patch = patch_of([finding("X1", set_conf(setting, value, "Do it."))], on(version))
    assert patch.settings == {}
    assert words in patch.notes[0]


def test_settings_of_plugins_are_left_to_them() -> None:
    advice = finding("F10", set_conf("spark.rapids.sql.explain", "NOT_ON_GPU", "Says why."))
    assert settings_after(on(), advice) == {"spark.rapids.sql.explain": "NOT_ON_GPU"}
    assert settings_after(on(), finding("F10", set_conf("spark.sql.rapid", "1", "?"))) == {}


def test_old_versions_get_the_name_that_they_know() -> None:
    advice = finding("H1", set_conf("spark.excludeOnFailure.enabled", "true", "Do it."))
    assert settings_after(on("3.5.0"), advice) == {"spark.excludeOnFailure.enabled": "true"}
    assert settings_after(on("3.0.1"), advice) == {"spark.blacklist.enabled": "true"}


def test_what_the_user_had_set_is_told() -> None:
    run = on(conf={"spark.sql.shuffle.partitions": "10"})
    patch = patch_of([finding("D1", set_conf("spark.sql.shuffle.partitions", 400, "More."))], run)
    assert patch.changes[0].old == "10"
    assert patch.changes[0].session
    assert any("you had set 10" in remark for remark in patch.remarks())


def test_what_is_so_already_is_no_change() -> None:
    run = on(conf={"spark.executor.memory": "4096M"})
    assert settings_after(run, finding("C1", set_conf("spark.executor.memory", "4g", "More."))) == {}


def test_a_switch_that_is_off_by_default_comes_along_and_one_thrown_on_purpose_is_left() -> None:
    advice = finding("B1", set_conf("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "64m", "Smaller."))
    assert settings_after(on("3.0.1"), advice)["spark.sql.adaptive.enabled"] == "true"
    assert list(settings_after(on("3.5.0"), advice)) == ["spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"]
    patch = patch_of([advice], on(conf={"spark.sql.adaptive.enabled": "false"}))
    assert patch.settings == {}
    assert "spark.sql.adaptive.enabled is false, which was set so" in patch.notes[0]


def test_details_of_what_is_off_are_left_out_unless_it_is_switched_on_too() -> None:
    detail = set_conf("spark.speculation.quantile", 0.9, "Later.")
    assert settings_after(on(), finding("B4", detail)) == {}
    both = finding("B4", detail, set_conf("spark.speculation", "true", "Start copies."))
    assert settings_after(on(), both) == {"spark.speculation.quantile": "0.9", "spark.speculation": "true"}


def test_dynamic_allocation_keeps_its_shuffle_files() -> None:
    advice = finding("A2", set_conf("spark.dynamicAllocation.enabled", "true", "Give them back."))
    tracking = "spark.dynamicAllocation.shuffleTracking.enabled"
    assert tracking in settings_after(on("3.2.0"), advice)
    assert tracking not in settings_after(on("3.2.0", {"spark.shuffle.service.enabled": "true"}), advice)
    assert settings_after(on("2.4.0"), advice)["spark.shuffle.service.enabled"] == "true"


def test_numbers_of_executors_stay_in_order() -> None:
    conf = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "10"}
    advice = finding("A2", set_conf("spark.dynamicAllocation.maxExecutors", 4, "Fewer."))
    found = settings_after(on(conf={**conf, "spark.shuffle.service.enabled": "true"}), advice)
    assert found["spark.dynamicAllocation.minExecutors"] == "4"


def test_cores_are_enough_for_a_task() -> None:
    advice = finding("C1", set_conf("spark.executor.cores", 1, "Fewer."))
    conf = {"spark.executor.cores": "4", "spark.task.cpus": "2"}
    patch = patch_of([advice], on(conf=conf))
    assert patch.settings == {"spark.executor.cores": "2"}
    assert "no task would ever run" in patch.changes[0].notes[0]


def test_heap_and_overhead_fit_the_largest_container() -> None:
    advice = finding("C1", set_conf("spark.executor.memory", "30g", "More."))
    run = on(conf={"spark.executor.memory": "8g"}, **{"yarn_scheduler_maximum-allocation-mb": "16384"})
    (change,) = patch_of([advice], run).changes
    assert change.value is not None
    heap = int(change.value.removesuffix("m"))
    assert heap + max(384, heap * 0.1) <= 16384 < heap + 1 + (heap + 1) * 0.1 + 1
    assert "16,384 MiB" in change.notes[0]


def test_settings_of_executors_do_nothing_in_local_mode() -> None:
    advice = finding("C1", set_conf("spark.executor.memory", "30g", "More."))
    patch = patch_of([advice], on(master="local[4]"))
    assert patch.settings == {}
    assert "local mode" in patch.notes[0]


def test_lists_and_options_are_added_to() -> None:
    advice = finding("X1", set_conf("spark.executor.extraJavaOptions", "-XX:+UseParallelGC", "Other collector."))
    run = on(conf={"spark.executor.extraJavaOptions": "-Da=b"})
    assert settings_after(run, advice) == {"spark.executor.extraJavaOptions": "-Da=b -XX:+UseParallelGC"}


def test_removals_are_told() -> None:
    advice = finding("G9", Advice("unset", "Nobody reads it.", "spark.locality.wait"))
    patch = patch_of([advice], on(conf={"spark.locality.wait": "10s"}))
    assert patch.removed == ("spark.locality.wait",)
    assert patch.remarks() == ["Remove spark.locality.wait, now 10s (G9)."]


def test_a_patch_survives_its_document() -> None:
    run = on(conf={"spark.executor.memory": "4g"})
    patch = patch_of([finding("C1", set_conf("spark.executor.memory", "8g", "More."))], run)
    assert patch_of_document(patch.document()) == patch
    assert patch_of([], run) == Patch("app-1")


def test_a_jvm_gets_one_collector_and_each_option_once() -> None:
    own = "-Da=b -XX:+UseConcMarkSweepGC"
    run = on(conf={"spark.executor.extraJavaOptions": own})
    for value in ("-XX:+UseG1GC", "-Da=b -XX:+UseG1GC"):
        advice = finding("C1", set_conf("spark.executor.extraJavaOptions", value, "Other collector."))
        assert settings_after(run, advice) == {"spark.executor.extraJavaOptions": "-Da=b -XX:+UseG1GC"}


def test_a_number_of_executors_becomes_a_bound_under_dynamic_allocation() -> None:
    a1 = finding("A1", set_conf("spark.dynamicAllocation.enabled", "true", "Give them back."))
    a2 = finding("A2", set_conf("spark.executor.instances", 3, "Fewer."))
    found = settings_after(on(conf={"spark.executor.instances": "8"}), a1, a2)
    assert found["spark.dynamicAllocation.maxExecutors"] == "3"
    assert "spark.executor.instances" not in found
    assert settings_after(on(conf={"spark.executor.instances": "8"}), a2) == {"spark.executor.instances": "3"}


def test_databricks_sizes_its_clusters_itself() -> None:
    run = on("3.4.1")
    run = replace(run, application=replace(run.application, vendor="databricks"))
    patch = patch_of([finding("A1", set_conf("spark.dynamicAllocation.enabled", "true", "Give them back."))], run)
    assert patch.settings == {}
    assert "workers" in patch.notes[0]


def test_values_that_came_later_are_left_out_of_older_versions() -> None:
    advice = finding("D5", set_conf("spark.io.compression.codec", "zstd", "Smaller."))
    assert settings_after(on("1.6.1"), advice) == {}
    assert settings_after(on("3.5.1"), advice) == {"spark.io.compression.codec": "zstd"}


def test_in_local_mode_the_driver_s_memory_is_that_of_the_tasks() -> None:
    both = finding(
        "C3",
        set_conf("spark.driver.memory", "2g", "More."),
        set_conf("spark.sql.shuffle.partitions", 999, "Or smaller partitions."),
        set_conf("spark.sql.adaptive.advisoryPartitionSizeInBytes", "4m", "Else they are merged."),
    )
    assert settings_after(on(master="local[4]"), both) == {"spark.driver.memory": "2g"}
