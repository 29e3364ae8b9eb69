"""Numbers and labels as a page holds them: rounded to what is honest, and safe to show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...wording import LONGEST_CELL, cut_text
from ..prediction_tables import protect_label
from ..summary import count_decimals

#: What is written where there is no number.
NO_NUMBER = "–"


@dataclass(frozen=True)
class Label:
    """A name from the data: as it is shown, and as a cell of a CSV file that a spreadsheet takes for no formula."""

    text: str
    cell: str


def make_label(value: Any) -> Label:
    """The label of a name or a class: on one line, without control characters, cut if it is long.

    Examples
    --------
    >>> from ksparse.cli.reporting.numbers import make_label
    >>> make_label("=1+1")
    Label(text='=1+1', cell="'=1+1")
    """
    text = cut_text(value, LONGEST_CELL)
    return Label(text, str(protect_label(text)))


def round_number(value: Any, digits: int = 4) -> float | None:
    """A number with some significant digits; None if it is not finite."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def round_numbers(values: Iterable[Any], digits: int = 4) -> list[float | None]:
    """Numbers with some significant digits."""
    return [round_number(value, digits) for value in values]


def write_number(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """A number with significant digits as people read it: a true minus sign, no exponent where there is room.

    Examples
    --------
    >>> from ksparse.cli.reporting.numbers import write_number
    >>> write_number(-0.0123456), write_number(1234.5), write_number(2.0, sign=True), write_number(3.2e-9)
    ('−0.0123', '1,230', '+2.00', '3.20e−9')
    """
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    if value == 0:
        return "0"
    rounded = f"{abs(value):.{digits - 1}e}"
    mantissa, _, power = rounded.partition("e")
    if -4 <= int(power) < 7:
        text = f"{float(rounded):,.{max(0, digits - 1 - int(power))}f}"
    else:
        text = f"{mantissa}e{'−' if int(power) < 0 else ''}{abs(int(power))}"
    return ("−" if value < 0 else "+" if sign else "") + text


def write_with_error(value: float, error: float | None) -> tuple[str, str]:
    """A number and its standard error, which has two digits and says how many the number has.

    Examples
    --------
    >>> from ksparse.cli.reporting.numbers import write_with_error
    >>> write_with_error(0.328776, 0.1457), write_with_error(2897.1, 143.2), write_with_error(0.5, 0.0)
    (('0.33', '0.15'), ('2,900', '140'), ('0.500', '0'))
    """
    if error is None or not math.isfinite(error) or not math.isfinite(value) or error <= 0:
        return write_number(value), "0" if error == 0 else NO_NUMBER
    decimals = count_decimals(error)
    if decimals is None:
        return write_number(value), write_number(error, 2)
    rounded = round(value, decimals)
    shown = f"{abs(rounded):,.{max(0, decimals)}f}"
    return ("−" if rounded < 0 else "") + shown, f"{round(error, decimals):,.{max(0, decimals)}f}"


def write_percent(fraction: float, rows: int) -> str:
    """A fraction of some rows in per cent: with a decimal if there are rows enough for it.

    Examples
    --------
    >>> from ksparse.cli.reporting.numbers import write_percent
    >>> write_percent(0.9583, 143), write_percent(17 / 18, 18)
    ('95.8%', '94%')
    """
    decimals = 1 if rows >= 50 and 0 < fraction < 1 else 0
    text = f"{100 * fraction:.{decimals}f}"
    return f"{'100' if text == '100.0' else text}%"
