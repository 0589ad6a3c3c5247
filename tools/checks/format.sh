#!/usr/bin/env bash
# Checks (or with --fix mends) the format of all C++ sources with the pinned clang-format.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! cmp -s requirements/lint.txt .venv-lint/.installed; then
  echo "Installing wheels into .venv-lint:" $(grep -v '^#' requirements/lint.txt)
  python3 -m venv .venv-lint
  .venv-lint/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/lint.txt
  cp requirements/lint.txt .venv-lint/.installed
fi
mode="--dry-run -Werror"
[ "${1:-}" = --fix ] && mode="-i"
git ls-files --cached --others --exclude-standard '*.h' '*.cc' | xargs .venv-lint/bin/clang-format $mode
echo "format: checked"
