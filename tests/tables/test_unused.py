"""Which columns tell nothing about other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.tables.kinds import infer_kind
from ksparse.tables.unused import find_unused

WORDS = [f"patient {j}" for j in range(40)]
UNUSED: dict[str, tuple[str, list[Any], str]] = {
    "numbers of rows": ("x", list(range(1, 41)), "numbers the rows from 1 to 40"),
    "numbers of rows from 0": ("x", list(range(40)), "numbers the rows from 0 to 39"),
    "numbers of rows without some": ("x", [j for j in range(1, 41) if j % 9], "numbers the rows from 1 to 40, some"),
    "numbers of rows with gaps": ("x", [None if j % 9 == 0 else j for j in range(1, 41)], "from 1 to 40, some"),
    "numbers of rows as text": ("case", [str(j) for j in range(1, 41)], "numbers the rows"),
    "few numbered rows": ("rownames", [1, 2, 3], "numbers the rows"),
    "named id": ("subject_id", [7, 3, 11, 5], "by its name"),
    "named ID": ("patientID", [7, 3, 11, 5], "by its name"),
    "nearly distinct numbers": ("patient_id", [*range(1001, 1119), 1001, 1002], "nearly distinct whole numbers"),
    "a gap": ("patient_id", [7, 3, np.nan, 5], "by its name and its distinct whole numbers"),
    "a gap in text": ("pid", ["7", "3", "?", "5"], "by its name"),
    "gaps and repeated": ("mrn", [*range(501, 540), np.nan, 501], "nearly distinct"),
    **{
        f"named {name}": (name, [70, 30, 110, 50], "by its name")
        for name in (
            *("patient_nr", "Patient Number", "subject", "MRN", "pid", "sample_no", "record", "subject_no"),
            *("CustomerNo", "patient #", "Case No."),
        )
    },
    "codes": ("Individual ID", ["a1", "a2", "a1", "a3"], "by its name"),
    "distinct text": ("name", WORDS, "each row has a value of its own"),
    "nearly distinct text": ("name", [*WORDS[:-1], WORDS[0]], "39 of 40 rows have a value of its own"),
    "constant": ("site", ["Ulm"] * 5, "same value"),
    "constant number": ("site", [3.0] * 5, "same value"),
    "empty": ("note", [None, "NA", ""], "is empty"),
    "empty numbers": ("note", [np.nan, np.nan], "is empty"),
}
USED: dict[str, tuple[str, list[Any]]] = {
    "years": ("year", list(range(1990, 2030))),
    "distinct numbers": ("weight", [50.5, 61.25, 70.125]),
    "distinct whole numbers": ("salary", [7000, 3100, 11000, 5600]),
    "numbers from 1 with a gap": ("rank", [*range(1, 40), 50]),
    "few words": ("town", ["Ulm", "Bonn", "Kiel"]),
    "constant with gaps": ("fence", ["wood", None, "wood"]),
    "grid": ("grid", ["a", "b", "a", "b"]),
    "repeated": ("patient_id", [*range(1001, 1101), *range(1001, 1021)]),
    "repeated subject": ("subject", [1, 1, 2, 2, 3, 3]),
    "topics": ("subject", ["maths", "art", "maths", "art"]),
    "no whole numbers": ("record", [1.5, 2.5, 4.75]),
    "number of something": ("number", [7, 3, 11, 5]),
    "sample size": ("sample size", [7, 3, 11, 5]),
    "paid": ("paid", [7, 3, 11, 5]),
}


@pytest.mark.parametrize("name", UNUSED)
def test_columns_that_are_left_out(name: str) -> None:
    column, cells, reason = UNUSED[name]
    table = pd.DataFrame({column: cells, "square": np.arange(len(cells)) ** 2})
    every = find_unused(table, {name: infer_kind(table[name]) for name in table})
    assert list(every) == [column]
    found = every[column]
    assert reason in found.reason
    assert found.is_identifier == ("constant" not in name and "empty" not in name)


@pytest.mark.parametrize("name", USED)
def test_columns_that_are_used(name: str) -> None:
    column, cells = USED[name]
    table = pd.DataFrame({column: cells})
    assert find_unused(table, {column: infer_kind(table[column])}) == {}
