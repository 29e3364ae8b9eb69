"""What ``ksparse fit`` shows on a terminal: progress, then the model."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import pandas as pd
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..inference.summaries import LONGEST_NAME
from ..solvers import Result, Status
from ..wording import LONGEST_CELL
from . import summary
from .errors import escape_control
from .fitted_model import FittedModel
from .row_facts import list_loss_facts
from .streams import explain_output_errors, write_output

#: What is said of a solver that has done what it should.
ENDS = {
    Status.CONVERGED: "The search is complete",
    Status.SINGULAR: "The search is complete, but other coefficients fit as well: a ridge penalty makes them unique",
    Status.UNFINISHED: "The search is complete, but the coefficients are not exact: the best ones may be infinite",
}
#: Number of features that a terminal lists.
MOST_ROWS = 60
#: Wider than any line: piped text is not wrapped.
ENDLESS = 100_000


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """A spinner, the time and the last message of the library; nothing if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    logger, title = logging.getLogger("ksparse"), escape_control(what)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task(title, total=None)

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                progress.update(line, description=f"{title}: {escape_control(record.getMessage())}")

        listener, level = Listener(), logger.level
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(listener)
            logger.setLevel(level)


def print_model(fitted: FittedModel, written: Sequence[str] = ()) -> None:
    """Print the data, the model, its scores and how the search ended."""
    print_parts(lambda console: _print_parts(console, fitted, written))


def print_parts(show: Callable[[Console], None]) -> None:
    """Print what a function writes to a console."""
    terminal = sys.stdout.isatty()
    console = Console(highlight=False) if terminal else Console(highlight=False, color_system=None, width=ENDLESS)
    with explain_output_errors(), console.capture() as captured:
        show(console)
    # Tables pad their lines; piped text should have no spaces at the end of a line.
    lines = captured.get().splitlines()
    write_output("".join(f"{line if terminal else line.rstrip()}\n" for line in lines))


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print a text that is not markup; wrapped on a terminal only."""
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


def _print_parts(console: Console, fitted: FittedModel, written: Sequence[str]) -> None:
    say(console, "\n".join(summary.describe_data(fitted)))
    if fitted.preparation:
        say(console, "\n" + "\n".join(fitted.preparation))
    if fitted.chose_k:
        say(console, f"\n{summary.describe_choice(fitted)}\n")
        path = summary.tabulate_path(fitted)
        print_table(console, path.assign(**{"": ["<- chosen" if k == str(fitted.k) else "" for k in path.index]}))
    if fitted.findings:
        say(console, "\n" + "\n".join(fitted.findings))
    say(console, f"\n{summary.describe_model(fitted)}\n", style="bold")
    # Without a width, names are not cut until they are the same.
    longest = LONGEST_NAME if console.is_terminal else LONGEST_CELL
    table = fitted.summary.tabulate(longest).rename_axis(columns="Feature")
    ends = len(fitted.summary.constants)  # of the table
    hidden = len(table) - ends - MOST_ROWS
    if console.is_terminal and hidden > 0:
        more = pd.DataFrame("", [f"… and {hidden} rows with less important ones"], table.columns)
        table = pd.concat([table[:MOST_ROWS], more, table[len(table) - ends :]])
    print_table(console, table)
    outputs = fitted.summary.tabulate_outputs(longest).rename_axis(columns="Feature")
    if len(outputs.columns):
        say(console, "")
        print_table(console, outputs[:MOST_ROWS] if console.is_terminal else outputs)
    meanings = [f"{name}: {text}" for name, text in list_loss_facts(fitted).items()]
    meanings.append(summary.describe_coefficients(fitted))
    say(console, "\n" + "\n".join([*meanings, *summary.list_meanings(fitted)]) + "\n")
    print_table(console, summary.tabulate_scores(fitted))
    explained = [summary.describe_scores(fitted), summary.describe_fitted_rows(fitted)]
    say(console, "\n" + "\n".join(filter(None, explained)))
    if skill := summary.describe_skill(fitted):
        say(console, skill, style=None if fitted.is_skilled else "bold red")
    proof = [fitted.proof] if fitted.proof else []
    say(console, "\n" + "\n".join([describe_search(fitted.model.result_, fitted.seconds), *proof, *written]))


def describe_search(result: Result, seconds: float) -> str:
    """How the solver ended, in a line for people who do not know it; its own message is for the report."""
    end = ENDS.get(result.status, f"The search is not complete: {result.message}")
    return f"{end} ({seconds:.2f} s)"


def print_table(console: Console, table: pd.DataFrame) -> None:
    """Print a table: as many columns as fit into the width, then the others below."""
    names, title = table.index.tolist(), str(table.columns.name)
    room = console.width - min(max(map(len, [title, *names])) + 3, console.width // 2)
    widths = [max(map(len, [str(head), *cells])) + 3 for head, cells in table.items()]
    starts, used = [0], 0
    for place, width in enumerate(widths):
        if used + width > room and used:
            starts.append(place)
            used = 0
        used += width
    for start, end in pairwise([*starts, len(widths)]):
        part = table.iloc[:, start:end]
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 1))
        shown.add_column(Text(title), justify="right" if title == "k" else "left", overflow="fold")
        for head in part.columns:
            shown.add_column(Text(head), justify="right", no_wrap=True)
        for cells in part.itertuples(name=None):
            shown.add_row(*map(Text, cells), style="bold" if "<- chosen" in cells else None)
        if start:
            console.print()
        console.print(shown)
