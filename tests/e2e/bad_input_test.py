"""Bad input: one line that names the culprit and the remedy, exit status 1 or 2, nothing written."""

import json
import os
import re
import resource
import struct
import subprocess

from command import BINARY, DATA, MLP, CommandTest, alpa, floats, read_safetensors, step_of, unpacked, write_safetensors


def meta_name(index):
    return json.loads((MLP / "meta.json").read_text())["inputs"][index]["name"]


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

    def test_deep_text(self):
        for text in ("module {" * 100000, "module @m { func.func @main() { return " + "(" * 100000):
            self.refuse_program("deep.mlir", text, "nested deeper than 1000")

    def test_artifacts_that_crash_or_hold_the_plugin(self):
        for path in sorted((DATA / "damaged").glob("*.xz")):
            result = alpa("show", path)  # a plug-in may read it all the same
            self.assertIn(result.returncode, (0, 1), path)
            self.assertEqual(len(result.stderr.splitlines()), result.returncode, result.stderr)

    def test_file_that_is_too_large(self):
        sparse = self.write("vast.pb", b"")
        os.truncate(sparse, 1 << 42)
        self.refuse("plan", sparse, says=["vast.pb", "4398046511104 bytes"])
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", sparse, says=["vast.pb", "4398046511104 bytes"])

    def test_unknown_opcode(self):
        module = unpacked(MLP / "train_step.hlo.pb.xz").replace(b"\x12\x08multiply", b"\x12\x08multiplx", 1)
        self.refuse_program("opcode.pb", module, "multiplx")

    def test_hlo_text(self):
        text = "HloModule step\n\nENTRY main { ROOT x = f32[] parameter(0) }\n"
        self.refuse_program("step.txt", text, "HLO text", "proto")

    def test_meta_of_another_program(self):
        other = MLP.parent / "gpt" / "meta.json"
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", other, says=["meta", "is it of this program"])

    def refuse_meta(self, change, *says):
        meta = json.loads((MLP / "meta.json").read_text())
        change(meta)
        path = self.write("changed.json", json.dumps(meta))
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", path, says=["changed.json", *says])

    def test_meta_that_does_not_fit_is_named(self):
        self.refuse_meta(lambda meta: meta["inputs"][0].update(dtype="float99"), "float99")
        self.refuse_meta(lambda meta: meta["inputs"][0].update(shape=[7]), meta_name(0), "f32[7]")
        self.refuse_meta(lambda meta: meta["outputs"].pop(), "is it of this program")

    def test_meta_fields(self):
        name = meta_name(0)
        self.refuse_meta(lambda meta: meta["inputs"][0].update(index=1), name, "\"index\" 1")
        self.refuse_meta(lambda meta: meta["inputs"][0].update(index="0"), name, "index")
        self.refuse_meta(lambda meta: meta["outputs"][1].update(index=-1), "index")
        self.refuse_meta(lambda meta: meta["inputs"][0].update(donated="yes"), name, "donated")
        self.refuse_meta(lambda meta: meta["inputs"][1].update(name=name), "two inputs", name)
        self.refuse_meta(lambda meta: meta["outputs"][0].update(shape=[9, 9]), "f32[9,9]")
        self.refuse_meta(lambda meta: meta["outputs"][0].update(dtype="int8"), "s8")

    def test_key_that_is_there_twice(self):
        text = (MLP / "meta.json").read_text().replace("{", '{"inputs": [], ', 1)
        self.refuse("plan", MLP / "train_step.hlo.pb.xz", "--meta", self.write("twice.json", text),
                    says=["twice.json", "twice"])

    def test_sizes_that_are_not_known(self):
        self.refuse_program("dynamic.mlir", "module { func.func @main(%a: tensor<?x8xf32>) -> tensor<?x8xf32> { "
                            "return %a : tensor<?x8xf32> } }", "fixed sizes")

    def test_two_programs_in_a_file(self):
        self.refuse_program("two.pb.xz", (MLP / "train_step.hlo.pb.xz").read_bytes() * 2, "two programs")

    def test_loss_is_one_real_number(self):
        self.refuse_meta(lambda meta: meta["outputs"][0].update(role="loss"), meta_name(0), "one real number")
        counter = next(k for k, one in enumerate(json.loads((MLP / "meta.json").read_text())["outputs"])
                       if one["dtype"] == "int32")
        self.refuse_meta(lambda meta: meta["outputs"][counter].update(role="loss"), "s32[]", "one real number")

    def test_loss_of_no_elements(self):
        step = self.write("zero.mlir", "module @m {\n  func.func public @main(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {\n"
                          "    %r = stablehlo.add %x, %x : tensor<0x8xf32>\n    return %r : tensor<0x8xf32>\n  }\n}\n")
        meta = self.write("zero.json", json.dumps({
            "inputs": [{"name": "x", "shape": [0, 8], "dtype": "float32", "role": "extra"}],
            "outputs": [{"name": "nothing", "role": "loss"}]}))
        self.refuse("run", step, "--meta", meta, "--mesh", "1", says=["zero.json", "nothing", "f32[0,8]"])

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
        self.refuse_line("run", "step.pb", "--memory-gb", "nan", says=["--memory-gb", "nan is no number"])
        self.refuse_line("solve", "i.json", "--gap", "nan", says=["--gap", "nan is no number from 0 to 1"])
        self.refuse_line("solve", "i.json", "--time-limit", "nan", says=["--time-limit", "nan is no number"])
        self.refuse_line("plan", "step.pb", "--devices", "8", says=["--devices"])
        self.refuse_line("solve", says=["INSTANCE"])
        for option in (["--constraint", "*=(x)"], ["--output-constraint", "*=(x)"], ["--force-batch-axis", "x"],
                       ["--no-all-gather"], ["--no-all-to-all"], ["--no-replicated-parameters"],
                       ["--prefer-reduce-scatter"]):
            self.refuse_line("run", "step.pb", "--plan", "p.json", *option, says=["--plan", option[0]])
        same = self.folder / "same"
        for other in (same, f"{self.folder}/./same"):
            self.refuse_line("run", *step_of("mlp"), "--out", same, "--save", other, says=["--out", "--save"])

    def test_mesh_text(self):
        for mesh in ("2y", "0x8", "2x2x2x2", "x", "-1", "99999999999999999999"):
            self.refuse_line("run", *step_of("mlp"), "--mesh=" + mesh, says=["mesh"])

    def test_unknown_method(self):
        self.refuse_line("plan", *step_of("mlp"), "--method", "magic", says=["magic", "none, data, shard, zero2 or zero3"])

    def test_constraint_text(self):
        self.refuse_line("plan", *step_of("mlp"), "--constraint", "params", says=["params", "GLOB=(None,y)"])

        for text in ("*=(x", "*=x)", "*=(q,None)", "*=(x,x)", "*=((x+x),None)"):
            self.refuse_line("plan", *step_of("mlp"), "--constraint", text, says=["--constraint", text])

    def test_empty_values(self):
        for option in ("--mesh", "--out", "--save", "--dump-dir", "--plugin", "--meta", "--inputs", "--plan", "--compare",
                       "--constraint", "--cluster", "--method"):
            self.refuse_line("run", MLP / "train_step.hlo.pb.xz", option, "", says=[option, "empty"])
        self.refuse_line("plan", MLP / "train_step.hlo.pb.xz", "--json", "", says=["--json", "empty"])
        self.refuse_line("plan", MLP / "train_step.hlo.pb.xz", "--json=", says=["--json"])
        self.refuse_line("plan", MLP / "train_step.hlo.pb.xz", "--dump-problem", "", says=["--dump-problem", "empty"])
        self.refuse_line("show", "", says=["FILE", "empty"])
        self.refuse_line("devices", "--cluster", "", says=["--cluster", "empty"])
        self.refuse_line("solve", "i.json", "--json", "", says=["--json", "empty"])

    def test_output_that_is_an_input(self):
        step, meta = self.write("step.pb", unpacked(MLP / "train_step.hlo.pb.xz")), MLP / "meta.json"
        inputs, plan = self.write("in.st", (MLP / "inputs.safetensors").read_bytes()), self.folder / "plan.json"
        self.succeed("plan", step, "--mesh", "2", "--json", plan)
        link, hard = self.folder / "link", self.folder / "hard"
        link.symlink_to("step.pb")
        os.link(inputs, hard)
        for option, path, named in (("--out", step, "STEP"), ("--out", link, "STEP"), ("--save", hard, "--inputs"),
                                    ("--save", f"{self.folder}/./in.st", "--inputs"), ("--out", plan, "--plan")):
            self.refuse_line("run", step, "--inputs", inputs, "--plan", plan, option, path, says=[option, named])
        for path, named in ((link, "STEP"), (meta, "--meta")):
            self.refuse_line("plan", step, "--meta", meta, "--json", path, says=["--json", named])
        both = self.folder / "both.json"
        self.refuse_line("plan", step, "--json", both, "--dump-problem", both, says=["--json", "--dump-problem"])
        instance = self.write("i.json", (DATA / "iopddl" / "example.json").read_bytes())
        self.refuse_line("solve", instance, "--json", instance, says=["--json", "INSTANCE"])

    def test_mesh_that_does_not_fit(self):
        self.refuse_line("run", *step_of("mlp"), "--mesh", "2x4", "--devices", "4", says=["2x4", "8", "4"])
        self.refuse_line("plan", *step_of("mlp"), "--mesh", "2x2", "--cluster", "p3.16xlarge",
                         says=["2x2", "p3.16xlarge", "8"])
        self.refuse_line("run", *step_of("mlp"), "--method", "none", "--mesh", "8", says=["none", "one device"])
        self.refuse_line("run", *step_of("mlp"), "--mesh", "4096", says=["4096", "alpa plan"])


