"""Runs the command `alpa` and reads the files that it takes and writes; the standard library alone."""

import array
import json
import lzma
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

BINARY = os.environ["ALPA_BIN"]
DATA = pathlib.Path(os.environ["ALPA_TEST_DATA"])
MODELS = DATA / "models"
MLP = MODELS / "mlp"


def alpa(*arguments, **variables):
    """Runs it to its end; `variables` are added to the environment."""
    environment = {key: value for key, value in os.environ.items() if key != "ALPA_PJRT_PLUGIN"}
    environment.update(variables)
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=300)


def step_of(model, form="hlo.pb"):
    """The arguments that name a model's step and meta.json."""
    folder = MODELS / model
    return [folder / f"train_step.{form}.xz", "--meta", folder / "meta.json"]


def unpacked(path):
    return lzma.decompress(path.read_bytes())


def read_safetensors(path):
    """{name: (dtype, shape, bytes)}"""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    return {
        name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def floats(tensor):
    """The numbers of an F32 tensor."""
    assert tensor[0] == "F32", tensor[0]
    return array.array("f", tensor[2])


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *arguments, **variables):
        result = alpa(*arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def refuse(self, *arguments, says, status=1, **variables):
        """Fails with this status and one line on stderr that holds all texts of `says`; prints and writes nothing. The line."""
        before = sorted(self.folder.iterdir())
        result = alpa(*arguments, **variables)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = [line for line in result.stderr.splitlines() if "made-up values" not in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("alpa: "), lines[0])
        for text in says:
            self.assertIn(text, lines[0])
        self.assertEqual(sorted(self.folder.iterdir()), before, "a refused command left files")
        return lines[0]

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
