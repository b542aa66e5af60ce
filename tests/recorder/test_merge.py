import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.recorder.merge import joined_list, local_path, merge

OURS = {
    "spark.plugins": "io.emberscope.P",
    "spark.jars": "/e.jar",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": "file:///store/.incoming/1",
    "spark.emberscope.store": "/store",
    "spark.emberscope.events": "cpu",
}
LISTS = st.lists(st.sampled_from(["a", "b", "c", "/x.jar"]), max_size=4).map(",".join)


@pytest.mark.parametrize(
    ("users", "key", "wanted"),
    [
        ({}, "spark.plugins", "io.emberscope.P"),
        ({"spark.plugins": "X"}, "spark.plugins", "X,io.emberscope.P"),
        ({"spark.plugins": " X , Y "}, "spark.plugins", "X,Y,io.emberscope.P"),
        ({"spark.plugins": "io.emberscope.P"}, "spark.plugins", "io.emberscope.P"),
        ({"spark.jars": "a.jar,/e.jar"}, "spark.jars", "a.jar,/e.jar"),
        ({"spark.emberscope.events": "lock"}, "spark.emberscope.events", None),
        ({"spark.emberscope.store": "s3a://x"}, "spark.emberscope.store", "/store"),
    ],
)
def test_lists_grow_and_choices_stay(users, key, wanted):
    assert merge(OURS, users, forced=frozenset({"spark.emberscope.store"})).values.get(key) == wanted


def test_option_lines_and_class_paths_get_ours_behind_theirs():
    ours = {"spark.executor.extraJavaOptions": "-XX:+Ours", "spark.driver.extraClassPath": "/e.jar"}
    users = {"spark.executor.extraJavaOptions": '-Da="b c"', "spark.driver.extraClassPath": "/a:/b"}
    assert merge(ours, users).values == {
        "spark.executor.extraJavaOptions": '-Da="b c" -XX:+Ours',
        "spark.driver.extraClassPath": "/a:/b:/e.jar",
    }
    assert merge(ours, merge(ours, users).values).values == merge(ours, users).values


@given(LISTS, LISTS)
def test_a_joined_list_holds_each_entry_once_theirs_first(theirs, ours):
    entries = [entry for entry in joined_list(theirs, ours).split(",") if entry]
    assert len(entries) == len(set(entries))
    assert set(entries) == {entry for entry in f"{theirs},{ours}".split(",") if entry}
    assert entries[: len(dict.fromkeys(filter(None, theirs.split(","))))] == list(
        dict.fromkeys(filter(None, theirs.split(",")))
    )


@pytest.mark.parametrize(
    ("users", "added", "directory"),
    [
        ({}, {"spark.eventLog.enabled", "spark.eventLog.dir"}, "file:///store/.incoming/1"),
        ({"spark.eventLog.enabled": "true"}, set(), "file:///tmp/spark-events"),
        ({"spark.eventLog.enabled": "true", "spark.eventLog.dir": "hdfs:///logs"}, set(), "hdfs:///logs"),
        ({"spark.eventLog.enabled": "false"}, set(), None),
        ({"spark.eventLog.enabled": "false", "spark.eventLog.dir": "hdfs:///logs"}, set(), None),
        (
            {"spark.eventLog.dir": "hdfs:///logs"},
            {"spark.eventLog.enabled", "spark.eventLog.dir"},
            "file:///store/.incoming/1",
        ),
    ],
)
def test_the_event_log_is_switched_on_only_where_the_user_is_silent(users, added, directory):
    merged = merge(OURS, users)
    assert {key for key in merged.values if key.startswith("spark.eventLog.")} == added
    assert merged.event_log_dir == directory


def test_a_usable_directory_of_the_user_is_kept_where_the_log_is_switched_on(tmp_path):
    merged = merge(OURS, {"spark.eventLog.dir": tmp_path.as_uri()})
    assert merged.event_log_dir == tmp_path.as_uri()
    assert "spark.eventLog.dir" not in merged.values
    assert merged.values["spark.eventLog.enabled"] == "true"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file:///a%20b", "/a b"),
        ("hdfs://host/a", None),
        ("s3a://bucket/a", None),
    ],
)
def test_only_local_uris_have_a_path(uri, path):
    assert local_path(uri) == path
