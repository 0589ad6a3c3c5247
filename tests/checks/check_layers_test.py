"""The layer check itself: it must see what it is there for."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/checks/check_layers.py"


class CheckLayers(unittest.TestCase):
    def run_on(self, rules, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "layers.toml").write_text("[rooms]\n" + rules)
            for name, text in files.items():
                path = root / "src/alpa" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            result = subprocess.run([sys.executable, CHECK, str(root)], capture_output=True, text=True)
            return result.returncode, result.stdout

    def test_accepts_an_allowed_include(self):
        code, _ = self.run_on('base = []\nhlo = ["base"]\n', {"hlo/a.h": '#include "alpa/base/error.h"\n', "base/error.h": ""})
        self.assertEqual(code, 0)

    def test_accepts_what_an_allowed_room_may_include(self):
        code, _ = self.run_on('base = []\na = []\nb = ["a"]\nc = ["b"]\n', {"c/x.cc": '#include "alpa/a/y.h"\n'})
        self.assertEqual(code, 0)

    def test_rejects_an_include_upwards(self):
        code, text = self.run_on('base = []\nhlo = ["base"]\n', {"base/x.cc": '#include "alpa/hlo/a.h"\n', "hlo/a.h": ""})
        self.assertEqual(code, 1)
        self.assertIn("room base may not include room hlo", text)

    def test_rejects_a_cycle(self):
        code, text = self.run_on('base = []\na = ["b"]\nb = ["a"]\n', {"a/x.h": "", "b/x.h": ""})
        self.assertEqual(code, 1)
        self.assertIn("cycle", text)

    def test_rejects_a_room_without_an_entry(self):
        code, text = self.run_on("base = []\n", {"util/x.h": ""})
        self.assertEqual(code, 1)
        self.assertIn("no entry", text)

    def test_rejects_a_c_api_name_outside_its_room(self):
        code, text = self.run_on("base = []\nhlo = []\n", {"hlo/x.h": "void f(PJRT_Client*);\n"})
        self.assertEqual(code, 1)
        self.assertIn("PJRT_", text)


if __name__ == "__main__":
    unittest.main()
