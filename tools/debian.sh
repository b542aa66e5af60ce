#!/bin/sh
# debian.sh WHAT PACKAGE...: installs Debian packages, where apt-get is there and may; else says what to install.
set -eu
what=$1
shift
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "installing $*" >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -q update && apt-get -q install -y --no-install-recommends "$@"; } >&2
else
    echo "$what is missing: install it (on Debian or Ubuntu: sudo apt-get install $*), then call make again." >&2
    exit 1
fi
