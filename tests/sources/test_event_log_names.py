import shutil

import pytest

from emberscope.sources.event_log_names import bare_name, log_names
from emberscope.sources.load import find_inputs
from emberscope.sources.run import LEFT_LOG, load_run
from tests.sources.stored import APP_ID, LOG, add_application, whole_run


@pytest.mark.parametrize(
    ("app_id", "attempt", "log"),
    [
        ("app-1", None, "app-1"),
        ("app-1", None, "app-1.lz4.inprogress"),
        ("app-1", "1", "app-1"),
        ("application_1_2", "2", "eventlog_v2_application_1_2_2"),
        ("Spark:x.Y", None, "spark-x_y.zstd"),
    ],
)
def test_names_of_logs(app_id, attempt, log):
    assert bare_name(log) in log_names(app_id, attempt)


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("store/.incoming/i1", True),
        ("store/.incoming/i1", False),
        ("store/eventlogs", True),
        ("store/eventlogs", False),
        ("elsewhere", True),
    ],
)
def test_a_log_that_nobody_collected_is_read_where_it_lies(tmp_path, place, named):
    run = whole_run(tmp_path / "store")
    (tmp_path / place).mkdir(parents=True)
    shutil.move(run / "eventlog" / APP_ID, tmp_path / place / f"{APP_ID}.inprogress")
    shutil.copy(LOG, tmp_path / place / "app-of-somebody-else")
    add_application(run, event_log_dir=(tmp_path / place).as_uri() if named else "file:///not/there/any/more")
    read = load_run(str(run))
    assert read.application.app_id == APP_ID
    assert read.tables["tasks"].num_rows > 0
    notes = [note for note in read.coverage.notes if note.code in ("limited", "not_recorded")]
    assert [(note.message, note.where) for note in notes] == [
        (LEFT_LOG, str(tmp_path / place / f"{APP_ID}.inprogress"))
    ]


def test_a_store_with_nothing_but_a_log_that_arrived_gives_that_log(tmp_path):
    (tmp_path / ".incoming/i1").mkdir(parents=True)
    shutil.copy(LOG, tmp_path / ".incoming/i1" / APP_ID)
    found, problems = find_inputs(str(tmp_path))
    assert [(item.kind, item.path) for item in found] == [("event_log", str(tmp_path / ".incoming/i1" / APP_ID))]
    assert problems == []
