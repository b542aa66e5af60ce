"""How the names of Java and Scala methods are spelled in table frames.

A name says what a Spark engineer would write. Code that is equal in all executors, JVMs and runs has one name; of two
different methods in a source no difference is lost. The rules, of which all that fit apply, until none does:

```
of the class                                      becomes
a/b/C                                             a.b.C
C$$Lambda$14+0x0…/123, C$$Lambda$14/123,          C$$Lambda: numbers and addresses of hidden classes differ from JVM
  C$$Lambda.0x0…, C$$Lambda/0x0…, C$$Lambda_        to JVM
LambdaForm$MH/0x0…, C$$StringConcat/0x0…          LambdaForm$MH, C$$StringConcat: likewise
GeneratedMethodAccessor12 (or Constructor)        GeneratedMethodAccessor: numbered as they come into being
jdk.proxy2.$Proxy12, com.sun.proxy.$Proxy12       jdk.proxy.$Proxy, com.sun.proxy.$Proxy: likewise
EventHandler12_1796033998746-20713                EventHandler: likewise (flight recorder of JDK 11 to 17)
Tuple2$mcII$sp                                    Tuple2: Scala's copies of a class for primitive types
$line14.$read$$iw$$iw$$iw.C                       $line14.$read$$iw.C: one `$iw` for each import in a shell
[B, [[I, [La/b/C;                                 byte[], int[][], a.b.C[]

of the method                                     becomes
$anonfun$map$1                                    map$anonfun$1: a function in Scala, where it stands and which
$anonfun$map$1$adapted                            map$anonfun$1: the same, behind boxes
apply$mcII$sp, foreach$mVc$sp                     apply, foreach: Scala's copies for primitive types
foreach$                                          foreach: the way to a method of a trait; and private methods of
                                                    generated code
org$apache$spark$rdd$RDD$$clean                   clean, in class org.apache.spark.rdd.RDD: a private method that others
                                                    in its file call
$plus$plus$eq, value_$eq, $lessinit$greater       ++=, value_=, <init>: operators
```

Left alone: inner classes (`Executor$TaskRunner`), the `$` of a Scala object (its class may have a method of that name),
`lambda$map$1`, `convertRow$1` (a function in a method), `hash$lzycompute`, names of generated code and the stage in
them (`GeneratedClass$GeneratedIteratorForCodegenStage3.processNext`).
"""

from __future__ import annotations

import re
from typing import Final

NO_NAME: Final = "[no name]"
"""Stands for the name of a method that is empty."""

# Texts and no compiled patterns: most names need none of them, and `re` keeps those that it compiled.
_HIDDEN_CLASS: Final = r"(?:[+/.]0x[0-9a-f]+|/\d+)+$"
_LAMBDA: Final = r"\$\$Lambda(?:\$\d+(?:\.\d+)?|_)?$"
_NUMBERED: Final = (
    r"(?P<accessor>Generated(?:Method|Constructor|SerializationConstructor)Accessor)\d+$"
    r"|(?P<proxy>(?:^|(?<=\.))\$Proxy)\d+$"
    r"|(?P<handler>\.EventHandler)\d+_\d+-\d+$"
)
_PROXY_PACKAGE: Final = r"^jdk\.proxy\d+\."
_PRIMITIVES: Final = {
    "B": "byte",
    "C": "char",
    "D": "double",
    "F": "float",
    "I": "int",
    "J": "long",
    "S": "short",
    "Z": "boolean",
}
_ARRAY: Final = re.compile(r"(?P<dimensions>\[+)(?:(?P<primitive>[BCDFIJSZ])|L(?P<element>[^\[;]+);)")
_SPECIAL: Final = r"(?:\$m[BCDFIJLSVZ]*c[BCDFIJLSVZ]*\$sp)+$"
_SHELL: Final = r"(\$\$?iw)(?:\$\$?iw)+"
_FUNCTION: Final = r"\$anonfun\$(?P<owner>.+)\$(?P<number>\d+)"
_OPERATORS: Final = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "div": "/",
    "percent": "%",
    "eq": "=",
    "less": "<",
    "greater": ">",
    "bang": "!",
    "qmark": "?",
    "amp": "&",
    "bar": "|",
    "up": "^",
    "tilde": "~",
    "colon": ":",
    "at": "@",
    "hash": "#",
    "bslash": "\\",
}
# An operator is a whole name, or what follows `_` in one; `lambda$plus$0` and Kotlin's `access$minus` are none.
_OPERATOR: Final = rf"(?:^|(?<=_)|(?<=\$\$))(?:\$(?:{'|'.join(_OPERATORS)})(?![A-Za-z0-9_]))+"
_CLASS_SIGNS: Final = ("$$Lambda", "0x", "Accessor", "$Proxy", "EventHandler", "$sp", "$iw")
"""A class whose name holds none of these, nor ends in a number of its own, is spelled as it is."""
_DIGITS: Final = "0123456789"
_CONSTRUCTOR: Final = "$lessinit$greater"


