#!/bin/sh
# Trains the gpt fixture on one device and, planned automatically, on eight; shows the plan, both loss curves and step times.
# Usage: tools/demo.sh [steps]      ALPA names the command; by default the one of the release preset.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
alpa=${ALPA:-$root/build/release/bin/alpa}
steps=${1:-30}
model=$root/tests/data/models/gpt

if [ ! -x "$alpa" ]; then
  echo "demo: $alpa is not there: build it by 'cmake --preset release && cmake --build --preset release --target alpa'" >&2
  exit 1
fi

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
title() { printf '\n%s== %s ==%s\n\n' "$bold" "$1" "$plain"; }

title "A GPT training step (4 layers, AdamW), exported from JAX for one device"
"$alpa" show "$model/train_step.hlo.pb.xz" --stats | sed -n '3,/bytes read/p'

title "One device, unsharded: $steps steps"
"$alpa" run "$model/train_step.hlo.pb.xz" --meta "$model/meta.json" --inputs "$model/inputs.safetensors" \
  --steps "$steps" --method none --out "$results/one-device.json" >"$results/one-device.txt"
sed -n '/^Memory of a device/p; /step time/p' "$results/one-device.txt"

title "Eight devices, planned automatically over every mesh of eight: $steps steps"
cd "$results"
"$alpa" run "$model/train_step.hlo.pb.xz" --meta "$model/meta.json" --inputs "$model/inputs.safetensors" \
  --steps "$steps" --devices 8 --compare one-device.json --plot

printf '\nThe eight devices are virtual: they share the %s cores of this machine, so the step is not faster here.\n' "$(nproc)"
