#!/bin/sh
# Prints the home of a JDK of 17 or newer: $JAVA_HOME, the javac on PATH, the newest under /usr/lib/jvm, or one that
# it installs from Debian. Whatever it does besides goes to standard error.
set -eu

is_jdk() { # whether the folder $1 holds a JDK of 17 or newer
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
    version=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9][0-9]*\).*/\1/p')
    [ "${version:-0}" -ge 17 ]
}

found() {
    on_path=$(command -v javac || true)
    for home in "${JAVA_HOME:-}" ${on_path:+"$(dirname "$(dirname "$(readlink -f "$on_path")")")"} \
        $(ls -d /usr/lib/jvm/*/ 2>/dev/null | sort -rV); do
        if [ -n "$home" ] && is_jdk "$home"; then
            echo "${home%/}"
            return
        fi
    done
    return 1
}

found && exit
"$(dirname "$0")/debian.sh" "A JDK, 17 or newer," default-jdk-headless
found || { echo "the JDK that Debian installed is older than 17: install a newer one and set JAVA_HOME." >&2 && exit 1; }
