"""Parsing of the command line; what a command does is in a module of its own."""

from __future__ import annotations

import argparse
import inspect
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from .. import __version__
from ..selection.criteria import CRITERIA
from ..solvers import MAX_EFFORT
from .errors import InputError, escape_control
from .fit import run_fit
from .fitting import FOLDS, Settings
from .predict import run_predict
from .reading import BUILT_IN
from .tasks import TASKS

__all__ = ["main"]

#: Exit codes that shells expect for bad input, Ctrl-C and a closed pipe.
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

FIT = """Fit a model with k features; print them with their coefficients, and scores on
held-out rows.

Features are scaled to standard deviation 1 for the fit, inside each fold when k
is chosen by cross-validation. Coefficients are given in the units of the data
and standardized (per standard deviation of the feature)."""

FIT_MORE = """DATA is one of
  CSV       .csv .tsv .txt, also .gz or .bz2; separated by commas, tabs or
            semicolons; the first line has the names of the columns
  Parquet   .parquet .pq (needs: pip install "ksparse[parquet]")
  svmlight  .svm .svmlight .libsvm, also .gz or .bz2; the label is the target
  or a built-in data set:
{built_in}

examples
  ksparse fit
  ksparse fit patients.csv --target outcome --k 10 --drop patient_id
  ksparse fit genes.csv.gz --target tumour --k auto --rule 1se --out results
  ksparse predict results/model.json new_patients.csv > predictions.csv"""

ALPHA = """ridge penalty A/2·‖w‖² on standardized features (default: that of the estimator, {classes:g} for
classification, where coefficients could grow without bound if features separate the classes, {other:g} otherwise)"""


def _make_type(read: Callable[[str], Any], accepts: Callable[[Any], bool], expected: str) -> Callable[[str], Any]:
    """A type of arguments for argparse, whose error says what was expected."""

    def convert(text: str) -> Any:
        with suppress(ValueError):
            value = read(text)
            if accepts(value):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")

    return convert


K = _make_type(
    lambda text: None if text == "auto" else int(text),
    lambda k: k is None or k >= 0,
    "a number of features (an integer ≥ 0), or auto",
)
SEED = _make_type(int, lambda seed: 0 <= seed < 2**32, "an integer ≥ 0 and below 2³²")
EFFORT = _make_type(int, lambda effort: 0 <= effort <= MAX_EFFORT, f"an integer from 0 to {MAX_EFFORT}")
JOBS = _make_type(int, lambda jobs: jobs == -1 or jobs >= 1, "an integer ≥ 1, or -1")
FRACTION = _make_type(float, lambda value: 0 <= value < 1, "a fraction from 0 (no test rows) to below 1")
PENALTY = _make_type(float, lambda value: 0 <= value < float("inf"), "a finite number ≥ 0")
FOLDER = _make_type(lambda text: Path(text) if text else None, bool, "the name of a folder (. is the current one)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may have letters that the terminal lacks
    try:
        _parse(arguments)()
        sys.stdout.flush()
    except InputError as error:
        print(f"ksparse: {escape_control(error)}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The rest of the buffer must not be written when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (OSError, MemoryError) as error:
        print(f"ksparse: {escape_control(error) or 'not enough memory'}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("ksparse: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parse(arguments: Sequence[str] | None) -> Callable[[], None]:
    parser = argparse.ArgumentParser(
        prog="ksparse", description="Sparse models: select k features, fit, report and predict."
    )
    parser.add_argument("--version", action="version", version=f"ksparse {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    fit = _add_fit(commands)
    predict = commands.add_parser(
        "predict",
        help="predict new rows with a saved model",
        description="Predict new rows with a model that 'ksparse fit --out DIR' or ksparse.save wrote; prints CSV. Only"
        " the columns of the selected features are needed.",
    )
    predict.add_argument("model", metavar="MODEL", type=Path, help="the file model.json")
    predict.add_argument("data", metavar="DATA", help="new rows: a file as for 'ksparse fit'")
    predict.add_argument("--out", metavar="FILE", type=Path, help="write the predictions to this file")
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        # The usage of the command says more than that of all commands.
        commands.choices[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command == "predict":
        return partial(run_predict, options.model, options.data, options.out)
    return _make_fit_command(fit, options)


def _add_fit(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    built_in = "\n".join(f"    {name:14s}{about}" for name, (_, _, about) in BUILT_IN.items())
    alphas = {name: inspect.signature(task.find_class()).parameters["alpha"].default for name, task in TASKS.items()}
    fit = commands.add_parser(
        "fit",
        help="fit a model with k features and show them",
        description=FIT,
        epilog=FIT_MORE.format(built_in=built_in),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.add_argument(
        "data", metavar="DATA", nargs="?", default="breast-cancer", help="a file, or a built-in data set (see below)"
    )
    fit.add_argument("--target", metavar="COL", help="the column to predict: numbers, or text for classes")
    fit.add_argument("-k", "--k", type=K, default=5, metavar="K|auto", help="number of features, or auto (default 5)")
    fit.add_argument(
        "--task",
        choices=["auto", *TASKS],
        default="auto",
        help="kind of model (default auto: classification if the target is text, true or false, or has two values or"
        " few distinct integers; regression otherwise)",
    )
    fit.add_argument(
        "--test", type=FRACTION, default=0.25, metavar="F", help="fraction of rows held out for testing (default 0.25)"
    )
    fit.add_argument(
        "--alpha",
        type=PENALTY,
        metavar="A",
        help=ALPHA.format(classes=alphas["classification"], other=alphas["regression"]),
    )
    fit.add_argument(
        "--criterion",
        choices=["cv", *CRITERIA],
        help=f"how --k auto chooses: {FOLDS}-fold cross-validation (default) or an information criterion",
    )
    fit.add_argument(
        "--rule",
        choices=["best", "1se"],
        help="with cross-validation: the k with the best score (default), or the smallest k whose score is within one"
        " standard error of the best",
    )
    for name, what in (
        ("--always", "features to select in any case; they count towards k"),
        ("--drop", "columns to leave out"),
    ):
        fit.add_argument(name, metavar="COL,COL", action="append", default=[], help=what)
    fit.add_argument(
        "--effort",
        type=EFFORT,
        default=0,
        metavar="E",
        help=f"effort of the search for a better set of k features, from 0 to {MAX_EFFORT} (default 0); each level takes"
        " two to three times as long as the one below",
    )
    fit.add_argument("--seed", type=SEED, default=0, help="seed of the test split and the folds (default 0)")
    fit.add_argument("--jobs", type=JOBS, metavar="N", help="number of folds to fit in parallel; -1 uses all cores")
    fit.add_argument("--out", metavar="DIR", type=FOLDER, help="write report.html and model.json to this folder")
    return fit


def _make_fit_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Callable[[], None]:
    if options.k is not None and (options.criterion or options.rule):
        parser.error("--criterion and --rule are for choosing k; use them with --k auto")
    if options.rule and options.criterion not in (None, "cv"):
        parser.error(f"--rule is for cross-validation; leave it out with --criterion {options.criterion}")
    settings = Settings(
        k=options.k,
        task=options.task,
        test=options.test,
        alpha=options.alpha,
        criterion=options.criterion or "cv",
        rule=options.rule or "best",
        always=tuple(options.always),
        seed=options.seed,
        jobs=options.jobs,
        effort=options.effort,
    )
    return partial(run_fit, options.data, options.target, options.drop, settings, options.out)