def frame_name(symbol: str, method: str) -> str:
    """`package.Outer$Inner.method` of a class and a method as the JVM spells them; the class may be empty.

    Never empty, and the same for a name that is spelled so already.
    """
    owner = class_name(symbol)
    name = method_name(method, owner)
    return f"{owner}.{name}" if owner else name


def class_name(symbol: str) -> str:
    """`package.Outer$Inner` of a class as the JVM spells it. Never empty, unless the symbol is."""
    if symbol.startswith("[") and (array := _ARRAY.fullmatch(symbol)):
        element = _PRIMITIVES[array["primitive"]] if array["primitive"] else class_name(array["element"])
        return element + "[]" * len(array["dimensions"])
    if "$" not in symbol and "0x" not in symbol and not symbol[-1:].isdigit():
        return symbol.replace("/", ".")
    if not any([sign in symbol for sign in _CLASS_SIGNS]) and not symbol.rstrip(_DIGITS).endswith("/"):  # noqa: C419
        return symbol.replace("/", ".")
    name = symbol
    while (shorter := _shorter_class(name)) != name and shorter:
        name = shorter
    return name


def method_name(method: str, owner: str = "") -> str:
    """A method as its author wrote it. `owner` is its class, as `class_name` spells it."""
    if "$" not in method:
        return method or NO_NAME
    private = f"{owner.rstrip('$').replace('.', '$')}$$" if owner else ""
    name = method
    while (shorter := _shorter(name, private)) != name and shorter:
        name = shorter
    return name


def _shorter_class(name: str) -> str:
    """The class after one round of the rules. None of them makes it longer."""
    name = re.sub(_LAMBDA, "$$Lambda", re.sub(_HIDDEN_CLASS, "", name)).replace("/", ".")
    if name[-1:].isdigit() and (numbered := re.search(_NUMBERED, name)):
        name = name[: numbered.end(numbered.lastgroup or 0)]
    if "$Proxy" in name:
        name = re.sub(_PROXY_PACKAGE, "jdk.proxy.", name)
    if name.endswith("$sp"):
        name = re.sub(_SPECIAL, "", name)
    return re.sub(_SHELL, r"\1", name) if "$iw" in name else name


def _shorter(name: str, private: str) -> str:
    """The name after one round of the rules. None of them makes it longer."""
    if name.endswith("$adapted"):
        name = name.removesuffix("$adapted")
    if name.endswith("$sp"):
        name = re.sub(_SPECIAL, "", name)
    if name.endswith("$") and not name.startswith("$"):
        name = name.removesuffix("$")
    if name.startswith("$anonfun$") and (function := re.fullmatch(_FUNCTION, name)):
        name = f"{function['owner']}$anonfun${function['number']}"
    if private and name.startswith(private):
        name = name.removeprefix(private)
    if name.startswith(_CONSTRUCTOR):
        name = "<init>" + name.removeprefix(_CONSTRUCTOR)
    return re.sub(_OPERATOR, _operator, name)


def _operator(found: re.Match[str]) -> str:
    return "".join(_OPERATORS[word] for word in found[0].split("$")[1:])
