#!/bin/sh
# Builds the recorder's jar with plain javac against the jars that pyspark brings: src/emberscope/recorder/emberscope-recorder.jar
# Reads: PYTHON (an interpreter that has pyspark), SPARK_JARS (a directory of jars, instead), JAVA_HOME.
# Does nothing when the jar is newer than all that goes into it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar="$here/../src/emberscope/recorder/emberscope-recorder.jar"
inputs="$here/src $here/build.sh $here/../src/emberscope/__init__.py"

# shellcheck disable=SC2086 # the inputs are separate words
if [ -f "$jar" ] && [ -z "$(find $inputs -newer "$jar" -print | head -n 1)" ]; then
    exit 0
fi

javac=
for candidate in "${JAVA_HOME:-}/bin/javac" "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac; do
    if [ -x "$candidate" ] && "$candidate" -version >/dev/null 2>&1; then
        javac=$candidate
        break
    fi
done
if [ -z "$javac" ]; then
    echo "No Java compiler was found: install a JDK 17 (Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME to one." >&2
    exit 1
fi

python=${PYTHON:-"$here/../.venv/bin/python"}
if [ -z "${SPARK_JARS:-}" ]; then
    SPARK_JARS=$("$python" -c 'import importlib.util as u; print(u.find_spec("pyspark").submodule_search_locations[0])' 2>/dev/null)/jars || {
        echo "No pyspark was found by $python: install it with pip, or set SPARK_JARS to a directory of Spark's jars." >&2
        exit 1
    }
fi
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$here/../src/emberscope/__init__.py")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/classes"
# Java 8 is the floor. What needs jdk.jfr is compiled apart: that package is not in the compiler's picture of Java 8.
"$javac" --release 8 -nowarn -Xlint:-options -encoding UTF-8 -cp "$SPARK_JARS/*" -d "$work/classes" \
    "$here"/src/main/io/emberscope/*.java
"$javac" -source 8 -target 8 -nowarn -Xlint:-options -encoding UTF-8 -cp "$work/classes:$SPARK_JARS/*" -d "$work/classes" \
    "$here"/src/jfr/io/emberscope/*.java
{
    printf 'Implementation-Title: emberscope\nImplementation-Version: %s\n' "$version"
    printf 'Premain-Class: io.emberscope.RetransformAgent\nCan-Retransform-Classes: true\n'
} >"$work/manifest"
"$(dirname "$(readlink -f "$javac")")/jar" cfm "$work/new.jar" "$work/manifest" -C "$work/classes" io
mv "$work/new.jar" "$jar"
