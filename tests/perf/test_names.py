import pytest

from emberscope.perf.names import collapsed_frame, jit_frame
from emberscope.tables.frame_kinds import COMPILATIONS


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Lcom/foo/Bar;::baz", "com.foo.Bar.baz"),
        ("Lcom/foo/Bar;::<init>", "com.foo.Bar.<init>"),
        ("Lcom/foo/Bar$Inner;::baz(Ljava/lang/String;I)V", "com.foo.Bar$Inner.baz"),
        ("Lcom/foo/Bar;baz(I)V", "com.foo.Bar.baz"),
        ("void com.foo.Bar.baz(int)", "com.foo.Bar.baz"),
        ("java.lang.Object[] java.util.Arrays.copyOf(java.lang.Object[], int)", "java.util.Arrays.copyOf"),
        ("public static long com.foo.Bar$.apply$mcJ$sp()", "com.foo.Bar$.apply$mcJ$sp"),
        ("void com.foo.Bar$$Lambda$14+0x000000080012.run()", "com.foo.Bar$$Lambda.run"),
        ("com/foo/Bar.baz", "com.foo.Bar.baz"),
        ("Interpreter", "Interpreter"),
        ("StubRoutines (initialstubs)", "StubRoutines (initialstubs)"),
    ],
)
def test_methods_of_a_jit_map(symbol, name):
    assert jit_frame(symbol) == (name, "java")


def test_python_in_a_jit_map():
    assert jit_frame("py::Job.work:/app/job.py") == ("job.Job.work", "python")
    assert jit_frame("py::<module>:<frozen importlib._bootstrap>")[1] == "python"


@pytest.mark.parametrize(
    ("written", "name", "kind"),
    [
        ("java/lang/Thread.run_[j]", "java.lang.Thread.run", "java"),
        ("com/foo/Bar.baz_[i]", "com.foo.Bar.baz", "java"),
        ("Bar.baz_[0]", "Bar.baz", "java"),
        ("Bar.baz_[1]", "Bar.baz", "java"),
        ("Interpreter_[j]", "Interpreter", "java"),
        ("do_syscall_64_[k]", "do_syscall_64", "kernel"),
        ("java/lang/Thread.run", "java.lang.Thread.run", "java"),
        ("org.apache.spark.scheduler.Task.run", "org.apache.spark.scheduler.Task.run", "java"),
        (
            "java/lang/invoke/LambdaForm$DMH.0x00007f12.invokeStatic",
            "java.lang.invoke.LambdaForm$DMH.invokeStatic",
            "java",
        ),
        ("void com.foo.Bar.baz(int, long)", "com.foo.Bar.baz", "java"),
        ("scala.collection.mutable.Growable.++=", "scala.collection.mutable.Growable.++=", "java"),
        ("scala.Predef$ArrowAssoc$.->$extension", "scala.Predef$ArrowAssoc$.->$extension", "java"),
        ("com.acme.Job.limit_=", "com.acme.Job.limit_=", "java"),
        ("com.acme.Job.a$B$$limit_=", "com.acme.Job.a$B$$limit_=", "java"),
        ("com.acme.Job.$plus$plus_[j]", "com.acme.Job.$plus$plus", "java"),
        (
            "jdk/internal/reflect/GeneratedMethodAccessor7.invoke",
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
            "java",
        ),
        ("libstdc++.so.6", "libstdc++.so.6", "native"),
        ("std::vector<int>::operator+", "std::vector<int>::operator+", "native"),
        ("read", "read", "native"),
        ("libjvm.so", "libjvm.so", "native"),
        ("libc.so.6", "libc.so.6", "native"),
        ("JavaThread::run()", "JavaThread::run()", "native"),
        ("[Executor task launch worker-0 tid=12]", "[Executor task launch worker-0 tid=12]", "native"),
        ("operator new(unsigned long)", "operator new(unsigned long)", "native"),
        ("work (job.py:12)", "work (job.py:12)", "python"),
        ("py::work:/app/job.py", "job.work", "python"),
    ],
)
def test_frames_of_collapsed_stacks(written, name, kind):
    assert collapsed_frame(written) == (name, kind)
    assert collapsed_frame(name)[0] == name


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("a/B.c_[0]", "interpreted"),
        ("a/B.c_[1]", "c1"),
        ("a/B.c_[j]", "jit"),
        ("a/B.c_[i]", "inlined"),
        ("a/B.c", "java"),
        ("c_[k]", "kernel"),
        ("py::work:/app/job.py_[j]", "python"),
    ],
)
def test_endings_tell_how_a_method_was_compiled_where_that_is_asked_for(written, kind):
    assert collapsed_frame(written, compilation=True)[1] == kind
    assert collapsed_frame(written)[1] == ("java" if kind in COMPILATIONS else kind)
