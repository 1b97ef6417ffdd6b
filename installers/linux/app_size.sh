#!/usr/bin/env bash
# Prints the size of the packaged app, and fails when it outgrew its limit.
# usage: installers/linux/app_size.sh dist/gpuscope
set -euo pipefail

limit_mb=230 # the aim is 200; beyond this something that does not belong has crept in
size_mb=$(($(du -sb "$1" | cut -f1) / 1000000))
echo "$1: $size_mb MB"
if ((size_mb > limit_mb)); then
    echo "$1 is larger than $limit_mb MB: see what build.spec lets in." >&2
    exit 1
fi
