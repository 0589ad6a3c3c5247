#!/usr/bin/env bash
# Runs the pinned clang-tidy over the files that were changed since the given commit (default: all).
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/checks/format.sh >/dev/null
if [ -n "${1:-}" ]; then files=$(git diff --name-only "$1" -- 'src/*.cc'); else files=$(git ls-files 'src/*.cc'); fi
[ -n "$files" ] || exit 0
printf '%s\n' $files | xargs -P "$(nproc)" -n 4 .venv-lint/bin/clang-tidy -p build/release --quiet
