#!/usr/bin/env python3
"""The planner's own problems, solved by `alpa solve` and, as mixed integer programmes, by HiGHS and CBC.

Usage: solver_peers.py [--only NAME,NAME] [--meshes 8,2x4] [--time-limit 120] [--out FILE.json]. Needs the wheels of
requirements/bench.txt (benchmarks/run.sh). Each problem is written by `alpa plan --dump-problem`; then the three solve
it to the proved optimum, one after the other, on two threads. For each: seconds until it had a choice as good as alpa's
last (1e-6 relative: the others compute in double precision), and until it had proved that none is better; the ratios
are those of the times to a choice as good as the best that both have, and to the proofs. Building the programme is not
counted. Choices are recomputed here."""

import argparse
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time

from placement_mip import Mip, evaluate, read_problem

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALPA = ROOT / "build/release/bin/alpa"
MODELS = ROOT / "tests/data/models"
THREADS = 2
EQUAL = 1e-6
REPEAT = 5  # Of alpa, whose milliseconds vary: the median run counts.
TOYS = ["bert", "bert_rbg", "dlrm", "gpt", "gpt_scan", "lstm", "mlp", "moe", "unet", "vit", "wide_resnet"]
MESHES = ["8", "2x4", "2x2x2"]
LARGE = [  # name, cluster, hosts, meshes
    ("gpt_1p3b", "p3.16xlarge", 1, MESHES),
    ("moe_10b", "a100-dgx", 1, MESHES),
    ("wide_resnet_1b", "p3.16xlarge", 1, MESHES),
    ("gpt3_175b_scan", "h100-dgx", 8, ["64", "8x8"]),
    ("gpt3_175b_24layers", "h100-dgx", 8, ["64", "8x8"]),
    ("gpt3_175b", "h100-dgx", 8, ["64", "8x8"]),
]


def cases():
    """(name, mesh, arguments of `alpa plan`)"""
    for name in TOYS:
        for mesh in MESHES:
            yield name, mesh, [MODELS / name / "train_step.hlo.pb.xz", "--meta", MODELS / name / "meta.json"]
    for name, cluster, hosts, meshes in LARGE:
        for mesh in meshes:
            step, meta = MODELS / "plan" / f"{name}.hlo.pb.xz", MODELS / "plan" / f"{name}.meta.json"
            yield name, mesh, [step, "--meta", meta, "--cluster", cluster, "--hosts", str(hosts)]


def log_of(answer):
    """[seconds, objective] of each better choice."""
    log = []
    for entry in answer["log"]:
        if entry["objective"] is not None and (not log or int(entry["objective"]) < log[-1][1]):
            log.append([entry["seconds"], int(entry["objective"])])
    return log


