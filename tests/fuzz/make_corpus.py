#!/usr/bin/env python3
"""Writes seeds for the fuzzers, from the test data: one folder a fuzzer under DIR.

    tests/fuzz/make_corpus.py DIR
"""

import lzma
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "data" / "models"

CLUSTER = """{"name": "small", "hosts": 2, "devices_per_host": 4,
 "device": {"flops_per_second": {"default": 1e12, "bf16": 4e12}, "memory_bytes": 1e10, "memory_bytes_per_second": 1e11},
 "intra_host": {"latency_seconds": 1e-6, "bytes_per_second": 1e11},
 "inter_host": {"latency_seconds": 1e-5, "bytes_per_second": 1e10}}
"""

PLAN = """{"version": 1, "program_hash": "fnv1a64:0123456789abcdef", "cluster": "local-cpu", "mesh": "2x4", "method": "shard",
 "micro_batches": 1, "objective_seconds": 0.5, "bound_seconds": 0.5, "gap": 0, "communication_seconds": 0.25,
 "planning_seconds": 1, "predicted_memory_per_device_bytes": 1024, "collectives": {"all-reduce": {"count": 2, "bytes": 64}},
 "inputs": [{"name": "x", "shape": [8, 4], "dtype": "float32", "spec": [["x", "y"], null]}],
 "outputs": [{"name": "y", "shape": [], "dtype": "float32", "spec": []}],
 "ops": {"dot.1": [["x"], ["y"]], "pair.2": {"tuple": [[null], []]}}, "operands": {"dot.1": [[null, ["x"]], [null, null]]}}
"""

SPECS = ["(None, x)", "((x+y), None)", "()", "x,None,y", "(z,)"]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])

    def seed(fuzzer: str, name: str, content: bytes) -> None:
        (out / fuzzer).mkdir(parents=True, exist_ok=True)
        (out / fuzzer / name).write_bytes(content)

    for model in ("mlp", "lstm", "gpt_scan"):
        seed("hlo_reader", model, lzma.decompress((MODELS / model / "train_step.hlo.pb.xz").read_bytes()))
    for text in sorted((ROOT / "tests" / "golden").glob("*.hlo.txt")):
        seed("hlo_text", text.name, text.read_bytes())
    seed("safetensors", "mlp", (MODELS / "mlp" / "inputs.safetensors").read_bytes())
    seed("iopddl", "example", (ROOT / "tests" / "data" / "iopddl" / "example.json").read_bytes())
    seed("cluster_json", "small", CLUSTER.encode())
    seed("plan_json", "small", PLAN.encode())
    for index, spec in enumerate(SPECS):
        seed("spec", str(index), spec.encode())


if __name__ == "__main__":
    main()
