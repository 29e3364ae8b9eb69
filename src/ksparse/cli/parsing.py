"""Parsing of the command line; what a command needs is imported after it."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from .._api import __version__
from ..selection.criteria import CRITERIA
from ..selection.rules import RULES
from ..solvers import MAX_EFFORT
from ..tables.kinds import DATE_ORDERS
from .argument_types import EFFORT, FOLDER, IN_BLOCKS, JOBS, MAX_MEMORY, MEMORY, SEED, make_type
from .graph_parsing import add_graph, find_graph_command
from .reading_options import add_reading_options, take_reading_options
from .settings import CERTIFY_SECONDS, FILES, FOLDS, RESAMPLES, Settings
from .streams import write_error, write_output
from .tasks import TASKS

FIT = """Fit a model with k features; print them with their coefficients, and scores on
held-out rows.

The number of features is chosen by cross-validation, and with it two ridge
penalties: one that acts while features are selected, one for their coefficients.
--k sets the number of features; the ridges are still chosen, unless --alpha is
given.

Features are scaled to standard deviation 1 for the fit, inside each fold too.
Coefficients are given in the units of the data and standardized (per standard
deviation of the feature)."""

FIT_MORE = """DATA is one of
  text      .csv .tsv .txt .dat; the first line has the names of the columns;
            separators, decimal commas, comments and the encoding are found out
  Excel     .xlsx (needs: pip install openpyxl)
  Parquet   .parquet .pq (needs: pip install pyarrow)
  svmlight  .svm .svmlight .libsvm; the label is the target
  any of them with .gz, .bz2, .xz or .zip, or - for standard input,
  several text or Parquet files with the same columns, such as 'data/*.csv',
  or a built-in data set:
    breast-cancer  569 tumours, 30 features, malignant or benign (the default)
    diabetes       442 patients, 10 features, progression of the disease

