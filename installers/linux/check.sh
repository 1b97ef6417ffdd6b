#!/usr/bin/env bash
# Every check of the source tree: style, types, layers, tests. Stops at the first that fails.
set -euo pipefail

cd "$(dirname "$0")/../.."
bin=.venv/bin
# Deterministic and without a screen, wherever it runs.
export QT_QPA_PLATFORM=offscreen

step() {
    echo "== $1"
    shift
    "$@"
}

step "ruff check" $bin/ruff check .
step "ruff format" $bin/ruff format --check .
step "mypy" $bin/mypy
step "import-linter" $bin/lint-imports
step "pytest" $bin/python -m pytest --numprocesses 2 --dist loadfile
