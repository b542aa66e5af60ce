import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.recorder.submit_arguments import options, properties_file, settings, with_settings

TOKENS = st.lists(
    st.sampled_from(
        ["--conf", "spark.plugins=a", "--conf=spark.jars=x.jar", "-c", "--jars", "y.jar", "--master", "local", "-v",
         "app.py", "--class", "--unknown", "--supervise"]
    ),
    max_size=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("--conf spark.a=1 app.py", {"spark.a": "1"}),
        ("--conf=spark.a=1 app.py", {"spark.a": "1"}),
        ("-c spark.a=b=c app.py", {"spark.a": "b=c"}),
        ("--conf spark.a=1 --conf spark.a=2 app.py", {"spark.a": "2"}),
        ("--jars x.jar,y.jar app.py", {"spark.jars": "x.jar,y.jar"}),
        ("--jars=x.jar --conf spark.jars=z.jar app.py", {"spark.jars": "x.jar"}),
        ("--driver-java-options -Da=b app.py", {"spark.driver.extraJavaOptions": "-Da=b"}),
        ("--driver-class-path /a:/b app.py", {"spark.driver.extraClassPath": "/a:/b"}),
        ("--master local[2] -v --supervise app.py --conf spark.a=1", {"spark.master": "local[2]"}),
        ("app.py --conf spark.a=1 --jars x.jar", {}),
        ("", {}),
        ("--conf", {}),
        ("--conf spark.noequals app.py", {}),
    ],
)
def test_settings_up_to_the_primary_resource(line, wanted):
    assert settings(line.split()) == wanted


def test_a_shell_goes_on_behind_what_it_does_not_know():
    assert settings(["-i", "init.scala", "--conf", "spark.a=1"], program="spark-shell") == {"spark.a": "1"}
    assert settings(["-e", "select 1", "--jars", "x.jar"], program="spark-sql") == {"spark.jars": "x.jar"}


@pytest.mark.parametrize("line", ["--properties-file p.conf app.py", "--properties-file=p.conf app.py"])
def test_the_properties_file_is_found(line):
    assert properties_file(line.split()) == "p.conf"


def test_a_properties_file_of_the_application_is_not_sparks():
    assert properties_file(["app.py", "--properties-file", "p.conf"]) is None


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("app.py a b", "--conf spark.plugins=P --conf spark.jars=J app.py a b"),
        ("--conf spark.plugins=X app.py", "--conf spark.jars=J --conf spark.plugins=P app.py"),
        ("--conf=spark.plugins=X app.py", "--conf spark.jars=J --conf=spark.plugins=P app.py"),
        ("-c spark.plugins=X app.py", "--conf spark.jars=J -c spark.plugins=P app.py"),
        ("--jars x.jar app.py --jars y.jar", "--conf spark.plugins=P --jars J app.py --jars y.jar"),
        ("--jars=x.jar app.py", "--conf spark.plugins=P --jars=J app.py"),
        (
            "--conf spark.plugins=X --conf spark.plugins=Y app.py",
            "--conf spark.jars=J --conf spark.plugins=P --conf spark.plugins=P app.py",
        ),
    ],
)
def test_values_are_replaced_in_place_or_put_first(line, wanted):
    assert with_settings(line.split(), {"spark.plugins": "P", "spark.jars": "J"}) == wanted.split()


@given(TOKENS, st.sampled_from(["spark-submit", "spark-shell"]))
def test_whatever_the_line_the_settings_hold_and_the_rest_stays(line, program):
    values = {"spark.plugins": "P", "spark.jars": "J"}
    changed = with_settings(line, values, program=program)
    held = settings(changed, program=program)
    assert held["spark.plugins"] == "P"
    assert held["spark.jars"] == "J"
    assert {k: v for k, v in held.items() if k not in values} == {
        k: v for k, v in settings(line, program=program).items() if k not in values
    }
    rest = max((o.index + (not o.joined) for o in options(line, program=program)), default=-1) + 1
    assert changed[len(changed) - len(line) + rest :] == line[rest:]