examples
  ksparse fit
  ksparse fit patients.csv --target outcome --k 10 --drop patient_id
  ksparse fit genes.csv.gz --target tumour --ks 1,2,5,10,20,50 --out results
  ksparse fit trial.csv --time days --event died --drop patient_id
  ksparse fit expression.tsv --transpose --labels samples.csv --target tumour
  ksparse predict results/model.json new_patients.csv > predictions.csv"""

PREDICT = """Predict new rows with a model that 'ksparse fit --out DIR' or ksparse.save wrote; prints CSV. Only the
columns of the selected features are needed. Text labels that a spreadsheet would take for a formula begin with an
apostrophe."""


class Parser(argparse.ArgumentParser):
    """A parser whose output may fail: that of argparse hides errors, or goes to another stream."""

    def _print_message(self, message: str, file: Any = None) -> None:
        (write_output if file is sys.stdout else write_error)(message)


def parse_arguments(arguments: Sequence[str] | None) -> Callable[..., None]:
    """The command that the arguments ask for, with all that it imports; it takes `hold`, as `replace_files` does."""
    parser = Parser(prog="ksparse", description="Sparse models: select k features, fit, report and predict.")
    parser.add_argument("--version", action="version", version=f"ksparse {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    fit = _add_fit(commands)
    predict = commands.add_parser("predict", help="predict new rows with a saved model", description=PREDICT)
    predict.add_argument(
        "model", metavar="MODEL", type=Path, help="the folder of 'ksparse fit --out', or its model.json"
    )
    predict.add_argument("data", metavar="DATA", help="new rows: a file as for 'ksparse fit'")
    predict.add_argument("--out", metavar="FILE", help="write the predictions to this file; - is standard output")
    predict.add_argument(
        "--keep",
        metavar="COL,COL",
        action="append",
        help="columns of DATA to put before the predictions (default: identifiers, if the model knows of some)",
    )
    predict.add_argument(
        "--times",
        type=SURVIVAL_TIMES,
        metavar="T,T",
        help="for Cox regression: times at which the probability of survival is predicted, such as 365,1826 (default:"
        " quartiles of the times with events)",
    )
    predict.add_argument("--max-memory", type=MEMORY, metavar="SIZE", help=MAX_MEMORY + IN_BLOCKS)
    add_reading_options(predict, labels=False)
    graph = add_graph(commands)
    options, unknown = parser.parse_known_args(arguments)
    given = vars(options)
    command = given.pop("command")
    if unknown:
        # The usage of the command says more than that of all commands.
        commands.choices[command].error(f"unrecognized arguments: {' '.join(unknown)}")
    given["reading"] = take_reading_options(given)
    if command == "graph":
        return find_graph_command(graph, given)
    if given.get("k") is not None and ("criterion" in given or "rule" in given):
        fit.error("--criterion and --rule are for choosing k; use them with --k auto or --ks")
    if given.get("k") is not None and "ks" in given:
        fit.error("--k is the number of features, and --ks are numbers to choose from; give one of them")
    _check_survival(fit, given)
    _check_blocks(fit, given)
    if "rule" in given and given.get("criterion", "cv") != "cv":
        fit.error(f"--rule is for cross-validation; leave it out with --criterion {given['criterion']}")
    from .commands import run_fit, run_predict

    if command == "predict":
        return partial(run_predict, **given)
    settings = Settings(**given)
    if settings.out is not None:
        import_module(".report", __package__)  # now, since signals end the imports cleanly
    return partial(run_fit, settings)


def _check_survival(fit: Parser, given: dict[str, Any]) -> None:
    """End if the options of survival analysis do not fit together."""
    if "time" in given and "event" not in given:
        fit.error(
            "--time and --event belong together: the column of times, and that of events; if every row had its event,"
            " use a column of ones as --event, or predict the time itself: --target COL --task gamma"
        )
    if "event" in given and "time" not in given:
        fit.error("--time and --event belong together: the column of times, and that of events")
    if "time" not in given and ("entry" in given or "strata" in given):
        fit.error("--entry and --strata are for survival analysis, with --time and --event")
    if "time" in given and "target" in given:
        fit.error("--time and --event take the place of --target; leave it out")
    if "time" in given and "exposure" in given:
        fit.error(
            "--exposure is for counts and amounts: with --time, the time itself says how long a row was observed, and"
            " --entry from when on; --offset COL is for what is known of the logarithm of the hazard"
        )


def _check_blocks(fit: Parser, given: dict[str, Any]) -> None:
    """End if the options that say who reads blocks do not fit together."""
    if "scheduler" in given and ("out_of_core" in given or "workers" in given):
        fit.error(
            "--scheduler has workers of its own, and --out-of-core and --workers are for those of this machine; leave"
            " --scheduler or the others out"
        )
    if "workers" in given and "out_of_core" not in given:
        fit.error("--workers is for --out-of-core; give both, or leave --workers out")


def _add_fit(commands: argparse._SubParsersAction[Parser]) -> Parser:
    alphas = {name: inspect.signature(task.find_class()).parameters["alpha"].default for name, task in TASKS.items()}
    fit = commands.add_parser(
        "fit",
        help="fit a model with k features and show them",
        description=FIT,
        epilog=FIT_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,  # the defaults are those of Settings
    )
    columns: dict[str, Any] = {"metavar": "COL,COL", "action": "append"}
    add = fit.add_argument
    add("data", metavar="DATA", nargs="?", help="a file, or a built-in data set (see below)")
    add(
        "--target",
        **columns,
        help="the column to predict: numbers, or text for classes. Several columns of numbers get one model with the"
        " same k features for all of them (least squares)",
    )
    add(
        "--time",
        metavar="COL",
        help="survival analysis (Cox regression): the column of times until an event; no --target",
    )
    add(
        "--event",
        metavar="COL",
        help="with --time: the column that says whether the event came (1) or the time was cut off (0); COL=VALUE if"
        " another value stands for the event",
    )
    add("--entry", metavar="COL", help="with --time: the column of times at which rows came under observation")
    add("--strata", metavar="COL", help="with --time: the column of groups with baseline hazards of their own")
    add(
        "--weights",
        metavar="COL",
        help="the column of weights of the rows: a row of weight 2 counts as two equal rows, one of weight 0 is left"
        " out. It is no feature",
    )
    add_one = fit.add_mutually_exclusive_group().add_argument
    add_one(
        "--exposure",
        metavar="COL",
        help="the column of what the expected response is in proportion to, such as years under observation (poisson,"
        " negative-binomial, gamma, tweedie). It is no feature, and predictions of new rows need it",
    )
    add_one(
        "--offset",
        metavar="COL",
        help="the column of numbers that are added to the margins: of the logarithm of an exposure, or of what is known"
        " of the response (with --time: of the logarithm of the hazard). It is no feature, and predictions of new rows"
        " need it",
    )
    add("-k", "--k", type=K, metavar="K|auto", help="number of features, or auto (default): chosen by cross-validation")
    add("--ks", type=KS, metavar="K,K,…", help="numbers of features to choose from, such as 1,2,5,10,20")
    add(
        "--task",
        choices=["auto", *TASKS],
        help="kind of model (default auto: classification if the target is text, true or false, or has two values or"
        " few distinct integers; regression otherwise)",
    )
    add(
        "--no-refit-all",
        dest="refit_all",
        action="store_false",
        help="report the model that was fitted to the training rows. By default, what was chosen on them is fitted to"
        " all rows, and the scores are those of the former on the test rows",
    )
    add(
        "--nested",
        action=argparse.BooleanOptionalAction,
        help=f"also score by {FOLDS} folds of all rows, in each of which k and the ridges are chosen anew; this takes"
        f" about {FOLDS} times as long (default: with fewer than 50 test rows)",
    )
    add("--test", type=FRACTION, metavar="F", help=f"fraction of rows held out for testing (default {Settings.test})")
    add(
        "--alpha",
        type=PENALTY,
        metavar="A|auto",
        help="ridge penalty A/2·‖w‖² on standardized features. auto (default): one for the selection of features and"
        " one for their coefficients, both chosen by cross-validation with k. With --criterion, the default is"
        f" {alphas['classification']:g} for classification and {alphas['regression']:g} otherwise",
    )
    add(
        "--criterion",
        choices=["cv", *CRITERIA],
        help=f"how --k auto chooses: {FOLDS}-fold cross-validation (default) or an information criterion",
    )
    add(
        "--rule",
        choices=RULES,
        help="with cross-validation: the best score averaged over neighbouring models (smooth, the default), the best"
        " score, the weakest ridge of the selection and then the smallest k within 0.2 standard errors of the best"
        " (near), or the smallest k whose score is within one standard error of the best (1se)",
    )
    add(
        "--resamples",
        type=RESAMPLE_COUNT,
        metavar="N",
        help="bootstrap resamples of the rows, on which the features are selected again, for intervals and frequencies"
        f" (default {RESAMPLES}, fewer for large data; 0: none)",
    )
    add("--always", **columns, help="features to select in any case; they count towards k")
    add("--drop", **columns, help="columns to leave out")
    add("--include", **columns, help="columns to use although they look like identifiers or copies of the target")
    add(
        "--dates",
        choices=["auto", *DATE_ORDERS],
        help="order of day, month and year in dates such as 03/04/2024 (default auto: what the cells show; if they do"
        " not, the month is first, and a line says so)",
    )
    add("--positive", metavar="LABEL", help="of two classes, the one whose odds the coefficients describe")
    add(
        "--class-weight",
        choices=["balanced"],
        help="balanced: each class has the same total weight, however few rows it has",
    )
    add(
        "--categories",
        metavar="LABEL,LABEL",
        action="append",
        help="with --task ordinal: the classes from the lowest to the highest, if they are text",
    )
    add(
        "--power",
        type=POWER,
        metavar="P",
        help="with --task tweedie: the variance is proportional to this power of the mean, from 1 to 2 (default 1.5)",
    )
    add(
        "--quantile",
        type=QUANTILE_LEVEL,
        metavar="Q",
        help="with --task quantile: which one (default 0.5: median)",
    )
    add(
        "--dispersion",
        type=DISPERSION,
        metavar="A",
        help="with --task negative-binomial: the variance of a count with the mean m is m + A·m² (default: the most"
        " likely A)",
    )
    add(
        "--effort",
        type=EFFORT,
        metavar="E",
        help=f"effort of the search for a better set of k features, from 0 to {MAX_EFFORT} (default {Settings.effort});"
        " each level takes two to three times as long as the one below",
    )
    add(
        "--certify",
        type=SECONDS,
        nargs="?",
        const=CERTIFY_SECONDS,
        metavar="SECONDS",
        help="prove how much lower the loss of another model with as many features can be at most, by a search of all"
        f" of them that takes up to so many seconds (default {CERTIFY_SECONDS:g}); Ctrl-C ends the search, not the"
        " command",
    )
    add("--seed", type=SEED, help=f"seed of the test split and the folds (default {Settings.seed})")
    add("--jobs", type=JOBS, metavar="N", help="number of folds to fit in parallel; -1 uses all cores")
    add("--max-memory", type=MEMORY, metavar="SIZE", help=MAX_MEMORY + IN_BLOCKS)
    add(
        "--out-of-core",
        action="store_true",
        help="read text or Parquet files in blocks of rows by worker processes that take no more than --max-memory"
        " together (default: half of the memory). Several files ('data/*.parquet', 'data/*.csv') and data that take"
        " more than half of the memory, or than --max-memory, are read in blocks in any case, by this process",
    )
    add(
        "--workers",
        type=WORKERS,
        metavar="N",
        help="with --out-of-core: how many worker processes (default: one for each core, if each can have 700 MB);"
        " 0: this process reads the blocks",
    )
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="fit Parquet files on the cluster of this Dask scheduler, such as tcp://10.0.0.1:8786, whose workers read"
        " them",
    )
    add("--out", type=FOLDER, metavar="DIR", help=f"write {', '.join(FILES)} to this folder")
    add("--title", metavar="TEXT", help="title of the report (default: what is predicted, and with how many features)")
    add_reading_options(fit)
    return fit


WORKERS = make_type(int, lambda count: count >= 0, "a number of processes (an integer ≥ 0)")
POWER = make_type(float, lambda power: 1 <= power <= 2, "a number from 1 (Poisson) to 2 (gamma)")
QUANTILE_LEVEL = make_type(float, lambda level: 0 < level < 1, "a number between 0 and 1, such as 0.9")
DISPERSION = make_type(float, lambda value: 0 <= value < float("inf"), "a finite number ≥ 0")
SECONDS = make_type(float, lambda seconds: 0 <= seconds <= 1e7, "a number of seconds ≥ 0, such as 60 (DATA goes first)")
K = make_type(
    lambda text: None if text == "auto" else int(text),
    lambda k: k is None or k >= 0,
    "a number of features (an integer ≥ 0), or auto",
)
RESAMPLE_COUNT = make_type(int, lambda count: 0 <= count <= 10_000, "an integer from 0 to 10000")
FRACTION = make_type(float, lambda value: 0 <= value < 1, "a fraction from 0 (no test rows) to below 1")
PENALTY = make_type(
    lambda text: None if text == "auto" else float(text),
    lambda value: value is None or 0 <= value < float("inf"),
    "a finite number ≥ 0, or auto",
)
KS = make_type(
    lambda text: [int(part) for part in text.split(",")],
    lambda ks: min(ks) >= 0,
    "numbers of features (integers ≥ 0) with commas between them, such as 1,2,5,10",
)
SURVIVAL_TIMES = make_type(
    lambda text: [float(part) for part in text.split(",")],
    lambda times: all(0 < time < float("inf") for time in times),
    "positive numbers with commas between them, such as 365,1826",
)
