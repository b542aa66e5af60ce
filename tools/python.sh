#!/bin/sh
# Prints a Python of 3.11 or newer that can make virtual environments: $PYTHON where it is set, else the first on PATH.
set -eu
for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        "$name" -c 'import ensurepip' 2>/dev/null || "$(dirname "$0")/debian.sh" "Python's venv module" python3-venv
        command -v "$name"
        exit
    fi
done
echo "Emberscope needs Python 3.11 or newer: install it, or name one: make PYTHON=/path/to/python3.11." >&2
exit 1
