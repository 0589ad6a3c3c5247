#!/usr/bin/env python3
"""`alpa solve` on instances of the public IOPDDL form: a table, JSON, and a chart of objective and bound over time for each.

Usage: solver.py INSTANCE.json.gz... [--out FILE.json] [--charts FOLDER] [--time-limit S]. Without --time-limit the contest's own limits
hold for its instances, by the letter that ends the file's name. Costs and peaks are recomputed here; peak memory is the process's."""
import argparse
import collections
import concurrent.futures
import gzip
import itertools
import json
import math
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALPA = ROOT / "build/release/bin/alpa"
LIMITS = dict(A=60, B=60, C=60, D=60, G=120, K=120, L=180, M=180, N=180, V=300)


def recomputed(path, choice):
    """Cost and peak use of a choice."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        problem = json.load(file)["problem"]
    nodes, edges = problem["nodes"], problem["edges"]
    cost = sum(costs[s] for costs, s in zip(nodes["costs"], choice))
    for (a, b), table in zip(edges["nodes"], edges["costs"]):
        cost += table[choice[a] * len(nodes["costs"][b]) + choice[b]]
    change = collections.Counter()
    for (start, end), usages, s in zip(nodes["intervals"], nodes["usages"], choice):
        change[start] += usages[s]
        change[end] -= usages[s]
    return cost, max(itertools.accumulate(change[time] for time in sorted(change)), default=0)


def solve(path, limit):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "answer.json")
        process = subprocess.Popen([ALPA, "solve", path, "--time-limit", str(limit), "--json", out], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if not os.path.exists(out):  # alpa has said why
            raise SystemExit(f"solver.py: {path}: no answer")
        answer = json.load(open(out))
    result = {"instance": pathlib.Path(path).name, "time_limit": limit, "exit": os.waitstatus_to_exitcode(status),
              "peak_mib": usage.ru_maxrss / 1024}
    for field in ("objective", "bound", "gap", "optimal", "seconds", "peak_usage", "floating_point_proof", "log"):
        result[field] = answer[field]
    found = [entry["seconds"] for entry in answer["log"] if entry["objective"] is not None]
    result["first_seconds"] = min(found, default=None)
    if answer["feasible"]:
        # In a process of its own: a child's peak memory counts what its parent held when it was made.
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            found = pool.submit(recomputed, path, answer["solution"]).result()
        result["checked"] = found == (int(answer["objective"]), int(answer["peak_usage"]))
    return result


def steps(log, field, combine):
    """Points of a staircase: the best value so far, over seconds."""
    points, best = [], None
    for entry in sorted(log, key=lambda entry: entry["seconds"]):
        value = entry[field]
        if value is None:
            continue
        best = int(value) if best is None else combine(best, int(value))
        points.append((entry["seconds"], best))
    return points


def chart(result):
    """An SVG: distance from the final objective in percent, both axes logarithmic."""
    width, height, left, bottom = 640, 320, 70, 40
    final = int(result["objective"])
    lines = {"objective": steps(result["log"], "objective", min), "bound": steps(result["log"], "bound", max)}
    end = max(result["seconds"], 0.02)
    low, high = 1e-4, 100.0

    def place(seconds, value):
        percent = min(max(abs(value - final) / max(final, 1) * 100, low), high)
        x = left + (width - left - 10) * (math.log10(max(seconds, 0.01)) + 2) / (math.log10(end) + 2)
        y = 10 + (height - bottom - 10) * (math.log10(high) - math.log10(percent)) / (math.log10(high) - math.log10(low))
        return x, y

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="{height - 6}">seconds (log); {result["instance"]}: {final:,}, bound {int(result["bound"]):,}</text>']
    for exponent in range(-4, 3):
        y = place(1, final * (1 + 10 ** exponent / 100))[1]
        parts.append(f'<line x1="{left}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="4" y="{y + 4:.1f}">{10 ** exponent:g} %</text>')
    for seconds in (0.01, 0.1, 1, 10, 100):
        if seconds < end:
            x = place(seconds, final)[0]
            parts.append(f'<text x="{x:.1f}" y="{height - bottom + 14}">{seconds:g}</text>')
    for (name, points), colour in zip(lines.items(), ("#c0392b", "#2980b9")):
        path, last = [], None
        for seconds, value in points + [(end, points[-1][1])] if points else []:
            x, y = place(seconds, value)
            path += [f"{x:.1f},{last:.1f}"] if last is not None else []
            path.append(f"{x:.1f},{y:.1f}")
            last = y
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{" ".join(path)}"/>')
    parts.append(f'<text x="{width - 190}" y="22" fill="#c0392b">objective above the last</text>'
                 f'<text x="{width - 190}" y="36" fill="#2980b9">bound below it</text></svg>')
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="+")
    parser.add_argument("--out")
    parser.add_argument("--charts")
    parser.add_argument("--time-limit", type=float)
    options = parser.parse_args()
    results = []
    print("| instance | objective | bound | gap | first s | s | peak MiB |\n| --- | --- | --- | --- | --- | --- | --- |")
    for path in options.instances:
        letter = pathlib.Path(path).name.split(".")[0][-1]
        result = solve(path, options.time_limit or LIMITS.get(letter, 300))
        results.append(result)
        if not result.get("checked"):
            print(f"{path}: no choice, or it does not stand its check")
            continue
        print(f"| {letter} | {int(result['objective']):,} | {int(result['bound']):,} | {100 * result['gap']:.4f} % "
              f"| {result['first_seconds']:.2f} | {result['seconds']:.1f} | {result['peak_mib']:.0f} |", flush=True)
        if options.charts:
            folder = pathlib.Path(options.charts)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / (pathlib.Path(path).name.split(".")[0] + ".svg")).write_text(chart(result))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
