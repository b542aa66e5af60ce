"""Names of methods as JVMs spell them and as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.tables.frame_names import class_name, frame_name, method_name

# Names as the recordings of their last column have them, the files of which are those of grafana/jfr-parser; the names
# of Spark come from recordings of its driver and executors.
NAMES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent.parent / "data" / "frames" / "names.tsv").read_text().splitlines()[1:]
]

PIECES = st.sampled_from(
    [
        *("a", "Map", "run", "$", "$$", "/", ".", "+0x7f", "/0x7f", ".0x7f", "/12", "1", "_", "", " ", "-"),
        *("$$Lambda$14", "$$Lambda", "$anonfun$", "$adapted", "$mcII$sp", "$mVc$sp", "$plus", "$eq", "$colon", "$less"),
        *("$Proxy", "$Proxy7", "jdk/proxy2/", "GeneratedMethodAccessor", ".EventHandler1_2-3", "$iw", "$$iw", "$1"),
        *("$lessinit$greater", "x_$eq", "$minus$greater", "a$B$$", "$sp", "\u03bb"),
        *("[", "[L", ";", "[]", "B"),
    ]
)
SPELLED = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=12)


@pytest.mark.parametrize(("symbol", "method", "name", "recording"), NAMES)
def test_names_of_real_recordings(symbol, method, name, recording):
    assert frame_name(symbol, method) == name
    owner, _, last = name.rpartition(".")
    assert frame_name(owner, last) == name, "a name that is spelled so already"


def test_there_are_enough_of_them_from_enough_places():
    assert len(NAMES) >= 60
    assert len({recording for *_, recording in NAMES}) >= 10


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("com/foo/Bar$$Lambda$14", "com.foo.Bar$$Lambda"),
        ("com/foo/Bar$$Lambda$14/0x0000000800c03000", "com.foo.Bar$$Lambda"),
        ("com/foo/Bar$$Lambda+0x0000000800c03000/1234", "com.foo.Bar$$Lambda"),
        ("com/foo/Bar$$Lambda_", "com.foo.Bar$$Lambda"),
        ("sun/reflect/GeneratedMethodAccessor7", "sun.reflect.GeneratedMethodAccessor"),
        (
            "sun/reflect/GeneratedSerializationConstructorAccessor12",
            "sun.reflect.GeneratedSerializationConstructorAccessor",
        ),
        ("com/sun/proxy/$Proxy12", "com.sun.proxy.$Proxy"),
        ("$Proxy12", "$Proxy"),
        ("$line14/$read$$iw$$iw$$iw$Enrich$", "$line14.$read$$iw$Enrich$"),
        ("scala.Tuple2$mcII$sp", "scala.Tuple2"),
        ("Main", "Main"),
        ("java/util/HashMap$1", "java.util.HashMap$1"),
        ("net/jpountz/xxhash/StreamingXXHash32", "net.jpountz.xxhash.StreamingXXHash32"),
        ("[B", "byte[]"),
        ("[[J", "long[][]"),
        ("[Ljava/lang/String;", "java.lang.String[]"),
        ("[[Lcom/foo/Bar$$Lambda$14/0x01;", "com.foo.Bar$$Lambda[][]"),
        ("byte[]", "byte[]"),
        ("[", "["),
        ("[Q", "[Q"),
        ("[L;", "[L;"),
        ("/12", "/12"),
        ("", ""),
    ],
)
def test_classes_of_other_jvms(symbol, name):
    assert class_name(symbol) == name


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("value_$eq", "value_="),
        ("$bang$eq", "!="),
        ("$less$tilde$greater", "<~>"),
        ("$bslash$colon", "\\:"),
        ("$up$up", "^^"),
        ("unary_$minus", "unary_-"),
        ("lambda$plus$0", "lambda$plus$0"),
        ("access$minus", "access$minus"),
        ("$plusMinus", "$plusMinus"),
        ("apply$mcVI$sp", "apply"),
        ("$anonfun$foreach$1$adapted", "foreach$anonfun$1"),
        ("$anonfun$$colon$plus$2", ":+$anonfun$2"),
        ("$anonfun$3", "$anonfun$3"),
        ("$", "$"),
        ("$adapted", "$adapted"),
        ("", "[no name]"),
        ("<init>", "<init>"),
    ],
)
def test_methods(method, name):
    assert method_name(method) == name


def test_a_private_method_loses_the_name_of_its_own_class_only():
    mangled = "org$apache$spark$rdd$RDD$$clean"
    assert method_name(mangled, "org.apache.spark.rdd.RDD") == "clean"
    assert method_name(mangled, "org.apache.spark.rdd.RDD$") == "clean"
    assert method_name(mangled, "org.apache.spark.rdd.HadoopRDD") == mangled


def test_what_tells_methods_apart_stays():
    different = [
        ("a/B", "f"),
        ("a/B$", "f"),
        ("a/B$1", "f"),
        ("a/B$2", "f"),
        ("a/B", "$anonfun$f$1"),
        ("a/B", "$anonfun$f$2"),
        ("a/B", "f$1"),
        ("a/B", "f$lzycompute"),
        ("a/B", "lambda$f$1"),
        ("a/B$$anonfun$f$1", "apply"),
        ("a/B$$anonfun$f$1", "isDefinedAt"),
    ]
    assert len({frame_name(*pair) for pair in different}) == len(different)


@given(SPELLED, SPELLED)
def test_prop_a_name_stays_as_it_is_and_is_never_empty(symbol, method):
    owner = class_name(symbol)
    assert class_name(owner) == owner
    assert bool(owner) == bool(symbol)
    name = method_name(method, owner)
    assert name
    assert method_name(name, owner) == name
    assert frame_name(symbol, method) == (f"{owner}.{name}" if owner else name)


@given(SPELLED, SPELLED)
def test_prop_no_separator_of_folded_stacks_comes_in(symbol, method):
    for character in ";\n\r":
        assert frame_name(symbol, method).count(character) <= (symbol + method).count(character)
