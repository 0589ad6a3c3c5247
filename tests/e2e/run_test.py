"""`alpa run`: right numbers, and files of the form that users rely on."""

import json
import math
import os
import pathlib
import re

from command import (MLP, MODELS, CommandTest, alpa, floats, read_safetensors, step_of, unpacked,
                     write_safetensors)

RESULT_FIELDS = ["losses", "step_seconds", "planning_seconds", "compile_seconds", "collectives",
                 "memory_per_device_bytes", "predicted_memory_per_device_bytes", "objective", "bound", "gap", "plan"]
PLAN_FIELDS = {"version", "program_hash", "cluster", "mesh", "method", "micro_batches", "objective_seconds",
               "bound_seconds", "gap", "planning_seconds", "predicted_memory_per_device_bytes", "collectives",
               "inputs", "outputs", "ops"}


class Runs(CommandTest):
    def run_model(self, model, *options, steps=3, form="hlo.pb"):
        """result.json of a run, and what it saved."""
        out, save = self.folder / "result.json", self.folder / "saved.safetensors"
        result = self.succeed("run", *step_of(model, form), "--inputs", MODELS / model / "inputs.safetensors",
                              "--steps", steps, "--out", out, "--save", save, *options)
        self.assertEqual(result.stderr, "")
        return json.loads(out.read_text()), read_safetensors(save), result.stdout

    def check_numbers(self, model, result, saved):
        expected = read_safetensors(MODELS / model / "expected.safetensors")
        for mine, theirs in zip(result["losses"], floats(expected["loss"]), strict=True):
            self.assertLess(abs(mine - theirs), 1e-4 * abs(theirs))
        for name, tensor in expected.items():
            if name == "loss":
                continue
            self.assertEqual(saved[name][:2], tensor[:2], name)
            largest = max(map(abs, floats(tensor)))
            worst = max(abs(a - b) for a, b in zip(floats(saved[name]), floats(tensor), strict=True))
            self.assertLessEqual(worst, 1e-2 * largest, name)

    def check_result(self, result, steps, devices):
        self.assertEqual(list(result), RESULT_FIELDS)
        self.assertEqual(len(result["losses"]), steps)
        self.assertEqual(len(result["step_seconds"]), steps)
        for field in ("planning_seconds", "compile_seconds", "objective", "memory_per_device_bytes"):
            self.assertGreater(result[field], 0, field)
        self.assertGreaterEqual(result["gap"], 0)
        self.assertLessEqual(result["bound"], result["objective"])
        for kind, totals in result["collectives"].items():
            self.assertEqual(sorted(totals), ["bytes", "count", "predicted_bytes", "predicted_count"], kind)
        self.assertEqual(set(result["collectives"]) >= set(result["plan"]["collectives"]), True)
        self.assertGreaterEqual(set(result["plan"]), PLAN_FIELDS)
        self.assertEqual(math.prod(map(int, result["plan"]["mesh"].split("x"))), devices)

    def test_shard_on_2x4(self):
        result, saved, text = self.run_model("mlp", "--mesh", "2x4")
        self.check_numbers("mlp", result, saved)
        self.check_result(result, 3, 8)
        meta = json.loads((MLP / "meta.json").read_text())
        self.assertEqual(set(saved), {output["name"] for output in meta["outputs"]})
        found = sum(one["bytes"] for one in result["collectives"].values())
        predicted = sum(one["predicted_bytes"] for one in result["collectives"].values())
        self.assertLessEqual(abs(found - predicted), 0.1 * predicted)
        for part in ("params.fc1.kernel", "f32[256,256]", "all-reduce", "Memory of a device", "step time: median"):
            self.assertIn(part, text)

    def test_the_other_plugin(self):
        wheel = "lib/python3*/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
        wheels = sorted(pathlib.Path(os.environ["ALPA_VENV"]).glob(wheel))
        if not wheels:
            self.skipTest("its wheel is not installed")
        result, saved, _ = self.run_model("mlp", "--mesh", "8", "--plugin", wheels[0])
        self.check_numbers("mlp", result, saved)

    def test_methods_and_every_factorization(self):
        for options, mesh in ((["--method", "none"], "1"), (["--method", "data"], "8"), ([], None)):
            result, saved, _ = self.run_model("mlp", *options)
            self.check_numbers("mlp", result, saved)
            self.check_result(result, 3, 1 if mesh == "1" else 8)
            if mesh:
                self.assertEqual(result["plan"]["mesh"], mesh)
            if mesh == "1":
                self.assertEqual(result["collectives"], {})
            if mesh == "8":  # data parallelism: parameters whole, gradients reduced
                self.assertIn("all-reduce", result["collectives"])
                specs = {one["name"]: one["spec"] for one in result["plan"]["inputs"]}
                self.assertEqual(specs["params.fc1.kernel"], [None, None])
                self.assertEqual(specs["batch.x"], [["x"], None])

    def test_stablehlo_and_hlo_proto(self):
        result, saved, _ = self.run_model("mlp", "--mesh", "4", form="mlir")
        self.check_numbers("mlp", result, saved)
        module = unpacked(MLP / "train_step.hlo.pb.xz")
        size, varint = len(module), b""
        while size:
            varint += bytes([size & 127 | (128 if size > 127 else 0)])
            size >>= 7
        wrapped = self.write("wrapped.pb", b"\x0a" + varint + module)
        out = self.folder / "wrapped.json"
        self.succeed("run", wrapped, "--meta", MLP / "meta.json", "--inputs", MLP / "inputs.safetensors",
                     "--mesh", "4", "--out", out)
        self.assertAlmostEqual(json.loads(out.read_text())["losses"][0], result["losses"][0], places=5)

    def test_stored_plan(self):
        plan = self.folder / "plan.json"
        self.succeed("plan", *step_of("mlp"), "--mesh", "2x2", "--constraint", "params.fc1.kernel=(None,y)",
                     "--json", plan)
        result, saved, _ = self.run_model("mlp", "--plan", plan)
        self.check_numbers("mlp", result, saved)
        self.assertEqual(result["plan"], json.loads(plan.read_text()))
        specs = {one["name"]: one["spec"] for one in result["plan"]["inputs"]}
        self.assertEqual(specs["params.fc1.kernel"], [None, ["y"]])

    def test_stored_plan_of_a_cluster_that_keeps_its_name(self):
        cluster = json.loads(self.succeed("devices", "--cluster", "h100-dgx").stdout)
        cluster["intra_host"] = {"latency_seconds": 1e-9, "bytes_per_second": 1e9}
        mine, plan = self.write("mine.json", json.dumps(cluster)), self.folder / "plan.json"
        self.succeed("plan", *step_of("moe"), "--mesh", "2x2x2", "--cluster", mine, "--json", plan)
        result, _, _ = self.run_model("moe", "--plan", plan, steps=1)
        for kind, total in result["collectives"].items():  # one scalar sum more is merged than is predicted
            self.assertLessEqual(total["bytes"], total["predicted_bytes"], kind)
            self.assertGreater(total["bytes"], 0.999 * total["predicted_bytes"], kind)
        self.run_model("moe", "--plan", plan, "--cluster", mine, steps=1)
        self.refuse("run", *step_of("moe"), "--plan", plan, "--cluster", "h100-dgx", says=["h100-dgx", "--cluster"])

    def test_made_up_inputs(self):
        out = self.folder / "result.json"
        losses = []
        for _ in range(2):
            result = self.succeed("run", MLP / "train_step.hlo.pb.xz", "--mesh", "2", "--steps", "2", "--out", out,
                                  "--plot")
            self.assertIn("made-up values", result.stderr)
            self.assertIn("●", result.stdout)
            losses.append(json.loads(out.read_text())["losses"])
        self.assertEqual(losses[0], losses[1])
        self.assertTrue(all(map(math.isfinite, losses[0])))

    def test_saved_state_goes_on(self):
        _, saved, _ = self.run_model("mlp", "--mesh", "2", steps=1)
        batch = read_safetensors(MLP / "inputs.safetensors")
        again = self.folder / "again.safetensors"
        del saved["loss"]
        write_safetensors(again, saved | {name: batch[name] for name in ("batch.x", "batch.y")})
        out = self.folder / "again.json"
        self.succeed("run", *step_of("mlp"), "--inputs", again, "--mesh", "2", "--out", out)
        expected = floats(read_safetensors(MLP / "expected.safetensors")["loss"])
        self.assertAlmostEqual(json.loads(out.read_text())["losses"][0], expected[1], places=4)

    def test_losses_that_are_no_numbers(self):
        tensors = read_safetensors(MLP / "inputs.safetensors")
        dtype, shape, data = tensors["batch.x"]
        tensors["batch.x"] = (dtype, shape, b"\x00\x00\xc0\x7f" * (len(data) // 4))
        path, out = self.folder / "nan.safetensors", self.folder / "nan.json"
        write_safetensors(path, tensors)
        result = self.succeed("run", *step_of("mlp"), "--inputs", path, "--mesh", "2", "--out", out, "--plot")
        self.assertIn("warning: the loss of step 1 is nan", result.stderr)
        strict = json.loads(out.read_text(), parse_constant=self.fail)
        self.assertEqual(strict["losses"], [None])

    def test_comparison(self):
        self.run_model("mlp", "--method", "none")
        (self.folder / "result.json").rename(self.folder / "single.json")
        _, _, text = self.run_model("mlp", "--mesh", "8", "--compare", self.folder / "single.json", "--plot")
        worst = float(re.search(r"largest difference of the losses over 3 steps: (\S+)", text).group(1))
        self.assertLess(worst, 1e-4)
        self.assertIn("◉ both", text)

    def test_dump(self):
        dump = self.folder / "dump"
        self.run_model("mlp", "--mesh", "2x2", "--dump-dir", dump)
        passes = ["read", "drop_markers", "sharding_constraints", "inline_calls", "tuple_branches", "annotate",
                  "explicit_bounds", "ordered_reductions", "partition", "drop_dead_collectives", "hoist_loop_sums",
                  "merge_all_gathers", "merge_all_reduces", "reduce_scatter_forming", "combine_collectives",
                  "as_replicas"]
        names = [f"{k:02}_{name}.hlo.pb" for k, name in enumerate(passes)]
        self.assertEqual(sorted(path.name for path in dump.iterdir()), [*names, "passes.txt", "plan.json"])
        for name in names:
            self.succeed("show", dump / name, "--stats")
        lines = (dump / "passes.txt").read_text().splitlines()
        self.assertEqual([line.split()[0] for line in lines], passes)
        counts = [re.search(r"(\d+) -> (\d+) instructions", line).groups() for line in lines]
        for before, after in zip(counts, counts[1:]):
            self.assertEqual(before[1], after[0])

    def test_dump_of_a_plan(self):
        dump = self.folder / "dump"
        self.succeed("plan", *step_of("mlp"), "--mesh", "2x2", "--dump-dir", dump)
        self.assertIn("05_annotate.hlo.pb", [path.name for path in dump.iterdir()])

    def test_quiet_without_a_terminal(self):
        result = alpa("run", *step_of("mlp"), "--inputs", MLP / "inputs.safetensors", "--mesh", "2")
        self.assertEqual(result.stderr, "")
