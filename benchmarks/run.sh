#!/usr/bin/env bash
# All benchmarks, one JSON file each in build/bench. The comparisons with plain JAX and with general solvers need Python 3.12 or newer;
# without one they are left out, which it says.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/bench
python3 benchmarks/planning.py --out build/bench/planning.json
python3 benchmarks/method_costs.py --out build/bench/method_costs.json
python3 benchmarks/memory.py --out build/bench/memory.json
build/release/bin/library_bench --benchmark_out=build/bench/library.json --benchmark_out_format=json
python3 benchmarks/solver.py tests/data/iopddl/asplos-*.json.gz --out build/bench/solver.json --charts build/bench/solver

python=""
for candidate in python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[23]*/bin/python3; do
  if command -v "$candidate" >/dev/null 2>&1; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "step_time, solver_peers: no Python 3.12 or newer on this machine: not run"
  exit 0
fi
if ! cmp -s requirements/bench.txt .venv-bench/.installed; then
  echo "Installing wheels into .venv-bench:" $(grep -v '^#' requirements/bench.txt)
  "$python" -m venv .venv-bench
  .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/bench.txt
  cp requirements/bench.txt .venv-bench/.installed
fi
.venv-bench/bin/python benchmarks/step_time.py --out build/bench/step_time.json
.venv-bench/bin/python benchmarks/solver_peers.py --out build/bench/solver_peers.json
