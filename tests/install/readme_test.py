"""README.md shows this folder's program and CMake lines, letter for letter."""
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
README = (HERE.parents[1] / "README.md").read_text()


class Readme(unittest.TestCase):
    def test_shows_the_program(self):
        program = (HERE / "main.cc").read_text()
        self.assertIn(f"```cpp\n{program}```\n", README)
        self.assertLessEqual(len(program.splitlines()), 60)

    def test_shows_the_cmake_lines(self):
        self.assertIn(f"```cmake\n{(HERE / 'CMakeLists.txt').read_text()}```\n", README)


if __name__ == "__main__":
    unittest.main()
