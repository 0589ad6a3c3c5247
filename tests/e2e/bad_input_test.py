"""Bad input: one line that names the culprit and the remedy, exit status 1 or 2, nothing written."""

import json
import os
import struct

from command import MLP, CommandTest, floats, read_safetensors, step_of, unpacked, write_safetensors


class BadPrograms(CommandTest):
    def refuse_program(self, name, content, *says):
        path = self.write(name, content)
        for command in (["run", "--out", self.folder / "r.json"], ["plan", "--json", self.folder / "p.json"], ["show"]):
            self.refuse(command[0], path, *command[1:], says=[name, *says])

    def test_missing_file(self):
        self.refuse("run", self.folder / "absent.pb", says=["absent.pb", "No such file"])

    def test_folder_as_file(self):
        self.refuse("plan", self.folder, says=[str(self.folder), "directory"])

    def test_no_hlo(self):
        self.refuse_program("notes.txt", "this is no program\n", "HloModuleProto", "StableHLO")

    def test_empty(self):
        self.refuse_program("empty.pb", b"", "empty")

    def test_cut_short(self):
        module = unpacked(MLP / "train_step.hlo.pb.xz")
        for size in (10, len(module) // 2, len(module) - 1):
            self.refuse_program("cut.pb", module[:size])

    def test_cut_short_archive(self):
        self.refuse_program("cut.pb.xz", (MLP / "train_step.hlo.pb.xz").read_bytes()[:-100], "xz", "cut short")

    def test_cut_short_stablehlo(self):
        text = unpacked(MLP / "train_step.mlir.xz")
        self.refuse_program("cut.mlir", text[: len(text) // 2])

    def test_unknown_opcode(self):
        module = unpacked(MLP / "train_step.hlo.pb.xz").replace(b"\x12\x08multiply", b"\x12\x08multiplx", 1)
        self.refuse_program("opcode.pb", module, "multiplx")

    def test_hlo_text(self):
        text = "HloModule step\n\nENTRY main { ROOT x = f32[] parameter(0) }\n"
        self.refuse_program("step.txt", text, "HLO text", "proto")

    def test_meta_of_another_program(self):
        other = MLP.parent / "gpt" / "meta.json"
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", other, says=["meta", "is it of this program"])

    def test_meta_no_json(self):
        meta = self.write("meta.json", "{")
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", meta, says=["meta.json", "JSON"])


class BadCommandLines(CommandTest):
    def refuse_line(self, *arguments, says):
        self.refuse(*arguments, says=says, status=2)

    def test_command_lines(self):
        self.refuse_line(says=["run", "--help"])
        self.refuse_line("fly", says=["fly", "run", "--help"])
        self.refuse_line("run", says=["STEP", "alpa run --help"])
        self.refuse_line("run", "step.pb", "--bogus", says=["--bogus"])
        self.refuse_line("run", "step.pb", "--steps", "0", says=["--steps"])
        self.refuse_line("run", "step.pb", "--steps", "many", says=["--steps"])
        self.refuse_line("run", "step.pb", "--memory-gb", "-1", says=["--memory-gb"])
        self.refuse_line("plan", "step.pb", "--devices", "8", says=["--devices"])
        self.refuse_line("solve", says=["INSTANCE"])
        self.refuse_line("run", "step.pb", "--plan", "p.json", "--constraint", "*=(x)", says=["--plan", "--constraint"])
        same = self.folder / "same"
        self.refuse_line("run", *step_of("mlp"), "--out", same, "--save", same, says=["--out", "--save"])

    def test_mesh_text(self):
        for mesh in ("2y", "0x8", "2x2x2x2", "x", "-1", "99999999999999999999"):
            self.refuse_line("run", *step_of("mlp"), "--mesh=" + mesh, says=["mesh"])

    def test_unknown_method(self):
        self.refuse_line("plan", *step_of("mlp"), "--method", "magic", says=["magic", "none, data or shard"])

    def test_constraint_text(self):
        self.refuse_line("plan", *step_of("mlp"), "--constraint", "params", says=["params", "GLOB=(None,y)"])

    def test_mesh_that_does_not_fit(self):
        self.refuse_line("run", *step_of("mlp"), "--mesh", "2x4", "--devices", "4", says=["2x4", "8", "4"])
        self.refuse_line("plan", *step_of("mlp"), "--mesh", "2x2", "--cluster", "p3.16xlarge",
                         says=["2x2", "p3.16xlarge", "8"])
        self.refuse_line("run", *step_of("mlp"), "--method", "none", "--mesh", "8", says=["none", "one device"])
        self.refuse_line("run", *step_of("mlp"), "--mesh", "4096", says=["4096", "alpa plan"])

    def test_micro_batches_are_not_ignored(self):
        self.refuse("run", *step_of("mlp"), "--micro-batches", "2", says=["--micro-batches 2", "use 1"])


class BadPlans(CommandTest):
    def test_constraints(self):
        def refuse(constraint, *says):
            self.refuse("plan", *step_of("mlp"), "--mesh", "2x4", "--constraint", constraint, says=says)

        refuse("nothing.*=(None,y)", "nothing.*", "matches no input")
        refuse("params.fc1.kernel=(None,q)", "params.fc1.kernel", "q", "2x4")
        refuse("params.fc1.kernel=(None,y,x)", "params.fc1.kernel")
        refuse("params.fc1.kernel=(x,x)", "params.fc1.kernel", "x")
        self.refuse("plan", *step_of("mlp"), "--mesh", "3", "--constraint", "params.fc1.kernel=(x,None)",
                    says=["params.fc1.kernel", "f32[256,256]", "3"])

    def test_data_needs_a_batch_that_divides(self):
        self.refuse("plan", *step_of("mlp"), "--method", "data", "--mesh", "3", says=["batch", "32", "3 devices"])

    def test_memory_cap_too_low(self):
        for command in ("run", "plan"):
            self.refuse(command, *step_of("mlp"), "--mesh", "8", "--memory-gb", "0.00001",
                        says=["least memory", "--memory-gb"])

    def test_cluster(self):
        self.refuse("devices", "--cluster", "cray-1", says=["cray-1", "h100-dgx", "local-cpu"])
        self.refuse("plan", *step_of("mlp"), "--cluster", "cray-1", says=["cray-1", "h100-dgx"])
        broken = self.write("broken.json", '{"name": "mine", "hosts": 0}')
        self.refuse("plan", *step_of("mlp"), "--cluster", broken, says=["broken.json", "hosts"])

    def test_stored_plan(self):
        plan = self.folder / "plan.json"
        self.succeed("plan", *step_of("mlp"), "--mesh", "2x2", "--json", plan)
        out = ["--out", self.folder / "r.json"]
        self.refuse("run", *step_of("dlrm"), "--plan", plan, *out, says=["plan.json", "fnv1a64:", "plan it again"])
        self.refuse("run", *step_of("mlp"), "--plan", plan, "--mesh", "4", *out, says=["2x2", "--mesh says 4"])
        self.refuse("run", *step_of("mlp"), "--plan", plan, "--devices", "8", *out,
                    says=["4 devices", "--devices says 8"])
        self.refuse("run", *step_of("mlp"), "--plan", plan, "--method", "data", *out, says=["shard", "data"])
        cut = self.write("cut.json", plan.read_bytes()[:-50])
        self.refuse("run", *step_of("mlp"), "--plan", cut, *out, says=["cut.json", "JSON"])
        no_plan = self.write("list.json", "[1]")
        self.refuse("run", *step_of("mlp"), "--plan", no_plan, *out, says=["list.json", "version"])

    def test_stored_plan_that_was_changed(self):
        path = self.folder / "plan.json"
        self.succeed("plan", *step_of("mlp"), "--mesh", "2x2", "--json", path)
        plan = json.loads(path.read_text())

        def refuse(change, *says):
            changed = json.loads(path.read_text())
            change(changed)
            file = self.write("changed.json", json.dumps(changed))
            self.refuse("run", *step_of("mlp"), "--plan", file, "--out", self.folder / "r.json", says=says)

        name = next(op for op in plan["ops"] if op.startswith("dot"))
        other = [[["x", "y"], None], [None, ["x", "y"]]]
        kernel = next(k for k, one in enumerate(plan["inputs"]) if one["name"] == "params.fc1.kernel")
        spec = next(one for one in other if one != plan["inputs"][kernel]["spec"])
        refuse(lambda p: p.pop("inputs"), "changed.json", "inputs")
        refuse(lambda p: p["inputs"].pop(), "other inputs")
        refuse(lambda p: p.update(mesh="3x5"), "plan again")
        refuse(lambda p: p.update(version=99), "version 99")
        refuse(lambda p: p.update(cluster="mine"), "mine", "local-cpu")
        refuse(lambda p: (p.update(cluster="mine"), p.pop("cluster_description")), "mine", "plan again")
        refuse(lambda p: p["ops"].pop(name), name)
        refuse(lambda p: p["ops"].update({name: [None] * 9}), name)
        refuse(lambda p: (p["ops"].update({name: [["x"], None]}), p["operands"].update({name: [[None, None]] * 2})),
               name, "plan again")
        refuse(lambda p: p["inputs"][kernel].update(spec=spec), "params.fc1.kernel", "two ways")
        refuse(lambda p: p["outputs"][kernel].update(spec=spec), "params.fc1.kernel", "feeds")


class BadMetas(CommandTest):
    def mlp_meta(self, change):
        meta = json.loads((MLP / "meta.json").read_text())
        change(meta)
        return MLP / "train_step.hlo.pb.xz", "--meta", self.write("changed.json", json.dumps(meta))

    def test_state_that_nothing_feeds(self):
        def feed_nothing(meta):
            for output in meta["outputs"]:
                output["feeds_input"] = None

        step = self.mlp_meta(feed_nothing)
        out = self.folder / "r.json"
        for mesh in (["--mesh", "8"], ["--method", "none"]):
            self.refuse("run", *step, *mesh, "--steps", "2", "--out", out, says=["params", "feeds_input", "1 step"])
            self.succeed("run", *step, *mesh, "--inputs", MLP / "inputs.safetensors", "--out", out)
            loss = json.loads(out.read_text())["losses"][0]
            expected = floats(read_safetensors(MLP / "expected.safetensors")["loss"])[0]
            self.assertAlmostEqual(loss, expected, places=4)
            out.unlink()

    def test_two_outputs_that_feed_one_input(self):
        def feed_twice(meta):
            first, *others = meta["outputs"]
            shape_of = lambda output: meta["inputs"][output["feeds_input"]]["shape"]
            same = next(one for one in others if one["feeds_input"] is not None and shape_of(one) == shape_of(first))
            same["feeds_input"] = first["feeds_input"]

        step = self.mlp_meta(feed_twice)
        self.refuse("plan", *step, says=["both feed input"])


class BadInputs(CommandTest):
    def refuse_inputs(self, change, *says):
        tensors = read_safetensors(MLP / "inputs.safetensors")
        change(tensors)
        path = self.folder / "changed.safetensors"
        write_safetensors(path, tensors)
        self.refuse("run", *step_of("mlp"), "--mesh", "2", "--inputs", path, "--out", self.folder / "r.json",
                    "--save", self.folder / "s.safetensors", says=says)

    def test_shape(self):
        def change(tensors):
            dtype, shape, data = tensors["params.fc0.kernel"]
            tensors["params.fc0.kernel"] = (dtype, shape[::-1], data)

        self.refuse_inputs(change, "params.fc0.kernel", "f32[256,64]", "f32[64,256]")

    def test_dtype(self):
        def change(tensors):
            _, shape, data = tensors["batch.x"]
            tensors["batch.x"] = ("I32", shape, data)

        self.refuse_inputs(change, "batch.x", "s32[32,64]", "f32[32,64]")

    def test_count(self):
        def take_away(tensors):
            del tensors["params.fc0.kernel"], tensors["batch.y"]

        self.refuse_inputs(take_away, "lacks 2 of", "params.fc0.kernel", "batch.y")
        self.refuse_inputs(lambda tensors: tensors.update(bogus=("F32", [1], b"\0\0\0\0")), "bogus", "no input")

    def test_damaged_file(self):
        good = (MLP / "inputs.safetensors").read_bytes()
        damaged = {"cut.st": good[:-4], "head.st": good[:100], "tiny.st": b"abc",
                   "huge.st": struct.pack("<Q", 1 << 62) + b"{}", "text.st": struct.pack("<Q", 4) + b"junk"}
        for name, content in damaged.items():
            self.refuse("run", *step_of("mlp"), "--inputs", self.write(name, content), says=[name])


class BadPlugins(CommandTest):
    def refuse_plugin(self, path, *says, **variables):
        option = ["--plugin", path] if path else []
        out = self.folder / "r.json"
        self.refuse("run", *step_of("mlp"), "--mesh", "2", "--out", out, *option, says=says, **variables)
        self.refuse("devices", *option, says=says, **variables)

    def test_missing(self):
        self.refuse_plugin("/nowhere/plugin.so", "/nowhere/plugin.so")
        self.refuse_plugin(None, "/nowhere/plugin.so", ALPA_PJRT_PLUGIN="/nowhere/plugin.so")

    def test_no_shared_object(self):
        self.refuse_plugin(self.write("plugin.so", "text"), "plugin.so")

    def test_no_plugin(self):
        self.refuse_plugin(os.environ["ALPA_NO_PLUGIN"], os.environ["ALPA_NO_PLUGIN"], "GetPjrtApi")

    def test_too_old(self):
        self.refuse_plugin(os.environ["ALPA_OLD_PLUGIN"], os.environ["ALPA_OLD_PLUGIN"], "old")


class BadOutputs(CommandTest):
    def test_folder_that_is_not_there(self):
        self.refuse("run", *step_of("mlp"), "--out", self.folder / "no" / "r.json", says=["r.json", "no folder"])
        self.refuse("run", *step_of("mlp"), "--save", self.folder / "no" / "s.st", says=["s.st", "no folder"])
        self.refuse("plan", *step_of("mlp"), "--json", self.folder / "no" / "p.json", says=["p.json", "no folder"])
        self.refuse("plan", *step_of("mlp"), "--json", self.folder, says=[str(self.folder), "directory"])


class BadInstances(CommandTest):
    def test_instances(self):
        out = ["--json", self.folder / "out.json"]
        self.refuse("solve", self.folder / "absent.json", *out, says=["absent.json"])
        self.refuse("solve", self.write("text.json", "no json"), *out, says=["text.json"])
        self.refuse("solve", self.write("cut.json", '{"problem": {"nodes": {'), *out, says=["cut.json"])
        self.refuse("solve", self.write("part.json", '{"problem": {}}'), *out, says=["part.json"])
