"""The size check itself: it must see what it is there for."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/checks/check_sizes.py"


def body(lines, indent=""):
    return "".join(f"{indent}  work();\n" for _ in range(lines))


class CheckSizes(unittest.TestCase):
    def run_on(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "src/alpa" / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            result = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
            return result.returncode, result.stdout

    def test_counts_functions_from_head_to_brace(self):
        code, _ = self.run_on("a.cc", "int f(int a,\n      int b) {\n" + body(57) + "}\n")
        self.assertEqual(code, 0)
        code, text = self.run_on("a.cc", "int f(int a,\n      int b) {\n" + body(58) + "}\n")
        self.assertEqual(code, 1)
        self.assertIn("src/alpa/a.cc:1: f has 61 lines", text)

    def test_sees_members_constructors_and_tests(self):
        for head in ("A::A(int x) : x_(x) {", "bool A::operator==(const A& b) const {", "TEST(A, Law) {",
                     "std::vector<int> f(std::function<void()> g = {}) {"):
            code, text = self.run_on("a.cc", head + "\n" + body(60) + "}\n")
            self.assertEqual(code, 1, head)
            self.assertIn("62 lines", text)
        code, text = self.run_on("a.cc", "class A {\n public:\n  int f() const {\n" + body(60, "  ") + "  }\n};\n")
        self.assertEqual(code, 1)
        self.assertIn("a.cc:3: f has 62 lines", text)

    def test_leaves_what_is_no_function(self):
        code, text = self.run_on("a.cc", "namespace a {\nconst Table kTable = {\n" + "    Row{1, f(2)},\n" * 70 + "};\n"
                                 "class A {\n" + "  int f() const;\n" * 70 + "};\n}  // namespace a\n")
        self.assertEqual(code, 0, text)

    def test_counts_files(self):
        code, text = self.run_on("a.h", "#pragma once\n" + "int x;\n" * 300)
        self.assertEqual(code, 1)
        self.assertIn("301 lines", text)
        code, text = self.run_on("a.h", "int x;\n")
        self.assertIn("#pragma once", text)


if __name__ == "__main__":
    unittest.main()