class BadPlans(CommandTest):
    def test_constraints(self):
        def refuse(constraint, *says, status=1):
            self.refuse("plan", *step_of("mlp"), "--mesh", "2x4", "--constraint", constraint, says=says, status=status)

        refuse("nothing.*=(None,y)", "nothing.*", "matches no input")
        refuse("params.fc1.kernel=(None,q)", "params.fc1.kernel", "q", "2x4", status=2)
        refuse("params.fc1.kernel=(None,y,x)", "params.fc1.kernel")
        refuse("params.fc1.kernel=(x,x)", "params.fc1.kernel", "x", status=2)
        self.refuse("plan", *step_of("mlp"), "--mesh", "3", "--constraint", "params.fc1.kernel=(x,None)",
                    says=["params.fc1.kernel", "f32[256,256]", "3"])
        refuse("params.fc1.kernel=((y+x),None)", "--constraint", "params.fc1.kernel", "(x+y)")
        self.refuse("plan", *step_of("mlp"), "--mesh", "1x8", "--constraint", "params.fc1.kernel=(x,None)",
                    says=["--constraint", "params.fc1.kernel", "axis x has size 1"])
        self.refuse("plan", *step_of("mlp"), "--method", "none", "--constraint", "params.fc1.kernel=(x,None)",
                    says=["--constraint 'params.fc1.kernel=(x,None)'", "--method none"])

    def test_constraints_that_contradict_each_other(self):
        both = ["--constraint", "params.fc0.kernel=(x,None)", "--constraint", "params.*0.kernel=(None,x)"]
        self.refuse("plan", *step_of("mlp"), "--mesh", "8", *both,
                    says=["params.fc0.kernel=(x,None)", "params.*0.kernel=(None,x)", "contradict"])
        both[3] = "params.*0.kernel=(x,None)"
        self.succeed("plan", *step_of("mlp"), "--mesh", "8", *both)

    def test_output_constraints(self):
        def refuse(constraint, *says, status=1):
            self.refuse("plan", *step_of("mlp"), "--mesh", "2x4", "--output-constraint", constraint, says=says,
                        status=status)

        refuse("nothing.*=(None,y)", "--output-constraint", "nothing.*", "matches no output")
        refuse("loss=(x)", "--output-constraint", "output loss", "1 dims for an array of 0")
        refuse("loss=(q)", "--output-constraint", "q", status=2)
        self.refuse("plan", *step_of("mlp"), "--mesh", "2x4", "--constraint", "params.fc0.kernel=(x,None)",
                    "--output-constraint", "params.fc0.kernel=(None,x)",
                    says=["--constraint", "--output-constraint", "contradict", "params.fc0.kernel"])

    def test_batch_axis(self):
        self.refuse("plan", *step_of("mlp"), "--mesh", "3", "--force-batch-axis", "x",
                    says=["--force-batch-axis", "batch", "32", "3 devices"])
        self.refuse("plan", *step_of("mlp"), "--mesh", "8", "--force-batch-axis", "y", says=["--force-batch-axis", "y"])
        self.refuse("plan", *step_of("mlp"), "--mesh", "2x4", "--force-batch-axis", "x", "--constraint",
                    "batch.x=(y,None)", says=["--force-batch-axis", "batch.x=(y,None)", "contradict", "batch.x"])

    def test_what_leaves_no_plan(self):
        self.refuse("plan", *step_of("mlp"), "--mesh", "8", "--no-all-gather", "--no-all-to-all", "--constraint",
                    "params.fc0.kernel=(x,None)", "--constraint", "batch.x=(x,None)",
                    says=["--no-all-gather", "--no-all-to-all", "params.fc0.kernel=(x,None)"])

    def test_data_needs_a_batch_that_divides(self):
        self.refuse("plan", *step_of("mlp"), "--method", "data", "--mesh", "3", says=["batch", "32", "3 devices"])

    def test_memory_cap_too_low(self):
        for command in ("run", "plan"):
            self.refuse(command, *step_of("mlp"), "--mesh", "8", "--memory-gb", "0.00001",
                        says=["least memory", "--memory-gb"])

    def test_the_least_memory_that_is_named_will_do(self):
        for model, mesh, *options in (("mlp", "2x4", "--method", "zero2"), ("gpt", "8"),
                                      ("wide_resnet", "8", "--method", "data"),
                                      ("lstm", "2x4", "--no-rematerialization")):
            said = self.refuse("plan", *step_of(model), "--mesh", mesh, *options, "--memory-gb", "0.00001",
                               says=["the least memory that a plan was found for is", "raise --memory-gb to"])
            named = re.search(r"raise --memory-gb to (\S+)", said)[1]
            self.succeed("plan", *step_of(model), "--mesh", mesh, *options, "--memory-gb", named)

    def test_a_method_and_what_contradicts_it(self):
        self.refuse("plan", *step_of("mlp"), "--mesh", "8", "--method", "data", "--no-replicated-parameters",
                    says=["--no-replicated-parameters", "method data", "zero3"])

    def test_the_least_memory_is_that_of_the_meshes_that_fit_the_constraint(self):
        # Of the meshes 6, 2x3 and 3x2 only 2x3 has an axis x that divides 256.
        self.refuse("plan", *step_of("mlp"), "--cluster", self.cluster_of(6), "--memory-gb", "0.00001", "--constraint",
                    "params.fc1.kernel=(None,x)", says=["least memory", "--memory-gb"])

    def cluster_of(self, devices):
        description = json.loads(self.succeed("devices", "--cluster", "a100-dgx").stdout)
        description["devices_per_host"] = devices
        return self.write("cluster.json", json.dumps(description))

    def test_cluster(self):
        self.refuse("devices", "--cluster", "cray-1", says=["cray-1", "h100-dgx", "local-cpu"])
        self.refuse("plan", *step_of("mlp"), "--cluster", "cray-1", says=["cray-1", "h100-dgx"])
        broken = self.write("broken.json", '{"name": "mine", "hosts": 0}')
        self.refuse("plan", *step_of("mlp"), "--cluster", broken, says=["broken.json", "hosts"])
        printed = json.loads(self.succeed("devices", "--cluster", "a100-dgx").stdout)
        printed["device"]["memory_bytes"] = 1e30
        self.refuse("plan", *step_of("mlp"), "--cluster", self.write("vast.json", json.dumps(printed)),
                    says=["vast.json", "memory_bytes", "1e+30"])

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
        refuse(lambda p: p.update(mesh="q"), "changed.json", "q")
        refuse(lambda p: p["inputs"][0].update(dtype="float99"), "changed.json", "float99")
        refuse(lambda p: p.update(cluster="mine"), "mine", "local-cpu")
        refuse(lambda p: (p.update(cluster="mine"), p.pop("cluster_description")), "mine", "plan again")
        refuse(lambda p: p["ops"].pop(name), name)
        refuse(lambda p: p["ops"].update({name: [None] * 9}), name)
        refuse(lambda p: (p["ops"].update({name: [["x"], None]}), p["operands"].update({name: [[None, None]] * 2})),
               name, "plan again")
        changed = self.write("changed.json", json.dumps(plan | {"mesh": "4x1" if plan["mesh"] == "2x2" else "1x4"}))
        result = alpa("run", *step_of("mlp"), "--plan", changed)
        self.assertIn("plan", result.stderr)  # its strategies may be none, or others, on that mesh
        objective = plan["objective_seconds"] * 0.75
        gap = (objective - plan["bound_seconds"] * 0.5) / objective
        plan_of_less = plan | {"objective_seconds": objective, "bound_seconds": plan["bound_seconds"] * 0.5, "gap": gap}
        changed.write_text(json.dumps(plan_of_less))
        self.assertIn("was changed after it was planned", self.succeed("run", *step_of("mlp"), "--plan", changed).stderr)
        changed.write_text(json.dumps(plan, indent=2))
        self.assertNotIn("changed", self.succeed("run", *step_of("mlp"), "--plan", changed).stderr)
        changed.unlink()
        refuse(lambda p: p.update(method="x"), "changed.json", "method")
        refuse(lambda p: p.update(objective_seconds=-1), "changed.json", "objective_seconds")
        refuse(lambda p: p.update(bound_seconds=1e9), "changed.json", "bound_seconds")
        refuse(lambda p: p.update(gap="x"), "changed.json", "gap")
        refuse(lambda p: p.update(gap=-1), "changed.json", "gap")
        refuse(lambda p: p["ops"].update(unheard_of=[None]), "unheard_of")
        refuse(lambda p: p["operands"].update(unheard_of=[[None]]), "unheard_of")
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


