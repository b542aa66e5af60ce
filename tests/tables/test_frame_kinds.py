import pytest

from emberscope.profile.classify import family_of
from emberscope.tables.frame_kinds import COMPILATIONS, JAVA, java_kind


@pytest.mark.parametrize(
    ("frame_type", "kind"),
    [
        ("Interpreted", "interpreted"),
        ("JIT compiled", "jit"),
        ("Inlined", "inlined"),
        ("C1 compiled", "c1"),
        ("Native", "java"),
        ("", "java"),
    ],
)
def test_frame_types_of_the_jdk_and_of_async_profiler(frame_type, kind):
    assert java_kind(frame_type) == kind


@pytest.mark.parametrize("kind", [JAVA, *COMPILATIONS])
def test_whose_code_it_is_does_not_depend_on_how_it_was_compiled(kind):
    assert family_of("org.apache.spark.rdd.RDD.iterator", kind) == "spark_core"


def test_frames_that_are_not_java():
    assert family_of("G1ParScanThreadState::trim_queue_to_threshold", "cpp") == "gc"
    assert family_of("JavaThread::run()", "cpp") == "native"
