"""Selections, means, standard errors and CSV of results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from reproduction.frames import (
    count_runs,
    format_mean,
    mean,
    read_csv,
    select_rows,
    split_rows,
    summarize,
    to_csv,
    unique,
)

FRAME = pd.DataFrame(
    {"method": method, "n": n, "replication": r, "error": base + n + r}
    for method, base in (("GraHTP", 0.0), ("FBS", 10.0))
    for n in (20, 10)
    for r in range(4)
)


def test_summaries_are_sorted_means_with_standard_errors() -> None:
    summary = summarize(FRAME, "n", "error", method="FBS")
    assert summary.index.tolist() == [10, 20]
    assert_allclose(summary["mean"], [21.5, 31.5])
    assert_allclose(summary["sem"], np.std(range(4), ddof=1) / 2)


def test_missing_columns_and_values() -> None:
    assert np.isnan(mean(FRAME, "error", method="GLasso"))
    assert np.isnan(mean(FRAME, "seconds"))
    assert not len(select_rows(FRAME, kind="main"))
    assert not len(summarize(FRAME, "n", "error", method="GLasso"))
    assert not len(summarize(FRAME, "n", "seconds"))
    assert unique(FRAME, "kind") == []
    assert split_rows(FRAME, "kind") == {}
    assert format_mean(select_rows(FRAME, method="FBS", n=10, replication=0), "error", 1) == "20.0"


def test_csv_has_eight_digits_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    frame = pd.DataFrame([{"a": 1.0 / 3.0, "b": 12345678901, "found": "010"}, {"a": 1e-17 / 3.0, "b": 5, "c": "x,y"}])
    text = to_csv(frame)
    assert text == 'a,b,found,c\n0.33333333,12345678901,010,\n3.3333333e-18,5,,"x,y"\n'
    (tmp_path / "frame.csv").write_text(text)
    again = read_csv(tmp_path / "frame.csv")
    assert to_csv(again) == text
    assert again["found"][0] == "010"


def test_replications_in_words() -> None:
    assert count_runs(pd.DataFrame({"replication": [0, 1, 2, 0, 1, 2]})) == "3 replications"
    assert count_runs(pd.DataFrame({"replication": [7]}), "split") == "1 split (no spread)"


def test_groups_are_the_rows_of_each_value() -> None:
    frame = pd.DataFrame([{"n": 2, "a": 1}, {"n": 1, "a": 2}, {"n": 2, "a": 3}, {"a": 4}])
    groups = split_rows(frame, "n")
    assert list(groups) == [2, 1]
    assert all(group.equals(select_rows(frame, n=n)) for n, group in groups.items())
