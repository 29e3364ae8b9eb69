"""Parsing of the command line; what a command does is in a module of its own."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import joblib

from .. import __version__
from ..experiments.base import Scale
from ..experiments.registry import EXPERIMENTS
from ..selection.criteria import CRITERIA
from ..solvers.effort import MAX_EFFORT as HIGHEST
from .embedded import EMBEDDED
from .errors import InputError, clean
from .fit import FitCommand
from .fitting import FOLDS, Settings
from .predict import PredictCommand
from .reproduce import ReproduceCommand, UnfinishedError
from .tasks import TASKS

__all__ = ["main"]

#: Exit codes: what shells expect of work that failed, of bad input, of Ctrl-C and of a closed pipe.
FAILED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

FIT = """Fit a model with k features; print them with their coefficients and scores on
held-out rows.

Features are standardized for the fit; coefficients are given in the units of
the data and per standard deviation (sparse svmlight features are scaled by
their standard deviation, not centred)."""

FIT_MORE = """DATA is one of
  CSV       .csv .tsv .txt, also .gz or .bz2; commas, tabs or semicolons;
            the first line names the columns
  Parquet   .parquet .pq (needs: pip install "ksparse[parquet]")
  svmlight  .svm .svmlight .libsvm, also .gz or .bz2; the label is the target
  or a data set that comes along:
{embedded}

examples
  ksparse fit
  ksparse fit patients.csv --target outcome --k 10 --drop patient_id
  ksparse fit genes.csv.gz --target tumour --k auto --rule 1se --out results
  ksparse predict results/model.json new_patients.csv > predictions.csv"""


REPRODUCE = """Run the experiments of "Gradient Hard Thresholding Pursuit" (X.-T. Yuan, P. Li and
T. Zhang, JMLR 18, 2018) again, and write report.html with figures, tables and what
holds of the paper's claims; and all results as CSV. A run that is interrupted goes
on where it stopped if the same command is given."""

REPRODUCE_MORE = """experiments
{names}

