#!/usr/bin/env python3
"""Checks that headers have at most 300 lines, sources at most 600, C++ functions at most 60 (from the first line of their
head to their closing brace), and that every header starts with #pragma once.

Relies on the format that clang-format gives: the brace that closes a function stands alone in the column of its head.

Usage: check_sizes.py [ROOT]. Exits with 1 if a file breaks a rule."""
import pathlib
import re
import sys

LIMITS = {".h": 300, ".cc": 600, ".py": 600}
FUNCTION_LIMIT = 60

# Longer ones, each with its reason; one that is no longer needed is an error.
LONG_FUNCTIONS = {
    ("src/alpa/hlo/opcode.cc", "is_elementwise"): "a table: one opcode a line",
    ("src/alpa/hlo/verify_arity.cc", "operands_of"): "a table: one row of opcodes a line",
    ("tests/property/op_cases.cc", "add_elementwise"): "a table: one case a line",
    ("tests/property/op_cases.cc", "add_movement"): "a table: one case a line",
    ("tests/property/op_cases.cc", "add_reductions"): "a table: one case a line",
    ("tests/property/op_cases.cc", "add_indexing"): "a table: one case a line",
}

# What opens a brace and is no function; `= {` and `= [` open values and lambdas.
NO_FUNCTION = re.compile(r"(namespace|class|struct|enum|union|extern|if|for|while|switch|do|try|else|case|return)\b|[{}]")
VALUE = re.compile(r"=\s*\{$|^[^(]*=[^(]*\(")
ENDS_STATEMENT = re.compile(r"(^|[;{}:\\])$|^\s*(//|#|template\b)")


def functions(text):
    """(name, first line, number of lines) of each function at namespace scope or in a class at namespace scope."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        start = at
        while start > 0 and not ENDS_STATEMENT.search(lines[start - 1]):
            start -= 1
        head = " ".join(part.strip() for part in lines[start : at + 1])
        indent = len(lines[start]) - len(lines[start].lstrip())
        head = re.sub(r"operator\W+?\(", "operator(", head)
        name = re.search(r"(~?\w+)\(", head)
        if indent > 2 or not name or NO_FUNCTION.match(head) or VALUE.search(head):
            continue
        closing = " " * indent + "}"
        end = next((k for k in range(at + 1, len(lines)) if lines[k].startswith(closing)), None)
        if end is not None and lines[end] == closing:  # otherwise "});": an argument of a call
            yield name[1], start + 1, end - start + 1


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    broken = []
    count = 0
    unused = {key for key in LONG_FUNCTIONS if (root / key[0]).exists()}
    for folder in ("src", "tools", "tests", "benchmarks"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in LIMITS or not path.is_file():
                continue
            count += 1
            text = path.read_text()
            name = path.relative_to(root).as_posix()
            lines = text.count("\n")
            if lines > LIMITS[path.suffix]:
                broken.append(f"{name}: {lines} lines, at most {LIMITS[path.suffix]}")
            if path.suffix == ".h" and not text.lstrip().startswith("#pragma once"):
                broken.append(f"{name}: a header starts with #pragma once")
            for function, line, size in functions(text) if path.suffix != ".py" else ():
                if size <= FUNCTION_LIMIT:
                    continue
                if (name, function) not in LONG_FUNCTIONS:
                    broken.append(f"{name}:{line}: {function} has {size} lines, at most {FUNCTION_LIMIT}")
                unused.discard((name, function))
    broken += [f"{name}: {function} is no longer long: take it out of LONG_FUNCTIONS" for name, function in sorted(unused)]
    for line in broken:
        print(line)
    print(f"sizes: {len(broken)} broken" if broken else f"sizes: {count} files within their limits")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
