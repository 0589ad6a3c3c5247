"""`--micro-batches`: a batch run in parts, its gradients accumulated."""

import array
import json

from command import MLP, MODELS, CommandTest, floats, read_safetensors, step_of, write_safetensors


def marked(model="mlp"):
    folder = MODELS / model
    return [folder / "train_step_marked.hlo.pb.xz", "--meta", folder / "meta.json"]


class MicroBatches(CommandTest):
    def run_mlp(self, *options, step=None, inputs=MLP / "inputs.safetensors"):
        out, save = self.folder / "result.json", self.folder / "saved.safetensors"
        mesh = [] if "--mesh" in options or "--plan" in options else ["--mesh", "8"]
        result = self.succeed("run", *(step or marked()), "--inputs", inputs, "--out", out, "--save", save, *mesh,
                              *options)
        self.assertEqual(result.stderr, "")
        return json.loads(out.read_text()), read_safetensors(save), result.stdout

    def batches(self, count, names=("batch.x", "batch.y")):
        """Files: all inputs with `count` different batches one after the other, then one file a batch."""
        tensors = read_safetensors(MLP / "inputs.safetensors")
        parts = []
        for part in range(count):
            one = dict(tensors)
            for name in ("batch.x", "batch.y"):
                dtype, shape, data = tensors[name]
                scaled = array.array("f", [value * (1 - 0.2 * part) for value in floats((dtype, shape, data))])
                one[name] = (dtype, shape, scaled.tobytes())
            parts.append(one)
        whole = dict(tensors)
        for name in names:
            dtype, shape, _ = tensors[name]
            whole[name] = (dtype, [count * shape[0], *shape[1:]], b"".join(part[name][2] for part in parts))
        files = []
        for number, content in enumerate([whole, *parts]):
            files.append(self.folder / f"inputs{number}.safetensors")
            write_safetensors(files[-1], content)
        return files

    def test_the_same_batch_in_each(self):
        expected = read_safetensors(MLP / "expected.safetensors")
        for options in (["--micro-batches", "2"], ["--micro-batches", "4", "--method", "data"],
                        ["--micro-batches", "4", "--method", "none", "--mesh", "1"]):
            result, saved, text = self.run_mlp("--steps", "3", *options)
            self.assertEqual(result["plan"]["micro_batches"], int(options[1]))
            self.assertIn(f"{options[1]} micro-batches", text)
            for mine, theirs in zip(result["losses"], floats(expected["loss"]), strict=True):
                self.assertLess(abs(mine - theirs), 1e-4 * abs(theirs))
            for name, tensor in expected.items():
                if name != "loss":
                    largest = max(map(abs, floats(tensor)))
                    worst = max(abs(a - b) for a, b in zip(floats(saved[name]), floats(tensor), strict=True))
                    self.assertLessEqual(worst, 1e-2 * largest, name)
            for kind, totals in result["collectives"].items():
                self.assertEqual(totals["bytes"], totals["predicted_bytes"], kind)
                self.assertEqual(totals["count"], totals["predicted_count"], kind)

    def test_one_is_the_step_itself(self):
        plain, saved, _ = self.run_mlp("--steps", "2", step=step_of("mlp"))
        one, saved_one, _ = self.run_mlp("--steps", "2", "--micro-batches", "1")
        self.assertEqual(plain["losses"], one["losses"])
        self.assertEqual(saved, saved_one)

    def test_larger_batches_are_cut_in_order(self):
        whole, *parts = self.batches(4)
        result, _, _ = self.run_mlp("--micro-batches", "4", inputs=whole)
        losses = [self.run_mlp(inputs=part)[0]["losses"][0] for part in parts]
        self.assertGreater(max(losses) - min(losses), 0.01)
        mean = sum(losses) / 4
        self.assertLess(abs(result["losses"][0] - mean), 1e-5 * mean)

    def test_counts_of_many_micro_batches_are_whole(self):
        result, _, _ = self.run_mlp("--micro-batches", "49", "--method", "data")
        for kind, one in result["collectives"].items():
            self.assertEqual((one["count"], one["bytes"]), (one["predicted_count"], one["predicted_bytes"]), kind)

    def test_a_stored_plan_runs_as_it_was_planned(self):
        plan = self.folder / "plan.json"
        dump = self.folder / "dump"
        self.succeed("plan", *marked(), "--mesh", "8", "--micro-batches", "2", "--json", plan, "--dump-dir", dump)
        self.assertEqual(len(list(dump.glob("*_annotate.hlo.pb"))), 2)
        planned, _, _ = self.run_mlp("--micro-batches", "2", "--steps", "2")
        stored, _, _ = self.run_mlp("--plan", plan, "--steps", "2")
        self.assertEqual(planned["losses"], stored["losses"])
        self.assertEqual(json.loads(plan.read_text())["micro_batches"], 2)
        meta = json.loads((MLP / "meta.json").read_text())
        self.assertEqual([one["name"] for one in json.loads(plan.read_text())["inputs"]],
                         [one["name"] for one in meta["inputs"]])
        self.refuse("run", *marked(), "--plan", plan, "--micro-batches", "4", says=["2 micro-batches", "says 4"])

    def test_inputs_that_do_not_fit(self):
        def refuse(inputs, count, *says):
            self.refuse("run", *marked(), "--inputs", inputs, "--micro-batches", count, "--mesh", "8", says=says)

        whole, *_ = self.batches(4)
        refuse(whole, 2, "batch.x", "f32[128,64]", "f32[32,64]", "f32[64,64]", "all 2")
        refuse(whole, 1, "batch.x", "f32[128,64]", "f32[32,64]")
        mixed, *_ = self.batches(2, names=["batch.x"])
        refuse(mixed, 2, "batch.x", "batch.y", "2 micro-batches")

    def test_steps_that_cannot_be_split(self):
        self.refuse("run", *step_of("mlp"), "--micro-batches", "2", says=["no gradient marker", "1 micro-batch"])
        self.refuse("plan", *step_of("mlp"), "--micro-batches", "2", says=["no gradient marker", "1 micro-batch"])
        self.refuse("run", marked()[0], "--micro-batches", "2", says=["num_values", "--meta"])
        meta = json.loads((MLP / "meta.json").read_text())
        meta["marker"]["operands"].pop()
        short = self.write("short.json", json.dumps(meta))
        self.refuse("run", marked()[0], "--meta", short, "--micro-batches", "2",
                    says=["9 operands", "lists 8", "--meta"])
        for one in meta["inputs"]:
            one.pop("batch_dim", None)
        whole = self.write("whole.json", json.dumps(meta))
        self.refuse("run", marked()[0], "--meta", whole, "--micro-batches", "2", says=["no input is known", "batch_dim"])
        self.refuse("run", *marked(), "--micro-batches", "16", "--method", "data", "--mesh", "64",
                    says=["16 micro-batches", "is 32", "64 devices"])
        for count in ("0", "-1", "x"):
            self.refuse("run", *marked(), "--micro-batches", count, says=["--micro-batches"], status=2)