class VastPrograms(CommandTest):
    """A plan is made, or refused, before memory is asked for."""

    STEP = ("module @m {\n  func.func public @main(%x: tensor<1099511627776xf32>) -> tensor<1099511627776xf32> {\n"
            "    %r = stablehlo.add %x, %x : tensor<1099511627776xf32>\n"
            "    return %r : tensor<1099511627776xf32>\n  }\n}\n")

    def test_the_cap_is_checked_first(self):
        header = json.dumps({"x": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}).encode()
        sparse = self.write("vast.safetensors", struct.pack("<Q", len(header)) + header)
        os.truncate(sparse, 8 + len(header) + (1 << 42))
        for inputs in ([], ["--inputs", sparse]):
            self.refuse("run", self.write("vast.mlir", self.STEP), "--mesh", "8", "--memory-gb", "1", *inputs,
                        "--meta", self.write("meta.json", json.dumps(self.META)),
                        says=["least memory", "--memory-gb"])

    META = {"inputs": [{"name": "x", "shape": [1 << 40], "dtype": "float32", "role": "extra"}], "outputs": [{"name": "r"}]}


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
                   "huge.st": struct.pack("<Q", 1 << 62) + b"{}", "text.st": struct.pack("<Q", 4) + b"junk", "more.st": good + b"more"}
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

    def test_address_space_that_is_too_small(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (800000 << 10, 800000 << 10))
        result = subprocess.run([BINARY, "run", *map(str, step_of("mlp")), "--mesh", "2x4"], capture_output=True,
                                text=True, timeout=300, preexec_fn=limit, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^alpa: \[plug-in\] .*ulimit -v.*\n$")

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

    def test_name_that_is_too_long(self):
        kept = self.write("kept.json", "old")
        self.refuse("run", *step_of("mlp"), "--mesh", "2", "--out", kept, "--save", self.folder / ("n" * 256),
                    says=["nnn", "File name too long"])
        self.assertEqual(kept.read_text(), "old")

    def test_disk_that_is_full(self):
        kept = self.write("kept.json", "old")
        self.refuse("run", *step_of("mlp"), "--mesh", "2", "--out", kept, "--save", "/dev/full",
                    says=["/dev/full", "No space left"])
        self.assertEqual(kept.read_text(), "old")

    def test_output_that_is_lost(self):
        step = MLP / "train_step.hlo.pb.xz"
        for arguments in (["show", step], ["show", step, "--stats"], ["plan", step, "--mesh", "2"], ["devices"],
                          ["run", step, "--mesh", "2"], ["--help"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                result = subprocess.run([BINARY, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True,
                                        timeout=300, check=False)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("standard output: No space left", result.stderr)


class BadInstances(CommandTest):
    def test_instances(self):
        out = ["--json", self.folder / "out.json"]
        self.refuse("solve", self.folder / "absent.json", *out, says=["absent.json"])
        self.refuse("solve", self.write("text.json", "no json"), *out, says=["text.json"])
        self.refuse("solve", self.write("cut.json", '{"problem": {"nodes": {'), *out, says=["cut.json"])
        self.refuse("solve", self.write("part.json", '{"problem": {}}'), *out, says=["part.json"])
