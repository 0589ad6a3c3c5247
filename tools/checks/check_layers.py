#!/usr/bin/env python3
"""Checks that rooms include only the rooms that layers.toml allows them, and what those may include in turn.

Usage: check_layers.py [ROOT]. Prints each include that breaks a rule; exits with 1 if there is one, or if the rules have a cycle."""
import pathlib
import re
import sys
import tomllib

INCLUDE = re.compile(r'^\s*#\s*include\s+"alpa/([a-z_]+)/', re.MULTILINE)


def closure(rules):
    """Every room's allowed rooms, followed to the end. Raises ValueError on a cycle or an unknown room."""
    done = {}

    def visit(room, path):
        if room in path:
            raise ValueError("cycle: " + " -> ".join(path + [room]))
        if room not in rules:
            raise ValueError(f"room {room} has no entry in layers.toml")
        if room not in done:
            allowed = {room, "base"}
            for other in rules[room]:
                allowed |= visit(other, path + [room])
            done[room] = allowed
        return done[room]

    for room in rules:
        visit(room, [])
    return done


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    rules = tomllib.loads((root / "layers.toml").read_text())["rooms"]
    try:
        allowed = closure(rules)
    except ValueError as error:
        print(f"layers.toml: {error}")
        return 1
    broken = 0
    for folder in sorted((root / "src/alpa").iterdir()):
        if not folder.is_dir():
            continue
        if folder.name not in allowed:
            print(f"{folder}: no entry in layers.toml")
            broken += 1
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            text = path.read_text()
            for match in INCLUDE.finditer(text):
                if match[1] not in allowed[folder.name]:
                    line = text.count("\n", 0, match.start(1)) + 1
                    print(f"{path.relative_to(root)}:{line}: room {folder.name} may not include room {match[1]}")
                    broken += 1
            if folder.name != "pjrt" and re.search(r"\bPJRT_", text):
                print(f"{path.relative_to(root)}: a PJRT_ name outside room pjrt")
                broken += 1
    print(f"layers: {broken} broken" if broken else f"layers: {len(allowed)} rooms in order")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
