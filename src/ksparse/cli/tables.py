"""What ``ksparse fit`` prints; rich is imported when there is something to print."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..selection import standard_errors
from .errors import clean, quoted
from .fitting import FOLDS, Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "coefficient_label",
    "described",
    "number_of_score",
    "print_outcome",
    "rows_read",
    "signed",
    "significant",
    "tried",
]

#: So many features are listed on a terminal.
MOST_ROWS = 60
#: No line that is piped is this long: nothing is wrapped there.
ENDLESS = 100_000
#: So many classes are counted.
MOST_CLASSES = 10


def print_outcome(outcome: Outcome, written: Sequence[str] = ()) -> None:
    """Print what was read, the model, its scores and how the solver ended."""
    console = _console()
    with console.capture() as captured:
        _print_parts(console, outcome, written)
    # Tables pad their lines, which is nothing to copy or to compare.
    lines = captured.get().splitlines()
    print("\n".join(line if console.is_terminal else line.rstrip() for line in lines))


def _print_parts(console: Console, outcome: Outcome, written: Sequence[str]) -> None:
    for line in rows_read(outcome):
        _say(console, line)
    if outcome.settings.k is None:
        _say(console, f"\n{_choice(outcome)}\n")
        console.print(_path_table(outcome))
    _say(console, f"\n{described(outcome)}\n", style="bold")
    for table in _coefficient_tables(outcome, console):
        console.print(table)
        console.print()
    _say(console, f"{coefficient_label(outcome)}\n")
    console.print(_score_table(outcome))
    console.print()
    result = outcome.fitted.result_
    solver = f"Solver: {result.message} (iterations: {result.n_iter}; {outcome.seconds:.2f} s in all)"
    for line in (*outcome.notes, solver, *written):
        _say(console, line)


def _console() -> Console:
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, color_system=None, force_terminal=False, width=ENDLESS)


def _say(console: Console, text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def rows_read(outcome: Outcome) -> list[str]:
    """What was read, in lines."""
    data, settings = outcome.data, outcome.settings
    rows, features = data.X.shape
    target = f"target {quoted(data.target)}" if data.first_index is None else "target: the label of each line"
    task = f"Task: {outcome.task.name}, {outcome.reason}"
    if outcome.task.classes:
        classes, counts = np.unique(outcome.y, return_counts=True)
        pairs = list(zip(classes.tolist(), counts, strict=True))
        more = f" and {len(pairs) - MOST_CLASSES} classes more" if len(pairs) > MOST_CLASSES else ""
        task += f": {', '.join(f'{clean(name)} ({count})' for name, count in pairs[:MOST_CLASSES])}{more}"
    split = "all to train, none to test (--test 0)"
    if len(outcome.test):
        share = f"--test {settings.test:g} --seed {settings.seed}"
        split = f"{len(outcome.train)} to train, {len(outcome.test)} to test ({share})"
    return [f"Data: {clean(data.source)}, {rows} rows, {features} features, {target}", task, f"Rows: {split}"]


def described(outcome: Outcome) -> str:
    """The model in a line."""
    selected, features = int(outcome.model.support_.sum()), outcome.data.X.shape[1]
    how = f"k = {outcome.k}" if outcome.settings.k is not None else f"k = {outcome.k}, chosen by {_how(outcome)}"
    model = f"{outcome.task.model} of {quoted(outcome.data.target)}"
    return f"{model} with {selected} of {features} features ({how}; alpha = {outcome.alpha:g})"


def coefficient_label(outcome: Outcome) -> str:
    """What the coefficients say."""
    if outcome.task.classes:
        classes = outcome.model.classes_.tolist()
        if len(classes) == 2:
            return f"Coefficients are of the log-odds of {quoted(classes[1])} against {quoted(classes[0])}."
        return "A larger coefficient makes its class more probable."
    if outcome.task.name == "poisson":
        return f"Coefficients are of the logarithm of the expected {quoted(outcome.data.target)}."
    return f"Coefficients are in units of {quoted(outcome.data.target)}."


def significant(value: float, sign: str = "", digits: int = 4) -> str:
    """A number with the digits that matter."""
    return f"{value:{sign}#.{digits}g}".rstrip(".")


def signed(value: float) -> str:
    """A coefficient with its sign."""
    return significant(value, "+") if value else "0"


def number_of_score(name: str, value: float | None) -> str:
    """A score: shares with three decimals, errors in units of the target with the digits that matter."""
    if value is None or np.isnan(value):
        return "–"
    return significant(value) if "error" in name or name == "RMSE" else f"{value:.3f}"


# --- choosing k -----------------------------------------------------------------------------------------------------


def _how(outcome: Outcome) -> str:
    settings = outcome.settings
    if settings.criterion != "cv":
        return settings.criterion.upper()
    return "cross-validation" + (" and the one-standard-error rule" if settings.rule == "1se" else "")


def _choice(outcome: Outcome) -> str:
    if outcome.settings.criterion != "cv":
        return f"k by {_how(outcome)} (smaller is better)"
    return f"k by {_how(outcome)}: score = minus the mean loss of held-out rows in {FOLDS} folds (larger is better)"


def tried(outcome: Outcome) -> list[tuple[int, float, float | None]]:
    """Each k that was tried, its score or criterion, and the standard error of a score."""
    model: Any = outcome.fitted
    if outcome.settings.criterion != "cv":
        return [(int(k), float(value), None) for k, value in zip(model.ks_, model.criterion_, strict=True)]
    errors = standard_errors(model.scores_)
    return [
        (int(k), float(mean), float(error))
        for k, mean, error in zip(model.ks_, model.scores_.mean(axis=1), errors, strict=True)
    ]


def _path_table(outcome: Outcome) -> Table:
    validated = outcome.settings.criterion == "cv"
    heads = ["k", "Score", "Std. error", ""] if validated else ["k", outcome.settings.criterion.upper(), ""]
    table = _table(heads)
    for k, value, error in tried(outcome):
        mark = "<- chosen" if k == outcome.k else ""
        cells = [str(k), significant(value, digits=6), *([] if error is None else [significant(error)]), mark]
        table.add_row(*cells, style="bold" if mark else None)
    return table


# --- the model ------------------------------------------------------------------------------------------------------


def _coefficient_tables(outcome: Outcome, console: Console) -> Iterable[Table]:
    selected = outcome.selected
    hidden = max(0, len(selected) - MOST_ROWS) if console.is_terminal else 0
    shown = selected[: len(selected) - hidden]
    if len(outcome.coefficients(scaled=False)) == 1:
        columns = [(head, scaled, 0) for head, scaled in (("Coefficient", False), ("Per std. dev.", True))]
        yield _coefficient_table(outcome, "Feature", columns, shown, hidden)
        return
    classes = [clean(name) for name in outcome.model.classes_.tolist()]
    for scaled, corner in ((False, "Coefficient"), (True, "Per std. dev.")):
        for part in _that_fit(outcome, classes, shown, console.width):
            yield _coefficient_table(outcome, corner, [(classes[j], scaled, j) for j in part], shown, hidden)


def _that_fit(outcome: Outcome, classes: list[str], shown: list[int], width: int) -> Iterable[list[int]]:
    """Classes side by side as far as the terminal is wide."""
    names = max([len("(intercept)"), *(len(clean(outcome.data.names[feature])) for feature in shown)])
    room, part = width - min(names, width // 2) - 4, list[int]()
    for j in range(len(classes)):
        if part and sum(max(11, len(classes[i])) + 2 for i in [*part, j]) > room:
            yield part
            part = []
        part.append(j)
    yield part


def _coefficient_table(
    outcome: Outcome, corner: str, columns: list[tuple[str, bool, int]], shown: list[int], hidden: int
) -> Table:
    """One table with a row for each feature, and columns (head, scaled, row of coefficients)."""
    from rich.text import Text

    table = _table([corner, *(head for head, _, _ in columns)], first_is_text=True)
    matrices = {scaled: outcome.coefficients(scaled=scaled) for scaled in (False, True)}
    for feature in shown:
        cells = [signed(matrices[scaled][row, feature]) for _, scaled, row in columns]
        table.add_row(Text(clean(outcome.data.names[feature])), *cells)
    if hidden:
        table.add_row(f"… and {hidden} more, smaller ones", *("" for _ in columns))
    intercepts = {scaled: outcome.intercepts(scaled=scaled) for scaled in (False, True)}
    table.add_row("(intercept)", *(signed(intercepts[scaled][row]) for _, scaled, row in columns))
    return table


def _score_table(outcome: Outcome) -> Table:
    tested = len(outcome.test) > 0
    table = _table(["Score", "Train", "Test"] if tested else ["Score", "Train"], first_is_text=True)
    for name, values in outcome.scores.items():
        table.add_row(name, *(number_of_score(name, value) for value in (values if tested else values[:1])))
    return table


def _table(heads: Sequence[str], *, first_is_text: bool = False) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 1))
    for place, head in enumerate(heads):
        text = first_is_text and place == 0
        table.add_column(Text(head), justify="left" if text else "right", overflow="fold", no_wrap=not text)
    return table
