"""Means, standard errors and CSV of results."""

from __future__ import annotations

import csv
import io

import numpy as np
from numpy.testing import assert_allclose

from ksparse.experiments import Table

ROWS = [
    {"method": method, "n": n, "replication": r, "error": base + n + r}
    for method, base in (("GraHTP", 0.0), ("FBS", 10.0))
    for n in (20, 10)
    for r in range(4)
]


def test_series_are_sorted_means_with_standard_errors() -> None:
    series = Table(ROWS).series("n", "error", method="FBS")
    assert series.x.tolist() == [10, 20]
    assert_allclose(series.mean, [21.5, 31.5])
    assert_allclose(series.error, np.std(range(4), ddof=1) / 2)


def test_what_is_missing_is_not_a_number() -> None:
    table = Table(ROWS)
    assert np.isnan(table.mean("error", method="GLasso"))
    assert np.isnan(table.error("error", method="GraHTP", n=10, replication=0))
    assert table.series("n", "error", method="GLasso").x.size == 0
    assert table.values("seconds").size == 0


def test_numbers_in_csv_have_eight_digits() -> None:
    rows = [{"a": 1.0 / 3.0, "b": 123456789012}, {"a": 1e-17 / 3.0}, {"a": float("nan")}]
    assert Table(rows).csv() == "a,b\n0.33333333,123456789012\n3.3333333e-18,\nnan,\n"


def test_rows_of_several_kinds_make_one_csv() -> None:
    text = Table([{"a": 1, "b": "x,y"}, {"a": 2, "c": 0.5}]).csv()
    assert list(csv.DictReader(io.StringIO(text))) == [{"a": "1", "b": "x,y", "c": ""}, {"a": "2", "b": "", "c": "0.5"}]


def test_replications_in_words() -> None:
    assert Table({"replication": each % 3} for each in range(6)).repeats() == "3 replications"
    assert Table([{"replication": 7}]).repeats("split") == "1 split (no spread)"


def test_parts_are_the_rows_of_each_value() -> None:
    table = Table([{"n": 2, "a": 1}, {"n": 1, "a": 2}, {"n": 2, "a": 3}, {"a": 4}])
    parts = table.parts("n")
    assert list(parts) == [2, 1]
    assert all(part.rows == table.where(n=n).rows for n, part in parts.items())