examples
  ksparse reproduce --quick
  ksparse reproduce logistic-n compressed-sensing --out figure1
  ksparse reproduce --full --data ~/data"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, 2 for bad input and 1 for work that failed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to stop
    try:
        _command(arguments).run()
        sys.stdout.flush()
    except InputError as error:
        print(f"ksparse: {clean(error)}", file=sys.stderr)
        return BAD_INPUT
    except UnfinishedError as error:
        print(f"ksparse: {clean(error)}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # What is left in the buffer must not be written when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (OSError, MemoryError) as error:
        print(f"ksparse: {clean(error) or 'not enough memory'}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        advice = f"; {stop}" if str(stop) else ""
        print(f"ksparse: interrupted{advice}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _command(arguments: Sequence[str] | None) -> FitCommand | PredictCommand | ReproduceCommand:
    parser = argparse.ArgumentParser(
        prog="ksparse", description="Models with k features: choose them, fit them, report them, use them again."
    )
    parser.add_argument("--version", action="version", version=f"ksparse {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    fit = _add_fit(commands)
    predict = commands.add_parser(
        "predict",
        help="predict new rows with a saved model",
        description="Predict new rows with a model that 'ksparse fit --out DIR' saved; prints CSV. Only the columns of"
        " the selected features are needed.",
    )
    predict.add_argument("model", metavar="MODEL", type=Path, help="the file model.json")
    predict.add_argument("data", metavar="DATA", help="new rows: a file as for 'ksparse fit'")
    predict.add_argument("--out", metavar="FILE", type=Path, help="write the predictions there")
    _add_reproduce(commands)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        # The usage of the command tells more than that of all commands.
        commands.choices[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command == "reproduce":
        return _reproduce_command(options)
    if options.command == "predict":
        return PredictCommand(options.model, options.data, options.out)
    return _fit_command(fit, options)


def _add_fit(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    embedded = "\n".join(f"    {name:14s}{about}" for name, (_, _, about) in EMBEDDED.items())
    fit = commands.add_parser(
        "fit",
        help="fit a model with k features and show them",
        description=FIT,
        epilog=FIT_MORE.format(embedded=embedded),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.add_argument(
        "data", metavar="DATA", nargs="?", default="breast-cancer", help="a file, or a data set (see below)"
    )
    fit.add_argument("--target", metavar="COL", help="the column to predict: numbers, or text for classes")
    fit.add_argument("-k", "--k", type=_k, default=5, metavar="K|auto", help="number of features, or auto (default 5)")
    fit.add_argument(
        "--task",
        choices=["auto", *TASKS],
        default="auto",
        help="kind of model (default auto: classification if the target is text, true or false, two values or few"
        " whole numbers)",
    )
    fit.add_argument("--test", type=_share, default=0.25, metavar="SHARE", help="share of rows held out (default 0.25)")
    fit.add_argument(
        "--alpha",
        type=_penalty,
        metavar="A",
        help="ridge penalty A/2·‖w‖² on standardized features (default 0.001 for classification, where coefficients"
        " could grow without end if features separate the classes; otherwise 0)",
    )
    fit.add_argument(
        "--criterion",
        choices=["cv", *CRITERIA],
        help=f"how --k auto chooses: {FOLDS}-fold cross-validation (default) or an information criterion",
    )
    fit.add_argument(
        "--rule",
        choices=["best", "1se"],
        help="with cross-validation: the best score (default), or the smallest k within one standard error of it",
    )
    for name, what in (
        ("--always", "features that are always selected; they count in k"),
        ("--drop", "columns to leave out"),
    ):
        fit.add_argument(name, metavar="COL,COL", action="append", default=[], help=what)
    fit.add_argument(
        "--effort",
        type=_effort,
        default=0,
        metavar="E",
        help=f"how much more time to spend on a better fit with k features, from 0 to {HIGHEST} (default 0); each level"
        " takes two to three times as long as the one below",
    )
    fit.add_argument("--seed", type=_seed, default=0, help="seed of the test split and the folds (default 0)")
    fit.add_argument("--jobs", type=_jobs, metavar="N", help="folds to work on at a time; -1 is one for each core")
    fit.add_argument("--out", metavar="DIR", type=_folder, help="write report.html and model.json there")
    return fit


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    names = "\n".join(f"  {each.name:20s}{each.paper}: {each.title}" for each in EXPERIMENTS)
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's experiments again",
        description=REPRODUCE,
        epilog=REPRODUCE_MORE.format(names=names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    reproduce.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        type=_experiment,
        help="experiments (see below); all of them if none is named",
    )
    scale = reproduce.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_true", help="small settings, to see that everything runs: minutes")
    scale.add_argument("--full", action="store_true", help="all settings and replications of the paper: hours")
    reproduce.add_argument(
        "--out",
        metavar="DIR",
        type=_folder,
        help="(default reproduction; with --quick or --full, reproduction-quick or reproduction-full)",
    )
    reproduce.add_argument(
        "--jobs", type=_jobs, metavar="N", default=-1, help="tasks at a time (default -1: all cores)"
    )
    reproduce.add_argument("--data", metavar="DIR", type=_folder, help="the folder of the real data (or KSPARSE_DATA)")


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a folder, got ''; . is the current one")
    return Path(text)


def _experiment(text: str) -> str:
    names = [each.name for each in EXPERIMENTS]
    if text not in names:
        raise argparse.ArgumentTypeError(f"there is no experiment {text!r}; choose from {', '.join(names)}")
    return text


def _reproduce_command(options: argparse.Namespace) -> ReproduceCommand:
    cores = joblib.cpu_count()  # those that this process may use
    jobs = cores if options.jobs == -1 else options.jobs
    if jobs > cores:
        print(f"--jobs {jobs}: only {cores} at a time, one for each core", file=sys.stderr)
        jobs = cores
    scale: Scale = "quick" if options.quick else "full" if options.full else "standard"
    out = options.out or Path("reproduction" if scale == "standard" else f"reproduction-{scale}")
    return ReproduceCommand(tuple(options.names), scale, out, jobs, options.data)


def _fit_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> FitCommand:
    if options.k is not None and (options.criterion or options.rule):
        parser.error("--criterion and --rule choose k; use them with --k auto")
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
    return FitCommand(options.data, options.target, tuple(options.drop), settings, options.out)


def _k(text: str) -> int | None:
    return None if text == "auto" else _whole(text, 0, "a number of features from 0, or auto")


def _seed(text: str) -> int:
    return _whole(text, 0, "a whole number from 0", most=2**32 - 1)


def _effort(text: str) -> int:
    return _whole(text, 0, f"a whole number from 0 to {HIGHEST}", most=HIGHEST)


def _jobs(text: str) -> int:
    jobs = _whole(text, -1, "a whole number from 1, or -1")
    if jobs == 0:
        raise argparse.ArgumentTypeError("expected a whole number from 1, or -1, got '0'")
    return jobs


def _whole(text: str, least: int, expected: str, most: int = 2**62) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value


def _share(text: str) -> float:
    value = _real(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 (no test) to less than 1, got {text!r}")
    return value


def _penalty(text: str) -> float:
    value = _real(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a finite number from 0, got {text!r}")
    return value


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from error
