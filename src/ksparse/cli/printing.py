"""What ``ksparse fit`` prints; rich is imported when there is something to print."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..selection.folds import standard_errors
from .errors import escape_control, quote
from .fitting import FOLDS, FittedModel

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "describe_coefficients",
    "describe_data",
    "describe_model",
    "format_number",
    "format_score",
    "format_signed",
    "list_tried",
    "print_model",
]

#: Number of features that a terminal lists.
MOST_ROWS = 60
#: Wider than any line: piped text is not wrapped.
ENDLESS = 100_000
#: Number of classes that are listed with their counts.
MOST_CLASSES = 10


def print_model(fitted: FittedModel, written: Sequence[str] = ()) -> None:
    """Print the data, the model, its scores and how the solver ended."""
    console = _make_console()
    with console.capture() as captured:
        _print_parts(console, fitted, written)
    # Tables pad their lines; piped text should have no spaces at the end of a line.
    lines = captured.get().splitlines()
    print("\n".join(line if console.is_terminal else line.rstrip() for line in lines))


def _print_parts(console: Console, fitted: FittedModel, written: Sequence[str]) -> None:
    for line in describe_data(fitted):
        _print_line(console, line)
    if fitted.settings.k is None:
        _print_line(console, f"\n{_describe_choice(fitted)}\n")
        console.print(_make_path_table(fitted))
    _print_line(console, f"\n{describe_model(fitted)}\n", style="bold")
    for table in _make_coefficient_tables(fitted, console):
        console.print(table)
        console.print()
    _print_line(console, f"{describe_coefficients(fitted)}\n")
    console.print(_make_score_table(fitted))
    console.print()
    result = fitted.model.result_
    solver = f"Solver: {result.message} (iterations: {result.n_iter}; {fitted.seconds:.2f} s)"
    for line in (*fitted.notes, solver, *written):
        _print_line(console, line)


def _make_console() -> Console:
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, color_system=None, force_terminal=False, width=ENDLESS)


def _print_line(console: Console, text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def describe_data(fitted: FittedModel) -> list[str]:
    """What was read, in lines."""
    data, settings = fitted.data, fitted.settings
    rows, features = data.X.shape
    target = f"target {quote(data.target)}" if data.first_index is None else "target: the label of each line"
    task = f"Task: {fitted.task.name} ({fitted.reason})"
    lines = [f"Data: {escape_control(data.source)}, {rows} rows, {features} features, {target}", task]
    if fitted.task.has_classes:
        classes, counts = np.unique(fitted.y, return_counts=True)
        pairs = list(zip(classes.tolist(), counts, strict=True))
        more = f" and {len(pairs) - MOST_CLASSES} more" if len(pairs) > MOST_CLASSES else ""
        shown = ", ".join(f"{escape_control(name)} ({count} rows)" for name, count in pairs[:MOST_CLASSES])
        lines.append(f"Classes: {shown}{more}")
    split = "all rows for training, none for testing (--test 0)"
    if len(fitted.test):
        options = f"--test {settings.test:g} --seed {settings.seed}"
        split = f"{len(fitted.train)} rows for training, {len(fitted.test)} for testing ({options})"
    return [*lines, f"Split: {split}"]


def describe_model(fitted: FittedModel) -> str:
    """The model in a line."""
    selected, features = int(fitted.model.support_.sum()), fitted.data.X.shape[1]
    how = f"k = {fitted.k}" if fitted.settings.k is not None else f"k = {fitted.k}, chosen by {_name_choice(fitted)}"
    title = f"{fitted.task.model} of {quote(fitted.data.target)} with {selected} of {features} features"
    return f"{title} ({how}; ridge penalty alpha = {fitted.model.alpha:g})"


def describe_coefficients(fitted: FittedModel) -> str:
    """What the coefficients mean."""
    if fitted.task.has_classes:
        classes = fitted.model.classes_.tolist()
        if len(classes) == 2:
            return f"Coefficients are for the log-odds of {quote(classes[1])} versus {quote(classes[0])}."
        return "A larger coefficient makes its class more probable as the feature grows."
    if fitted.task.name == "poisson":
        return f"Coefficients are for the logarithm of the expected {quote(fitted.data.target)}."
    return f"Coefficients are in units of {quote(fitted.data.target)} per unit of the feature."


def format_number(value: float, sign: str = "", digits: int = 4) -> str:
    """A number with some significant digits."""
    return f"{value:{sign}#.{digits}g}".rstrip(".")


def format_signed(value: float) -> str:
    """A coefficient with its sign."""
    return format_number(value, "+") if value else "0"


def format_score(name: str, value: float | None) -> str:
    """A score: three decimals, or significant digits for errors in units of the target."""
    if value is None or np.isnan(value):
        return "–"
    return format_number(value) if "error" in name or name == "RMSE" else f"{value:.3f}"


# --- choosing k -----------------------------------------------------------------------------------------------------


def _name_choice(fitted: FittedModel) -> str:
    settings = fitted.settings
    if settings.criterion != "cv":
        return settings.criterion.upper()
    return "cross-validation" + (" with the one-standard-error rule" if settings.rule == "1se" else "")


def _describe_choice(fitted: FittedModel) -> str:
    if fitted.settings.criterion != "cv":
        return f"Choosing k by {_name_choice(fitted)} (smaller is better)"
    how = f"negative mean loss on held-out rows, {FOLDS} folds; larger is better"
    return f"Choosing k by {_name_choice(fitted)} ({how})"


def list_tried(fitted: FittedModel) -> list[tuple[int, float, float | None]]:
    """Each k that was tried, its score or criterion, and the standard error of a score."""
    model: Any = fitted.model
    if fitted.settings.criterion != "cv":
        return [(int(k), float(value), None) for k, value in zip(model.ks_, model.criterion_, strict=True)]
    errors = standard_errors(model.scores_)
    return [
        (int(k), float(mean), float(error))
        for k, mean, error in zip(model.ks_, model.scores_.mean(axis=1), errors, strict=True)
    ]


def _make_path_table(fitted: FittedModel) -> Table:
    validated = fitted.settings.criterion == "cv"
    heads = ["k", "Score", "Standard error", ""] if validated else ["k", fitted.settings.criterion.upper(), ""]
    table = _make_table(heads)
    for k, value, error in list_tried(fitted):
        mark = "<- chosen" if k == fitted.k else ""
        cells = [str(k), format_number(value, digits=6), *([] if error is None else [format_number(error)]), mark]
        table.add_row(*cells, style="bold" if mark else None)
    return table


# --- the model ------------------------------------------------------------------------------------------------------


def _make_coefficient_tables(fitted: FittedModel, console: Console) -> Iterable[Table]:
    selected = fitted.selected
    hidden = max(0, len(selected) - MOST_ROWS) if console.is_terminal else 0
    shown = selected[: len(selected) - hidden]
    kinds = (("Coefficient", False), ("Standardized coefficient", True))
    if len(fitted.coefficients(standardize=False)) == 1:
        yield _make_coefficient_table(fitted, "Feature", [(*kind, 0) for kind in kinds], shown, hidden)
        return
    classes = [escape_control(name) for name in fitted.model.classes_.tolist()]
    for corner, standardize in kinds:
        for part in _fit_width(fitted, classes, shown, console.width):
            columns = [(classes[j], standardize, j) for j in part]
            yield _make_coefficient_table(fitted, corner, columns, shown, hidden)


def _fit_width(fitted: FittedModel, classes: list[str], shown: list[int], width: int) -> Iterable[list[int]]:
    """Classes in groups that fit next to each other into the width of the terminal."""
    names = max([len("(intercept)"), *(len(escape_control(fitted.data.names[feature])) for feature in shown)])
    room, part = width - min(names, width // 2) - 4, list[int]()
    for j in range(len(classes)):
        if part and sum(max(11, len(classes[i])) + 2 for i in [*part, j]) > room:
            yield part
            part = []
        part.append(j)
    yield part


def _make_coefficient_table(
    fitted: FittedModel, corner: str, columns: list[tuple[str, bool, int]], shown: list[int], hidden: int
) -> Table:
    """A table with a row for each feature, and columns (head, whether standardized, row of coefficients)."""
    from rich.text import Text

    table = _make_table([corner, *(head for head, _, _ in columns)], first_is_text=True)
    matrices = {standardize: fitted.coefficients(standardize=standardize) for standardize in (False, True)}
    for feature in shown:
        cells = [format_signed(matrices[standardize][row, feature]) for _, standardize, row in columns]
        table.add_row(Text(escape_control(fitted.data.names[feature])), *cells)
    if hidden:
        table.add_row(f"… and {hidden} with smaller coefficients", *("" for _ in columns))
    intercepts = {standardize: fitted.intercepts(standardize=standardize) for standardize in (False, True)}
    table.add_row("(intercept)", *(format_signed(intercepts[standardize][row]) for _, standardize, row in columns))
    return table


def _make_score_table(fitted: FittedModel) -> Table:
    tested = len(fitted.test) > 0
    table = _make_table(["Score", "Training", "Test"] if tested else ["Score", "Training"], first_is_text=True)
    for name, values in fitted.scores.items():
        table.add_row(name, *(format_score(name, value) for value in (values if tested else values[:1])))
    return table


def _make_table(heads: Sequence[str], *, first_is_text: bool = False) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 1))
    for place, head in enumerate(heads):
        text = first_is_text and place == 0
        table.add_column(Text(head), justify="left" if text else "right", overflow="fold", no_wrap=not text)
    return table
