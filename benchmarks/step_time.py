#!/usr/bin/env python3
"""Step time against plain JAX: the same step, inputs and shardings, steps of both taken in turn.

Usage: step_time.py [--models mlp,gpt,wide_resnet] [--mesh 2x4] [--steps 200] [--out FILE.json]

Needs the benchmark environment (Python 3.12; requirements/bench.txt) and build/release/bin/step_server. JAX runs `jax.jit` of the
functions of tests/data/models/generate.py with the plan's input and output shardings and donated state, xnnpack off in both."""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_cpu_use_xnnpack=false"
os.environ["JAX_PLATFORMS"] = "cpu"


def load_models():
    path = ROOT / "tests/data/models/generate.py"
    spec = importlib.util.spec_from_file_location("generate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Ours:
    """The step server: one step a call, seconds as it measured them."""

    def __init__(self, model, mesh, plan_path):
        self.process = subprocess.Popen(
            [ROOT / "build/release/bin/step_server", ROOT / "tests/data/models" / model, mesh, plan_path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit("step_server did not start")

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Jax:
    """jax.jit of the same function over flat arguments, with the plan's shardings."""

    def __init__(self, models, model, plan):
        import jax
        import numpy as np
        self.jax = jax
        step, args = models.make(models.TOY[model], False)
        groups = [tree for _, tree in args]
        leaves, tree = jax.tree.flatten(tuple(groups))
        sizes = [int(size) for size in plan["mesh"].split("x")]
        names = "xyz"[: len(sizes)]
        mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(sizes), tuple(names))

        def sharding(tensor):
            dims = [None if dim is None else tuple(dim) for dim in tensor["spec"]]
            return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*dims))

        placed = [sharding(tensor) for tensor in plan["inputs"]]
        state = len(jax.tree.leaves(tuple(groups[:-1])))

        def flat_step(*flat):
            return tuple(jax.tree.leaves(step(*jax.tree.unflatten(tree, flat))))

        self.function = jax.jit(flat_step, in_shardings=tuple(placed), donate_argnums=tuple(range(state)), keep_unused=True,
                                out_shardings=tuple(sharding(tensor) for tensor in plan["outputs"]))
        self.values = [jax.device_put(np.asarray(leaf), where) for leaf, where in zip(leaves, placed)]
        self.state = state

    def step(self):
        start = time.perf_counter()
        results = self.function(*self.values)
        self.jax.block_until_ready(results)
        seconds = time.perf_counter() - start
        self.values[: self.state] = results[: self.state]
        return seconds


def compare(models, model, mesh, steps):
    with tempfile.TemporaryDirectory() as folder:
        plan_path = os.path.join(folder, "plan.json")
        ours = Ours(model, mesh, plan_path)
        plan = json.load(open(plan_path))
        jax = Jax(models, model, plan)
        for _ in range(5):
            ours.step()
            jax.step()
        pairs = [(ours.step(), jax.step()) for _ in range(steps)]
        ours.close()
    return {
        "model": model, "mesh": mesh, "steps": steps, "unit": "seconds",
        "alpa_median": statistics.median(a for a, _ in pairs),
        "jax_median": statistics.median(b for _, b in pairs),
        "ratio_of_medians": statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs),
        "median_of_paired_ratios": statistics.median(a / b for a, b in pairs),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="mlp,gpt,wide_resnet")
    parser.add_argument("--mesh", default="2x4")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--out")
    options = parser.parse_args()
    models = load_models()
    results = []
    for model in options.models.split(","):
        results.append(compare(models, model, options.mesh, options.steps))
        print(json.dumps(results[-1]), flush=True)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"benchmark": "step_time", "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
