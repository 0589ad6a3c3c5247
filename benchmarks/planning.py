#!/usr/bin/env python3
"""Planning time: `alpa plan` as a whole process for the toy models and the plan-only programs.

Usage: planning.py [--only NAME,NAME] [--repeat 3] [--out FILE.json]. Times are whole-process wall seconds (median), peak memory is the
process's; planning seconds and gap are those that the plan states."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALPA = ROOT / "build/release/bin/alpa"
TOYS = ["bert", "bert_rbg", "dlrm", "gpt", "gpt_scan", "lstm", "mlp", "moe", "unet", "vit", "wide_resnet"]
LARGE = [  # name, mesh, cluster, hosts
    ("gpt_1p3b", "2x4", "p3.16xlarge", 1),
    ("gpt3_175b", "8x8", "h100-dgx", 8),
    ("gpt3_175b_scan", "8x8", "h100-dgx", 8),
    ("gpt3_175b_24layers", "8x8", "h100-dgx", 8),
    ("moe_10b", "2x4", "a100-dgx", 1),
    ("wide_resnet_1b", "2x4", "p3.16xlarge", 1),
    ("gpt3_175b", "8x8", "p3.16xlarge", 8),
]


def run(arguments):
    start = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), message.strip(), time.perf_counter() - start, usage.ru_maxrss / 1024


def measure(name, step, meta, extra, repeat):
    seconds, memory = [], []
    result = {"name": name, "arguments": extra, "unit": "seconds"}
    with tempfile.TemporaryDirectory() as folder:
        plan_path = os.path.join(folder, "plan.json")
        for _ in range(repeat):
            code, message, wall, peak = run([ALPA, "plan", step, "--meta", meta, "--json", plan_path, *extra])
            seconds.append(wall)
            memory.append(peak)
        result |= {"wall_median": statistics.median(seconds), "peak_mib": max(memory), "exit": code}
        if code == 0:
            plan = json.load(open(plan_path))
            result |= {"planning_seconds": plan["planning_seconds"], "gap": plan["gap"], "objective_seconds": plan["objective_seconds"]}
        else:
            result["error"] = message
    print(json.dumps(result), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    models = ROOT / "tests/data/models"
    results = []
    for name in TOYS:
        if only and name not in only:
            continue
        for mesh in ("8", "2x4", "4x2", "2x2x2"):
            step = models / name / "train_step.hlo.pb.xz"
            results.append(measure(name, step, models / name / "meta.json", ["--mesh", mesh], options.repeat))
    for name, mesh, cluster, hosts in LARGE:
        if only and name not in only:
            continue
        step = models / "plan" / f"{name}.hlo.pb.xz"
        extra = ["--mesh", mesh, "--cluster", cluster, "--hosts", str(hosts)]
        results.append(measure(name, step, models / "plan" / f"{name}.meta.json", extra, options.repeat))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"benchmark": "planning", "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
