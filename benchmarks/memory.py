#!/usr/bin/env python3
"""Memory of a device: what plans predict against the plug-in's statistics of the compiled program.

Usage: memory.py [--models mlp,gpt] [--meshes 8,2x4] [--methods shard,zero2] [--micro-batches 1,4] [--plugin PATH] [--out FILE.json]

Prints a row a plan: bytes found, and predicted / found. One device is planned with method none. --plugin: another than the default."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALPA = ROOT / "build/release/bin/alpa"
MODELS = "bert,bert_rbg,dlrm,gpt,gpt_scan,lstm,mlp,moe,unet,vit,wide_resnet"


def measure(model, mesh, method, micro_batches, plugin):
    folder = ROOT / "tests/data/models" / model
    step = "train_step" if micro_batches == 1 else "train_step_marked"
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "result.json")
        command = [ALPA, "run", folder / f"{step}.hlo.pb.xz", "--meta", folder / "meta.json", "--mesh", mesh, "--method", method,
                   "--micro-batches", str(micro_batches), "--out", out]
        done = subprocess.run(command + (["--plugin", plugin] if plugin else []), capture_output=True, text=True)
        row = {"model": model, "mesh": mesh, "method": method, "micro_batches": micro_batches}
        if done.returncode != 0:
            return row | {"error": done.stderr.strip().splitlines()[-1]}
        result = json.load(open(out))
    return row | {"found_bytes": result["memory_per_device_bytes"], "predicted_bytes": result["predicted_memory_per_device_bytes"]}


def text(row):
    head = f"{row['model']:<12} {row['mesh']:<5} {row['method']:<6} {row['micro_batches']:>2}"
    if "error" in row:
        return f"{head}  {row['error']}"
    return f"{head}  {row['found_bytes']:>10}  {row['predicted_bytes'] / row['found_bytes']:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--meshes", default="1,8,2x4")
    parser.add_argument("--methods", default="shard,data,zero2,zero3")
    parser.add_argument("--micro-batches", default="1,4")
    parser.add_argument("--plugin")
    parser.add_argument("--out")
    options = parser.parse_args()
    results = []
    for model in options.models.split(","):
        for mesh in options.meshes.split(","):
            for method in ["none"] if mesh == "1" else options.methods.split(","):
                for micro_batches in map(int, options.micro_batches.split(",")):
                    results.append(measure(model, mesh, method, micro_batches, options.plugin))
                    print(text(results[-1]), flush=True)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"benchmark": "memory", "plugin": options.plugin, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
