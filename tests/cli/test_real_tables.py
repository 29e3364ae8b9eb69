"""Ten tables that nobody of the project wrote, each fitted at once with ``ksparse fit FILE --target COLUMN``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from ksparse.tables import TableEncoder
from tests.real_data import needs_data

from .helpers import accepted


@dataclass(frozen=True)
class RealTable:
    """A table, its target, and how well the command predicts held-out rows at least."""

    target: str
    score: str
    least: float
    options: tuple[str, ...] = ()
    #: What numbers or names the rows, and some columns without which no model predicts as well.
    identifiers: tuple[str, ...] = ()
    among: tuple[str, ...] = ()


TABLES = {
    "penguins": RealTable("species", "Accuracy", 0.95, among=("bill_length_mm",)),
    "penguins_raw": RealTable(
        "Species", "Accuracy", 0.95, identifiers=("Individual ID",), among=("Culmen Length (mm)",)
    ),
    "TitanicSurvival": RealTable(
        "survived", "ROC AUC", 0.8, identifiers=("rownames",), among=("sex", "passengerClass")
    ),
    "HousePrices": RealTable("price", "R²", 0.55, identifiers=("rownames",), among=("lotsize", "bathrooms")),
    "pbc": RealTable("status", "Accuracy", 0.65, identifiers=("id", "rownames"), among=("bili",)),
    "gbsg2": RealTable("time", "R²", 0.15, identifiers=("rownames",)),
    "rossi": RealTable("arrest", "Accuracy", 0.9, identifiers=("rownames",), among=("week",)),
    "veteran": RealTable("time", "R²", -0.2, identifiers=("rownames",), among=("karno",)),
    "bioChemists": RealTable("art", "R²", 0.05, identifiers=("rownames",), among=("ment",)),
    "ames": RealTable("Sale_Price", "R²", 0.75, ("--ks", "5,15"), among=("Gr_Liv_Area", "Neighborhood")),
}


def find_path(name: str) -> Path:
    return Path(os.environ["KSPARSE_DATA"]) / "tables" / f"{name}.csv"


def list_selected(out: str, columns: list[str]) -> set[str]:
    """The columns in the table of features."""
    lines = re.findall(r"^Feature .*\n─+\n((?:.+\n)+)", out, flags=re.M)[0].splitlines()
    return {name for name in columns for line in lines if re.match(rf"{re.escape(name)}(=|  | \(|$)", line)}


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_fitted_at_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    table, columns = TABLES[name], pd.read_csv(find_path(name), nrows=0).columns.tolist()
    out = accepted(capsys, "fit", find_path(name), "--target", table.target, "--resamples", "0", *table.options)
    scores = re.findall(rf"^{table.score} +(-?[\d.]+) +(-?[\d.]+) ", out, flags=re.M)
    assert float(scores[0][1]) >= table.least
    assert ("Better than always answering" in out) == (name != "veteran")
    selected = list_selected(out, columns)
    assert len(selected) == int(re.findall(r" with (\d+) of \d+ (?:columns|features) ", out)[0])
    assert selected >= set(table.among)
    for identifier in {*table.identifiers} & {*columns}:
        assert re.search(rf"^Left out: .*\b{identifier} \(", out, flags=re.M) or f"{identifier}, " in out
        assert identifier not in selected


@needs_data
@pytest.mark.parametrize("name", TABLES)
def test_no_column_numbers_the_rows(name: str) -> None:
    """By its values, not by its name: none of the used columns counts up with the rows."""
    table = pd.read_csv(find_path(name))
    used = TableEncoder().fit(table.drop(columns=TABLES[name].target)).columns_
    numbers = table[used].select_dtypes("number").dropna(axis=1)
    assert not [name for name in numbers if (numbers[name].diff().iloc[1:] == 1).all()]
