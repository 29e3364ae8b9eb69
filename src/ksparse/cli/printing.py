"""What ``ksparse fit`` prints; rich is imported when there is something to print."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .fitting import FittedModel
from .summary import (
    TextTable,
    describe_choice,
    describe_coefficients,
    describe_data,
    describe_model,
    tabulate_coefficients,
    tabulate_path,
    tabulate_scores,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_model"]

#: Number of features that a terminal lists.
MOST_ROWS = 60
#: Wider than any line: piped text is not wrapped.
ENDLESS = 100_000


def print_model(fitted: FittedModel, written: Sequence[str] = ()) -> None:
    """Print the data, the model, its scores and how the solver ended."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    plain = {} if terminal else {"color_system": None, "force_terminal": False, "width": ENDLESS}
    console = Console(highlight=False, **plain)  # type: ignore[arg-type]
    with console.capture() as captured:
        _print_parts(console, fitted, written)
    # Tables pad their lines; piped text should have no spaces at the end of a line.
    print("\n".join(line if terminal else line.rstrip() for line in captured.get().splitlines()))


def _print_parts(console: Console, fitted: FittedModel, written: Sequence[str]) -> None:
    def say(text: str, style: str | None = None) -> None:
        console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)

    for line in describe_data(fitted):
        say(line)
    if fitted.settings.k is None:
        say(f"\n{describe_choice(fitted)}\n")
        path = tabulate_path(fitted)
        marks = ["<- chosen" if place == path.marked else "" for place in range(len(path.rows))]
        rows = [[*row, mark] for row, mark in zip(path.rows, marks, strict=True)]
        _print_table(console, TextTable([*path.heads, ""], rows, path.marked), first_is_text=False)
    say(f"\n{describe_model(fitted)}\n", style="bold")
    for table in tabulate_coefficients(fitted):
        for part in _split_columns(_shorten(table) if console.is_terminal else table, console.width):
            _print_table(console, part)
            console.print()
    say(f"{describe_coefficients(fitted)}\n")
    _print_table(console, tabulate_scores(fitted))
    result = fitted.model.result_
    solver = f"Solver: {result.message} (iterations: {result.n_iter}; {fitted.seconds:.2f} s)"
    say("\n" + "\n".join([*fitted.notes, solver, *written]))


def _shorten(table: TextTable) -> TextTable:
    """The table without the smallest coefficients, if it is long; the last row is the intercept."""
    hidden = len(table.rows) - 1 - MOST_ROWS
    if hidden <= 0:
        return table
    blanks = ["" for _ in table.heads[1:]]
    more = [f"… and {hidden} with smaller coefficients", *blanks]
    return TextTable(table.heads, [*table.rows[:MOST_ROWS], more, table.rows[-1]])


def _split_columns(table: TextTable, width: int) -> Iterator[TextTable]:
    """Tables with the first column and as many of the others as fit into the width."""
    widths = [max(map(len, column)) + 3 for column in zip(table.heads, *table.rows, strict=True)]
    room = width - min(widths[0], width // 2)
    parts: list[list[int]] = [[]]
    for place in range(1, len(table.heads)):
        if parts[-1] and sum(widths[j] for j in [*parts[-1], place]) > room:
            parts.append([])
        parts[-1].append(place)
    for part in parts:
        yield TextTable([table.heads[j] for j in (0, *part)], [[row[j] for j in (0, *part)] for row in table.rows])


def _print_table(console: Console, table: TextTable, *, first_is_text: bool = True) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 1))
    for place, head in enumerate(table.heads):
        text = first_is_text and place == 0
        shown.add_column(Text(head), justify="left" if text else "right", overflow="fold", no_wrap=not text)
    for place, row in enumerate(table.rows):
        shown.add_row(*map(Text, row), style="bold" if place == table.marked else None)
    console.print(shown)
