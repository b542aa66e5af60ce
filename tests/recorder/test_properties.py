import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.recorder import properties

VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cc", "Cs"]), max_size=40)
KEYS = st.from_regex(r"spark\.[a-zA-Z0-9._ :=-]{1,20}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("spark.a 1", {"spark.a": "1"}),
        ("spark.a=1\nspark.a=2", {"spark.a": "2"}),
        ("  spark.a \t:  1  ", {"spark.a": "1"}),
        ("# spark.a 1\n! spark.b 2\n\nspark.c", {"spark.c": ""}),
        ("spark.a x=y z", {"spark.a": "x=y z"}),
        ("spark.o -Da=\"b c\" -Dd='e'", {"spark.o": "-Da=\"b c\" -Dd='e'"}),
        ("spark.a one,\\\n    two,\\\n    three", {"spark.a": "one,two,three"}),
        ("spark.a 1\\\\\nspark.b 2", {"spark.a": "1\\", "spark.b": "2"}),
        ("spark.a C:\\\\temp\\t\\u00e9", {"spark.a": "C:\\temp\té"}),
        ("spark.a\\ b=1", {"spark.a b": "1"}),
        ("other.key 1\nspark.a 1\r\nspark.b 2", {"spark.a": "1", "spark.b": "2"}),
        ("spark.a 1\\", {"spark.a": "1"}),
    ],
)
def test_reads_what_java_reads(text, wanted):
    assert properties.parse(text) == wanted


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_is_written_is_read_back_as_spark_trims_it(settings):
    text = "".join(properties.line(key, value) for key, value in settings.items())
    assert properties.parse(text) == {key: value.strip(" \t\f") for key, value in settings.items()}


@given(VALUES, st.sampled_from(["spark.x last", "spark.x last\\", "# remark \\", ""]))
def test_a_line_behind_any_end_of_a_file_counts(value, end):
    text = end + "\n\n" + properties.line("spark.plugins", value)
    assert properties.parse(text)["spark.plugins"] == value.strip(" \t\f")


def test_importing_the_command_line_needs_no_reader_of_properties():
    script = "import sys, emberscope.cli.main; print('emberscope.recorder.properties' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"
