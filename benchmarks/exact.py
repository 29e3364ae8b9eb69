"""CPU seconds until the best subset is proved, beside OKRidge, l0bnb and El0ps: the tables of docs/certificates.md.

    python benchmarks/exact_suite/setup.py FOLDER      # environments of the packages, once
    python benchmarks/exact.py --peers FOLDER          # all cases; results are kept row by row
    python benchmarks/exact.py --tables glm real --methods ksparse --again
    python benchmarks/exact.py --report                # only the tables of the page, from existing results

Each proof has a process of its own with one thread, after a small problem of the same kind, which loads and compiles
the code. Seconds are CPU seconds, limits too, and they include everything: ksparse's first solution, Gram matrices,
eigenvalues. A proof is complete at a relative gap (f − bound)/f of 1e-4, or 1e-6 in the first table; packages end by
their own definition of the gap, which is kinder: OKRidge's leaves out Σy², the others' include the penalty. Those with
a penalty λ₀‖w‖₀ get the λ₀ in the middle of those whose solution has k features, the best solution as their start, and
the same bounds of the coefficients.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from suite.environment import make_environment, use_one_thread

use_one_thread()

import numpy as np
from exact_suite.cases import CASES, ExactCase
from exact_suite.setup import find_python
from exact_suite.tables import NAMES, insert_tables, read_rows

import ksparse
from ksparse.sparsity import Entries

RESULTS = Path(__file__).parent / "results" / "exact.csv"
PAGE = Path(__file__).parent.parent / "docs" / "certificates.md"
#: The bound of coefficients, relative to the largest one of the best model.
BOX_FACTOR = 1.5


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


# --- in the measuring process -----------------------------------------------------------------------------------------


def find_box(case: ExactCase, objective: Any) -> float:
    """The bound of the coefficients of a case."""
    if case.box >= 0:
        return case.box
    return BOX_FACTOR * float(np.abs(ksparse.minimize(objective, case.k).x).max())


def prove(case: ExactCase, limit: float) -> dict[str, Any]:
    """Both calls of a user: the solution and its proof, in CPU seconds."""
    time.perf_counter = time.process_time  # limits are in CPU seconds
    small = ExactCase(case.table, case.loss, 80, 12, 2, 0.0, 0.1, box=case.box)
    for compiled in (small, case):
        X, y = compiled.make()
        objective, sparsity = compiled.make_objective(X, y), Entries(compiled.k)
        if compiled.box:
            box = find_box(compiled, objective)
            sparsity = Entries(compiled.k, lower=-box, upper=box)
            objective = compiled.make_objective(X, y)  # without what the first call has cached
        began = time.process_time()
        proof = ksparse.solve_exact(objective, sparsity=sparsity, gap=compiled.gap, time_limit=limit)
        seconds = time.process_time() - began
    return {
        "value": proof.value,
        "lower_bound": proof.lower_bound,
        "gap": proof.gap,
        "nodes": proof.nodes,
        "seconds": seconds,
    }


def write_problem(case: ExactCase, path: Path) -> None:
    """The data of a case, with λ₀, the bound of the coefficients and the best solution, for other packages."""
    X, y = case.make()
    objective = case.make_objective(X, y)
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
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        print(done.stderr[-600:])
        found = {"value": np.nan, "lower_bound": np.nan, "seconds": np.nan}
    value, lower = found["value"], found["lower_bound"]
    gap = found.get("gap", max((value - lower) / value, 0.0))
    return Row(case.table, case.name, method, found["seconds"], gap, value, found.get("nodes", -1), case.gap, limit)


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
        writer.writerows({**row, "seconds": f"{row['seconds']:.4g}", "gap": f"{row['gap']:.3g}"} for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="folder of the other packages' environments")
    parser.add_argument("--tables", nargs="+", help="only these tables: grid, hard, wide, glm, real")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a proof")
    parser.add_argument("--again", action="store_true", help="measure also what was measured before")
    parser.add_argument("--report", action="store_true", help="write the tables of existing results into the page")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.report:
        PAGE.write_text(insert_tables(PAGE.read_text(), RESULTS))
        return
    if arguments.write is not None:
        write_problem(CASES[arguments.case], arguments.write)
        return
    if arguments.case is not None:
        print(json.dumps(prove(CASES[arguments.case], arguments.limit)))
        return
    for case in CASES:
        if arguments.tables and case.table not in arguments.tables:
            continue
        for method in ("ksparse", *(case.peers if arguments.peers else ())):
            others = [row for row in find_rows() if (row["case"], row["method"]) != (case.name, method)]
            is_known = len(others) < len(find_rows())
            if (arguments.methods and method not in arguments.methods) or (is_known and not arguments.again):
                continue
            row = measure(case, method, arguments.limit, arguments.peers)
            write_rows([*others, asdict(row)])
            print(f"{row.seconds:8.2f} s  gap {row.gap:8.1e}  {row.nodes:7d}  {method:8s} {case.name}", flush=True)


if __name__ == "__main__":
    main()
