"""Prediction: ksparse, the lasso and its relatives, MCP, SCAD, abess and others, judged by the truth or held-out data.

    pip install ".[bench]" && python benchmarks/prediction.py --output mine       # everything, on one core
    python benchmarks/prediction.py --quick                                       # a few fits, to check that it runs
    python benchmarks/prediction.py --output mine --sizes low --methods ksparse   # a part of the simulation
    python benchmarks/prediction.py --methods ksparse --again                     # measure one method again
    python benchmarks/prediction.py --report                                      # only the page and its figures

Two parts: the simulation of Hastie, Tibshirani and Tibshirani (Stat. Sci. 2020), where the test error is known exactly,
and random splits of real data, which need KSPARSE_DATA, the path of the data folder. A run that is stopped continues
where it was: each data set has its own seed, and its results are appended immediately. A later row replaces an earlier
one. Without --output, results go to benchmarks/results and the page to docs.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import tempfile
import warnings
from pathlib import Path

from prediction_suite.classifiers import CLASSIFIERS, REAL_REGRESSORS
from prediction_suite.page import write_page
from prediction_suite.real_data import SPLITS, find_missing
from prediction_suite.regressors import BEFORE, REGRESSORS
from prediction_suite.rows import RealRow, SimulationRow, read_rows, rewrite_rows
from prediction_suite.runs import REPLICATIONS, run_real, run_simulation
from prediction_suite.simulation import SIZES
from suite.results import read_machine, write_machine

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PARTS = ("simulation", "real")
METHODS = tuple(dict.fromkeys((*REGRESSORS, *CLASSIFIERS, *REAL_REGRESSORS)))
#: What a quick run has.
QUICK_SIZES, QUICK_SPLITS = ("low",), {"colon": 1, "riboflavin": 1}


def measure(options: argparse.Namespace, output: Path) -> None:
    """Run the parts that were asked for."""
    if "simulation" in options.parts:
        sizes = QUICK_SIZES if options.quick else tuple(options.sizes)
        replications = {size: options.replications or count for size, count in REPLICATIONS.items()}
        chosen = tuple(method for method in options.methods if method in REGRESSORS)
        run_simulation(chosen, sizes, replications, output, options.again, most=4 if options.quick else None)
    if "real" in options.parts:
        if missing := find_missing():
            print(f"real data: skipped; {missing}")
            return
        splits = QUICK_SPLITS if options.quick else {name: SPLITS[name] for name in options.data}
        run_real(tuple(options.methods), splits, output, options.again)


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Exit with an error on invalid options, before anything is run."""
    if options.replications is not None and options.replications < 1:
        parser.error(f"--replications {options.replications}: expected 1, 2, …")
    if options.quick and (options.output or options.report):
        parser.error("--quick writes no files; omit --output and --report")
    folder = options.output or RESULTS
    if folder.exists() and not folder.is_dir():
        parser.error(f"--output {folder} is a file; expected a folder")
    if options.report and not read_rows(folder, SimulationRow):
        parser.error(f"{folder} contains no results; run the simulation first")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare predictions with those of other packages", allow_abbrev=False)
    default = [name for name in METHODS if name != BEFORE]
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: both")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=default, metavar="METHOD", help=", ".join(METHODS)
    )
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES), metavar="SIZE")
    parser.add_argument("--data", nargs="+", choices=list(SPLITS), default=list(SPLITS), metavar="DATA")
    parser.add_argument("--replications", type=int, help=f"of each setting; default: {REPLICATIONS}")
    parser.add_argument("--output", type=Path, help="folder for the CSV files, the page and the figures")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    parser.add_argument("--quick", action="store_true", help="a few fits, no files written")
    parser.add_argument("--report", action="store_true", help="only render the page and figures from existing results")
    return parser


def main(arguments: list[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    check_options(parser, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn that they have not converged
        if options.quick:
            with tempfile.TemporaryDirectory() as temporary:
                measure(options, Path(temporary))
            return
        folder, docs = (options.output, options.output) if options.output else (RESULTS, ROOT / "docs")
        if not options.report:
            if not read_machine(folder):
                write_machine(folder)
            measure(options, folder)
            rewrite_rows(folder, SimulationRow)
            rewrite_rows(folder, RealRow)
        write_page(folder, docs)


if __name__ == "__main__":
    main()
