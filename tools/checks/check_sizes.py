#!/usr/bin/env python3
"""Checks that headers have at most 300 lines and sources at most 600, and that every header starts with #pragma once.

Usage: check_sizes.py [ROOT]. Exits with 1 if a file breaks a rule."""
import pathlib
import sys

LIMITS = {".h": 300, ".cc": 600, ".py": 600}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    broken = 0
    count = 0
    for folder in ("src", "tools", "tests", "benchmarks"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in LIMITS or not path.is_file():
                continue
            count += 1
            text = path.read_text()
            lines = text.count("\n")
            if lines > LIMITS[path.suffix]:
                print(f"{path.relative_to(root)}: {lines} lines, at most {LIMITS[path.suffix]}")
                broken += 1
            if path.suffix == ".h" and not text.lstrip().startswith("#pragma once"):
                print(f"{path.relative_to(root)}: a header starts with #pragma once")
                broken += 1
    print(f"sizes: {broken} broken" if broken else f"sizes: {count} files within their limits")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
