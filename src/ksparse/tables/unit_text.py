"""Text that is a number and a unit."""

from __future__ import annotations

import re

import pandas as pd

from .kinds import ENOUGH_CELLS, LONGEST_NUMBER, MISSING_WORDS, clean_text

__all__ = ["find_text_unit"]

#: A number and a unit after it, such as 23.8 kg/m2.
NUMBER_AND_UNIT = re.compile(r"^[+-]?(?:\d[\d.,]*|\.\d+)\s*(?P<unit>(?:[^\W\d_]|[°\"″'′/]).{0,19})$")


def find_text_unit(cells: pd.Series) -> str:
    """The unit after the numbers in a column of text; empty unless nearly all cells are numbers with the same one.

    Examples
    --------
    >>> import pandas as pd
    >>> from ksparse.tables.unit_text import find_text_unit
    >>> find_text_unit(pd.Series(["23.8 kg/m2", "31 kg/m2", None]))
    'kg/m2'
    """
    text = clean_text(cells).dropna()
    text = text[~text.str.lower().isin(MISSING_WORDS)]
    matches = [NUMBER_AND_UNIT.match(cell) if len(cell) <= LONGEST_NUMBER else None for cell in text]
    units = pd.Series([match["unit"] for match in matches if match], dtype=object).value_counts()
    is_unit = len(units) and units.iloc[0] >= ENOUGH_CELLS * len(text) and text.nunique() > 1
    return str(units.index[0]) if is_unit else ""
