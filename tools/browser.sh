#!/bin/sh
# Sees to it that Chromium and its driver are there for the tests that look at pages. Where they are missing and cannot
# be installed it says so, and those tests are skipped, except where CI is set.
set -eu
if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    "$(dirname "$0")/debian.sh" "Chromium with its driver" chromium chromium-driver || [ -z "${CI:-}" ]
fi
