#!/usr/bin/env python3
"""Planned cost of a step by each method: what the planner chooses against data parallelism, both ZeRO stages and a placement by hand.

Usage: method_costs.py [--models NAME,NAME] [--meshes 8,2x4] [--memory-gb G] [--gap G] [--out FILE.json]

Needs build/release/bin/alpa; no device. All methods are costed in the same problem of the same cluster; `by hand` is Megatron-LM's placement: the
batch over the first axis of a mesh of two, kernels over the last axis by columns, then by rows, embeddings by rows, experts over it. The planner is
free in what a hand leaves open. The row says by which factor the best of the others costs more than the planner's choice ("win"), and every plan's
objective in milliseconds; "-": that method has no plan that fits the devices' memory, or does not divide the batch."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALPA = ROOT / "build/release/bin/alpa"
TOYS = ["bert", "bert_rbg", "dlrm", "gpt", "gpt_scan", "lstm", "mlp", "moe", "unet", "vit", "wide_resnet"]
LARGE = {  # name: mesh, cluster, hosts
    "gpt_1p3b": ("2x4", "p3.16xlarge", 1),
    "moe_10b": ("2x4", "a100-dgx", 1),
    "wide_resnet_1b": ("2x4", "p3.16xlarge", 1),
    "gpt3_175b_24layers": ("8x8", "h100-dgx", 8),
    "gpt3_175b": ("8x8", "h100-dgx", 8),
    "gpt3_175b_scan": ("8x8", "h100-dgx", 8),
}
# Globs over the names of inputs (an optimizer's moments end as their parameter does), T: the axis of tensor parallelism.
TRANSFORMER = [
    "*attn.qkv.kernel=(None,T)", "*attn.qkv.bias=(T)", "*attn.out.kernel=(T,None)", "*mlp.fc1.kernel=(None,T)", "*mlp.fc1.bias=(T)",
    "*mlp.fc2.kernel=(T,None)",
]
SCAN = ["*blocks.wqkv=(None,None,T)", "*blocks.wo=(None,T,None)", "*blocks.w1=(None,None,T)", "*blocks.w2=(None,T,None)", "*wte=(T,None)"]
CONVOLUTIONS = ["*.c1.kernel=(None,None,None,T)", "*.c2.kernel=(None,None,T,None)"]
BY_HAND = {
    "bert": TRANSFORMER + ["*tok.embedding=(T,None)"],
    "bert_rbg": TRANSFORMER + ["*tok.embedding=(T,None)"],
    "dlrm": ["*fc0.kernel=(None,T)", "*table*=(T,None)"],
    "gpt": TRANSFORMER + ["*wte.embedding=(T,None)"],
    "gpt_scan": SCAN,
    "lstm": ["*Cell_*kernel=(None,T)", "*emb.embedding=(T,None)", "*out.kernel=(T,None)"],
    "mlp": ["*fc0.kernel=(None,T)", "*fc1.kernel=(T,None)", "*fc2.kernel=(None,T)", "*fc3.kernel=(T,None)"],
    "moe": TRANSFORMER + ["*moe.wi=(T,None,None)", "*moe.wo=(T,None,None)", "*wte.embedding=(T,None)"],
    "unet": ["*.c1.kernel=(None,None,None,T)", "*a.qkv.kernel=(None,T)", "*a.out.kernel=(T,None)"],
    "vit": TRANSFORMER,
    "wide_resnet": CONVOLUTIONS,
    "gpt_1p3b": TRANSFORMER + ["*wte.embedding=(T,None)"],
    "moe_10b": TRANSFORMER + ["*moe.wi=(T,None,None)", "*moe.wo=(T,None,None)", "*wte.embedding=(T,None)"],
    "wide_resnet_1b": CONVOLUTIONS,
    "gpt3_175b": TRANSFORMER + ["*wte.embedding=(T,None)"],
    "gpt3_175b_24layers": TRANSFORMER + ["*wte.embedding=(T,None)"],
    "gpt3_175b_scan": SCAN,
}
METHODS = ["data", "zero2", "zero3", "by hand"]


def files_of(model):
    folder = ROOT / "tests/data/models"
    if model in LARGE:
        return folder / "plan" / f"{model}.hlo.pb.xz", folder / "plan" / f"{model}.meta.json"
    return folder / model / "train_step.hlo.pb.xz", folder / model / "meta.json"


def by_hand(model, mesh):
    two = "x" in mesh
    constraints = [constraint.replace("T", "y" if two else "x") for constraint in BY_HAND[model]]
    if two:
        batch = [one for one in json.loads(files_of(model)[1].read_text())["inputs"] if one["role"] == "batch"]
        constraints += [f"{one['name']}=({','.join(['x'] + ['None'] * (len(one['shape']) - 1))})" for one in batch]
    return [argument for constraint in constraints for argument in ("--constraint", constraint)]


def plan(model, mesh, method, extra):
    """The plan, or the reason why there is none."""
    step, meta = files_of(model)
    arguments = ["--method", "shard", *by_hand(model, mesh)] if method == "by hand" else ["--method", method]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        command = [ALPA, "plan", step, "--meta", meta, "--mesh", mesh, "--json", path, *arguments, *extra]
        process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if process.returncode != 0:
            return None, process.stderr.strip()
        return json.load(open(path)), ""


def measure(model, mesh, extra):
    row = {"model": model, "mesh": mesh, "unit": "seconds", "objectives": {}, "refused": {}, "memory_bytes": {}}
    for method in ["shard", *METHODS]:
        found, reason = plan(model, mesh, method, extra)
        if found is None:
            row["refused"][method] = reason
            continue
        row["objectives"][method] = found["objective_seconds"]
        row["memory_bytes"][method] = found["predicted_memory_per_device_bytes"]
        if method == "shard":
            row["gap"] = found["gap"]
    others = [row["objectives"][method] for method in METHODS if method in row["objectives"]]
    ours = row["objectives"].get("shard", math.inf)
    row["win"] = min(others) / ours if others and ours else None
    return row


def milliseconds(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.4g}"


def show(rows):
    print(f"{'model':<20}{'mesh':<7}{'shard':>9}" + "".join(f"{method:>9}" for method in METHODS) + f"{'win':>7}{'gap':>8}")
    for row in rows:
        costs = [row["objectives"].get(method) for method in ["shard", *METHODS]]
        win = "-" if row["win"] is None else f"{row['win']:.3f}"
        gap = f"{100 * row['gap']:.2f} %" if "gap" in row else "-"
        print(f"{row['model']:<20}{row['mesh']:<7}" + "".join(f"{milliseconds(cost):>9}" for cost in costs) + f"{win:>7}{gap:>8}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join([*TOYS, *LARGE]))
    parser.add_argument("--meshes", default="8,2x4", help="of the toys; the large ones have theirs")
    parser.add_argument("--memory-gb")
    parser.add_argument("--gap")
    parser.add_argument("--out")
    options = parser.parse_args()
    extra = []
    for flag in ("memory_gb", "gap"):
        if getattr(options, flag):
            extra += ["--" + flag.replace("_", "-"), getattr(options, flag)]
    rows = []
    for model in options.models.split(","):
        if model not in BY_HAND:
            parser.error(f"no model {model}; there are {', '.join(BY_HAND)}")
        own = LARGE.get(model)
        cluster = ["--cluster", own[1], "--hosts", str(own[2])] if own else []
        for mesh in [own[0]] if own else options.meshes.split(","):
            rows.append(measure(model, mesh, cluster + extra))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    show(rows)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"benchmark": "method_costs", "results": rows}, indent=1) + "\n")
    worse = [row for row in rows if row["win"] is not None and row["win"] < 1]
    for row in worse:
        print(f"{row['model']} on {row['mesh']}: another method costs less than the planner's choice")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
