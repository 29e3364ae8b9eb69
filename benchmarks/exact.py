"""CPU seconds until the best subset is proved, beside OKRidge, l0bnb and El0ps: the tables of docs/certificates.md.

    python benchmarks/exact_suite/setup.py FOLDER             # environments of the packages, once
    python benchmarks/exact.py --peers FOLDER --jobs 2 --again    # all cases, and the tables of the page
    python benchmarks/exact.py --tables glm real --methods ksparse --again
    python benchmarks/exact.py --report                       # only the tables, from existing results

Each proof has a process of its own with one thread, after a small problem of the same kind, which loads and compiles
the code; the median of five proofs where one takes less than .2 s. Seconds are CPU seconds, limits too, and they
include everything: ksparse's first solution, Gram matrices, eigenvalues. A proof is complete at a relative gap
(f − bound)/f of 1e-4, or 1e-6 in the first table; packages end by their own definition of the gap, which is kinder:
OKRidge's leaves out Σy², the others' include the penalty. Those with a penalty λ₀‖w‖₀ get the λ₀ in the middle of those
whose solution has k features, the best solution as their start, and the same bounds of the coefficients.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from suite.environment import make_environment, use_one_thread

use_one_thread()

import numpy as np
from exact_suite.cases import CASES, LARGE, ExactCase
from exact_suite.peers import repeat_short
from exact_suite.setup import find_python
from exact_suite.summary import reaches_limit, render_summary
from exact_suite.tables import NAMES, insert_tables, read_rows

import ksparse
from ksparse.sparsity import Entries

RESULTS = Path(__file__).parent / "results" / "exact.csv"
PAGE = Path(__file__).parent.parent / "docs" / "certificates.md"
#: The bound of coefficients, relative to the largest one of the best model.
BOX_FACTOR = 1.5
#: A package that takes so many times the limit, by the clock, is stopped.
PATIENCE = 4
#: Held while results are written.
WRITING = threading.Lock()


@dataclass(frozen=True)
class Row:
    """One proof."""

    table: str
    case: str
    method: str
    seconds: float
    gap: float
    value: float
    nodes: int
    wanted: float
    limit: float
    #: CPU seconds of XᵀX alone, for ksparse.
    gram: float
    #: The easier case that the method did not solve within the limit, so that it was not run.
    unsolved: str = ""


# --- in the measuring process -----------------------------------------------------------------------------------------


def find_box(case: ExactCase, objective: Any) -> float:
    """The bound of the coefficients of a case."""
    if case.box >= 0:
        return case.box
    return BOX_FACTOR * float(np.abs(ksparse.minimize(objective, case.k).x).max())


def prove(case: ExactCase, limit: float) -> dict[str, Any]:
    """Both calls of a user: the solution and its proof, in CPU seconds."""
    time.perf_counter = time.process_time  # limits are in CPU seconds
    prove_once(ExactCase(case.table, case.loss, 80, 12, 2, 0.0, 0.1, box=case.box), limit)
    X, y = case.make()
    found = repeat_short(lambda: prove_once(case, limit, X, y))
    if case.table == "grid":
        began = time.process_time()
        np.dot(X.T, X)
        found["gram"] = time.process_time() - began
    return found


def prove_once(case: ExactCase, limit: float, X: Any = None, y: Any = None) -> dict[str, Any]:
    """One proof from the data of a case, with nothing that an earlier one has kept."""
    if X is None:
        X, y = case.make()
    sparsity = Entries(case.k)
    if case.box:
        box = find_box(case, case.make_objective(X, y))
        sparsity = Entries(case.k, lower=-box, upper=box)
    objective = case.make_objective(X, y)
    began = time.process_time()
    proof = ksparse.solve_exact(objective, sparsity=sparsity, gap=case.gap, time_limit=limit)
    seconds = time.process_time() - began
    names = ("value", "lower_bound", "gap", "nodes")
    return {"seconds": seconds, **{name: getattr(proof, name) for name in names}}


def write_problem(case: ExactCase, path: Path) -> None:
    """The data of a case, with λ₀, the bound of the coefficients and the best solution, for packages that want them."""
    X, y = case.make()
    objective = case.make_objective(X, y)
    if case.peers == ("okridge",):
        np.savez(path, X=X, y=y, k=case.k, alpha=case.alpha, loss=case.loss)
        return
    values = {k: ksparse.minimize(objective, k).value for k in range(1, 2 * case.k + 1)}
    best = ksparse.minimize(objective, case.k, effort=2)
    more = max((best.value - values[j]) / (j - case.k) for j in values if j > case.k)
    less = min((values[j] - best.value) / (case.k - j) for j in values if j < case.k)
    box = find_box(case, objective) if case.box else np.inf
    arrays = {"X": X, "y": objective.margin_form().target, "start": best.x, "loss": case.loss}
    np.savez(path, k=case.k, alpha=case.alpha, l0=0.5 * (more + less), box=box, **arrays)


# --- in the main process ----------------------------------------------------------------------------------------------


def measure(case: ExactCase, method: str, limit: float, peers: Path | None) -> Row:
    """Run one proof in its own process."""
    environment = {**os.environ, **make_environment(1)}
    own = [sys.executable, __file__, "--case", str(CASES.index(case)), "--limit", str(limit)]
    with tempfile.TemporaryDirectory() as folder:
        command = own
        if method != "ksparse":
            assert peers is not None
            path = Path(folder) / "problem.npz"
            subprocess.run([*own, "--write", str(path)], check=True, env=environment)
            script = Path(__file__).parent / "exact_suite" / "peers.py"
            command = [str(find_python(peers, method)), str(script), method, str(path), str(limit)]
            environment.pop("PYTHONPATH", None)
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=None if method == "ksparse" else PATIENCE * limit,
            )
        except subprocess.TimeoutExpired:  # a package that does not keep its limit
            done = subprocess.CompletedProcess(command, 1, "", f"{method} was stopped")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        print(done.stderr[-600:])
        found = {"value": np.nan, "lower_bound": np.nan, "seconds": np.nan}
    value, lower = found["value"], found["lower_bound"]
    gap = found.get("gap", max((value - lower) / value, 0.0))
    nodes, gram = found.get("nodes", -1), found.get("gram", np.nan)
    return Row(case.table, case.name, method, found["seconds"], gap, value, nodes, case.gap, limit, gram)


def find_rows() -> list[dict[str, Any]]:
    """The results so far."""
    return read_rows(RESULTS) if RESULTS.exists() else []


def write_rows(rows: list[dict[str, Any]]) -> None:
    """Write all results, in the order of the cases."""
    order = {case.name: number for number, case in enumerate(CASES)}
    rows = [row for row in rows if row["case"] in order]
    rows.sort(key=lambda row: (order[row["case"]], list(NAMES).index(row["method"])))
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(Row.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        shown = {"seconds": ".4g", "gap": ".3g", "gram": ".4g"}
        writer.writerows({**row, **{name: format(row[name], how) for name, how in shown.items()}} for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="folder of the other packages' environments")
    parser.add_argument("--tables", nargs="+", help="only these tables: grid, hard, wide, glm, real")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a proof")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time, one thread each")
    parser.add_argument("--again", action="store_true", help="measure also what was measured before")
    parser.add_argument("--report", action="store_true", help="write the tables of existing results into the page")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.report:
        print(write_page())
        return
    if arguments.write is not None:
        write_problem(CASES[arguments.case], arguments.write)
        return
    if arguments.case is not None:
        print(json.dumps(prove(CASES[arguments.case], arguments.limit)))
        return
    cases = [case for case in CASES if not arguments.tables or case.table in arguments.tables]
    cases = [case for case in cases if arguments.only in case.name]
    small = [case for case in cases if case.n * case.p <= LARGE]
    ladders: dict[str, list[ExactCase]] = {}
    for case in small:
        ladders.setdefault(case.ladder or case.name, []).append(case)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        longest_first = sorted(ladders.values(), key=len, reverse=True)
        list(pool.map(lambda ladder: measure_ladder(ladder, arguments), longest_first))
    # The memory of large ones is for one at a time.
    measure_ladder([case for case in cases if case not in small], arguments)
    print(write_page())


def measure_ladder(ladder: list[ExactCase], arguments: argparse.Namespace) -> None:
    """Run the proofs of some cases; packages that reach the limit of one are not run on those that are harder."""
    unsolved: dict[str, str] = {}
    for case in ladder:
        measure_case(case, arguments, unsolved)


def measure_case(case: ExactCase, arguments: argparse.Namespace, unsolved: dict[str, str]) -> None:
    """Run the proofs of a case that are wanted, and keep the results."""
    for method in ("ksparse", *(case.peers if arguments.peers else ())):
        is_known = any((row["case"], row["method"]) == (case.name, method) for row in find_rows())
        if (arguments.methods and method not in arguments.methods) or (is_known and not arguments.again):
            continue
        if method in unsolved:
            nothing = (np.nan, np.nan, np.nan, -1, case.gap, arguments.limit, np.nan)
            row = Row(case.table, case.name, method, *nothing, unsolved=unsolved[method])
        else:
            row = measure(case, method, arguments.limit, arguments.peers)
        if method != "ksparse" and case.ladder and reaches_limit(asdict(row)):
            unsolved[method] = case.name
        with WRITING:
            others = [known for known in find_rows() if (known["case"], known["method"]) != (case.name, method)]
            write_rows([*others, asdict(row)])
        print(f"{row.seconds:8.3f} s  gap {row.gap:8.1e}  {row.nodes:7d}  {method:8s} {case.name}", flush=True)


def write_page() -> str:
    """Write the tables into the page; the summary."""
    PAGE.write_text(insert_tables(PAGE.read_text(), RESULTS))
    return render_summary(find_rows())


if __name__ == "__main__":
    main()