def solve_by_alpa(path, problem, limit, folder):
    out = folder / "answer.json"
    runs = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        subprocess.run([ALPA, "solve", path, "--threads", str(THREADS), "--time-limit", str(limit), "--json", out],
                       stdout=subprocess.DEVNULL, check=True)
        answer = json.loads(out.read_text())
        runs.append((answer["seconds"], time.perf_counter() - start, answer))
        if answer["seconds"] > 5:
            break
    seconds, wall, answer = sorted(runs, key=lambda run: run[0])[len(runs) // 2]
    objective = int(answer["objective"])
    found = [entry for entry in answer["log"] if int(entry["objective"] or -1) == objective]
    cost, peak = evaluate(problem, answer["solution"])
    assert cost == objective and peak <= problem.get("usage_limit", peak), path
    return {"objective": objective, "bound": int(answer["bound"]), "reached": min(entry["seconds"] for entry in found),
            "proved": seconds if answer["optimal"] else None, "seconds": seconds, "wall": wall,
            "floating_point_proof": answer["floating_point_proof"], "log": log_of(answer)}


class Finds:
    """The choices that a solver met: when the first came that is as good as `target`, and the best."""

    def __init__(self, target):
        self.target = target
        self.reached = None
        self.best = None
        self.log = []  # [seconds, cost] of each better choice.

    def add(self, cost, seconds):
        if cost is None:
            return
        if self.best is None or cost < self.best:
            self.best = cost
            self.log.append([seconds, cost])
        if self.reached is None and cost <= self.target * (1 + EQUAL):
            self.reached = seconds


def checked_cost(problem, choice):
    """The cost of a choice, None where it is not allowed. Rows hold to a millionth, as they do for the solver."""
    cost, peak = evaluate(problem, choice)
    return cost if peak <= problem.get("usage_limit", peak) * (1 + EQUAL) else None


def highs_lp(mip):
    import highspy
    import numpy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(mip.cost), len(mip.columns)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = mip.cost, numpy.zeros(lp.num_col_), mip.upper
    lp.row_lower_ = numpy.array(mip.row_lower, dtype=float)
    lp.row_upper_ = numpy.array(mip.row_upper, dtype=float)
    matrix = lp.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.num_col_, matrix.num_row_ = lp.num_col_, lp.num_row_
    matrix.start_ = numpy.cumsum([0] + [len(row) for row in mip.columns])
    matrix.index_ = numpy.concatenate(mip.columns)
    matrix.value_ = numpy.concatenate(mip.values)
    integer, continuous = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    lp.integrality_ = [integer] * mip.binaries + [continuous] * (lp.num_col_ - mip.binaries)
    return lp


def silent_highs(lp):
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", THREADS)
    highs.passModel(lp)
    return highs


def solve_by_highs(mip, lp, limit, target):
    import highspy

    highs = silent_highs(lp)
    highs.setOptionValue("time_limit", float(limit))
    highs.setOptionValue("mip_rel_gap", 0.0)
    finds = Finds(target)
    start = time.perf_counter()

    def meet(event):
        seconds = time.perf_counter() - start
        finds.add(checked_cost(mip.problem, mip.choice(event.data_out.mip_solution)), seconds)

    highs.cbMipImprovingSolution += meet
    highs.run()
    seconds = time.perf_counter() - start
    info = highs.getInfo()
    if info.primal_solution_status == 2:
        finds.add(checked_cost(mip.problem, mip.choice(highs.getSolution().col_value)), seconds)
    optimal = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return {"objective": finds.best, "bound": mip.objective(info.mip_dual_bound), "reached": finds.reached,
            "proved": seconds if optimal else None, "seconds": seconds, "log": finds.log}


def lines_of(command):
    """(seconds, line) of what a command prints; a terminal of its own, so that lines come when they are printed."""
    own, its = pty.openpty()
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=its, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    os.close(its)
    text = b""
    while True:
        try:
            part = os.read(own, 1 << 16)
        except OSError:  # The other end was closed.
            part = b""
        seconds = time.perf_counter() - start
        *lines, text = (text + part).split(b"\n")
        yield from ((seconds, line.decode(errors="replace").strip()) for line in lines)
        if not part:
            break
    os.close(own)
    process.wait()


FOUND = re.compile(r"(?:Solution found of|Integer solution of|completed - best objective) (\d[\d.e+]*)")


def solve_by_cbc(mip, lp, limit, target, folder):
    import cbcbox

    model, out = folder / "model.mps", folder / "model.sol"
    silent_highs(lp).writeModel(str(model))
    command = [cbcbox.cbc_bin_path(), str(model), "-threads", str(THREADS), "-timeMode", "elapsed", "-seconds",
               str(limit), "-ratioGap", "0", "-allowableGap", "0", "-solve", "-solution", str(out), "-quit"]
    finds, bound, optimal, began, ended = Finds(target), None, False, None, None
    for seconds, line in lines_of(command):
        # Reading the model is not counted.
        if began is None and re.search(r"Problem .* has \d+ rows", line):
            began = seconds
        if found := FOUND.search(line):
            if float(found[1]) < 1e40:
                finds.add(mip.objective(float(found[1])), seconds - (began or 0))
        if found := re.search(r"Lower bound:\s+(\d[\d.e+]*)", line):
            bound = mip.objective(float(found[1]))
        optimal = optimal or "Result - Optimal solution found" in line
        if line.startswith("Result - "):
            ended = seconds
    seconds = (ended if ended is not None else seconds) - (began or 0)
    cost = None
    if out.exists():
        solution = [0.0] * len(mip.cost)
        for line in out.read_text().splitlines()[1:]:
            column, _, value = line.replace("**", "").split()[:3]
            solution[int(column)] = float(value)
        cost = checked_cost(mip.problem, mip.choice(solution))
        finds.add(cost, seconds)
    return {"objective": cost, "bound": cost if optimal else bound, "reached": finds.reached,
            "proved": seconds if optimal else None, "seconds": seconds, "log": finds.log}


def measure(name, mesh, arguments, limit):
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        path = folder / "problem.json"
        subprocess.run([ALPA, "plan", *arguments, "--mesh", mesh, "--dump-problem", path], stdout=subprocess.DEVNULL,
                       check=True)
        problem = read_problem(path)
        result = {"model": name, "mesh": mesh, "nodes": len(problem["nodes"]["costs"]),
                  "edges": len(problem["edges"]["nodes"])}
        result["alpa"] = solve_by_alpa(path, problem, limit, folder)
        start = time.perf_counter()
        mip = Mip(problem)
        lp = highs_lp(mip)
        result |= {"rows": len(mip.columns), "columns": len(mip.cost), "building_seconds": time.perf_counter() - start}
        target = result["alpa"]["objective"]
        result["highs"] = solve_by_highs(mip, lp, limit, target)
        result["cbc"] = solve_by_cbc(mip, lp, limit, target, folder)
        return result


def seconds_to(result, solver, target):
    """Until it had a choice as good as `target`."""
    return next((seconds for seconds, cost in result[solver]["log"] if cost <= target * (1 + EQUAL)), None)


def ratio_as_good(result, peer):
    """How many times as long a peer took as alpa to a choice as good as the best that both have."""
    best = result[peer]["objective"]
    if best is None:
        return "none found"
    target = max(best, result["alpa"]["objective"])
    times = seconds_to(result, peer, target) / max(seconds_to(result, "alpa", target), 1e-4)
    return f"{times:,.0f}"


def ratio_of_proofs(result, peer):
    """The same for the proofs; at least that, where the peer has none."""
    own, theirs = result["alpa"]["proved"], result[peer]["proved"]
    if own is None:
        return "—"
    return f"{'' if theirs is not None else '≥ '}{(theirs or result[peer]['seconds']) / max(own, 1e-4):,.0f}"


def cell(result, solver, field):
    seconds = result[solver][field]
    return "—" if seconds is None else f"{seconds:.3g}"


def row(result):
    cells = [result["model"], result["mesh"], f"{result['nodes']:,}", f"{result['columns']:,}"]
    for solver in ("alpa", "highs", "cbc"):
        cells += [cell(result, solver, "reached"), cell(result, solver, "proved")]
        cells += [f"{result['alpa']['wall']:.3g}"] if solver == "alpa" else []
    for peer in ("highs", "cbc"):
        cells += [ratio_as_good(result, peer), ratio_of_proofs(result, peer)]
    return "| " + " | ".join(cells) + " |"


HEAD = ["model", "mesh", "nodes", "variables", "alpa: s to its best", "s to the proof", "process, s",
        "HiGHS: s to as good", "s to the proof", "CBC: s to as good", "s to the proof",
        "HiGHS / alpa: as good", "proof", "CBC / alpa: as good", "proof"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--meshes", default="")
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--out")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    meshes = [mesh for mesh in options.meshes.split(",") if mesh]
    results = []
    for name, mesh, arguments in cases():
        if (only and name not in only) or (meshes and mesh not in meshes):
            continue
        results.append(measure(name, mesh, arguments, options.time_limit))
        print(f"{name} {mesh}", file=sys.stderr, flush=True)
        if options.out:
            text = json.dumps({"benchmark": "solver_peers", "results": results}, indent=1)
            pathlib.Path(options.out).write_text(text + "\n")
    print("\n".join(["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD), *map(row, results)]))


if __name__ == "__main__":
    sys.exit(main())
