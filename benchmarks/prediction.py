"""Prediction: ksparse, the lasso and its relatives, MCP, SCAD, abess and others, judged by the truth or held-out data.

    pip install ".[bench]" && python benchmarks/prediction.py --output mine       # everything, on one core
    python benchmarks/prediction.py --quick                                       # a few fits, to check that it runs
    python benchmarks/prediction.py --output mine --sizes low --methods ksparse   # a part
    python benchmarks/prediction.py --methods ksparse --again                     # measure one method again
    python benchmarks/prediction.py --report                                      # only the page and its figures

Two parts: the simulation of Hastie, Tibshirani and Tibshirani (Stat. Sci. 2020), where the test error is known exactly,
and random splits of real data (with KSPARSE_DATA, the path of the data folder). A run that is stopped continues where
it was: each data set has its own seed, and its results are appended immediately. A later row replaces an earlier one.
Without --output, results go to benchmarks/results and the page to docs.
"""

from __future__ import annotations

from suite.environment import use_one_thread

use_one_thread()

import argparse
import tempfile
import warnings
from pathlib import Path

from prediction_suite.regressors import BEFORE, REGRESSORS
from prediction_suite.runs import REPLICATIONS, run_simulation
from prediction_suite.simulation import SIZES

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare predictions with those of other packages", allow_abbrev=False)
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--replications", type=int)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    replications = {size: options.replications or count for size, count in REPLICATIONS.items()}
    methods = options.methods or [name for name in REGRESSORS if name != BEFORE]
    run_simulation(tuple(methods), tuple(options.sizes), replications, options.output, options.again)


if __name__ == "__main__":
    main()
