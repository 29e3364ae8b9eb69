"""Columns that give the target away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ksparse.tables import find_giveaways
from ksparse.tables.describing import describe_encoding
from ksparse.tables.encoder import TableEncoder


@pytest.mark.parametrize("has_classes", [True, False])
def test_giveaways(has_classes: bool) -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=200)
    y = (signal > 0.3) if has_classes else signal
    X = pd.DataFrame(
        {"noise": rng.normal(size=200), "good": signal + 0.5 * rng.normal(size=200), "leak": 3 * signal - 7}
    )
    columns = X.columns.to_numpy()
    found = find_giveaways(X, columns, y, has_classes=has_classes)
    assert [giveaway.column for giveaway in found] == ["leak"]
    assert found[0].score > 0.99
    assert find_giveaways(X.drop(columns="leak"), columns[:2], y, has_classes=has_classes) == []
    # With few rows, a column may separate the classes by chance.
    assert find_giveaways(X[:30], columns, y[:30], has_classes=has_classes) == []


def test_the_features_of_a_column_are_judged_together() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], 150)
    table = pd.DataFrame({"town": town, "x": rng.normal(size=150)})
    encoder = TableEncoder().fit(table)
    found = find_giveaways(encoder.transform(table), encoder.feature_columns_, town, has_classes=True)
    assert [giveaway.column for giveaway in found] == ["town"]


def test_lines_say_what_was_done() -> None:
    rows = 40
    table = pd.DataFrame(
        {
            "id": range(rows),
            "price": [f"${j},000" for j in range(1, rows + 1)],
            "gaps": [None, *(j * j for j in range(1, rows))],
            "town": ["a", "b", None, "c"] * (rows // 4),
            "\x1b[31mred": ["u", "v"] * (rows // 2),
            "when": pd.date_range("2020-01-30", periods=rows).astype(str),
        }
    )
    lines = describe_encoding(TableEncoder(indicators=False).fit(table), table)
    assert lines == [
        "Left out: id (it numbers the rows from 0 to 39)",
        "Text as categories: town (3 values, missing in 10 rows as one more), \\x1b[31mred (2 values)",
        "Text as numbers: price (thousands separated; currency removed)",
        "Dates in parts: when (month, day, weekday)",
        "Missing numbers replaced by the median: gaps (1 row)",
    ]


def test_dates_whose_order_is_not_decided_are_told() -> None:
    days = [f"{1 + j % 12:02}/{1 + j // 12:02}/2024" for j in range(40)]
    table = pd.DataFrame({"seen": days, "left": days[::-1], "born": [f"{1 + j % 31}/05/1960" for j in range(40)]})
    undecided = (
        "Dates: 'seen', 'left' are read as month/day/year (no cell decides the order; dates=\"dmy\" for day first)"
    )
    lines = describe_encoding(TableEncoder().fit(table), table)
    assert lines[1:] == [undecided]
    encoder = TableEncoder(dates="dmy").fit(table)
    assert len(describe_encoding(encoder, table)) == 1
    encoded = encoder.transform(table)
    assert encoded["seen (day)"].tolist() == [1 + j % 12 for j in range(40)]
    assert encoded["seen (month)"].tolist() == [1 + j // 12 for j in range(40)]
    with pytest.raises(ValueError, match="dates must be one of 'auto', 'dmy', 'mdy', 'ymd', got 'day'"):
        TableEncoder(dates="day").fit(table)


def test_numbers_with_a_unit_are_told() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "BMI": [f"{number:.1f} kg/m2" for number in rng.uniform(18, 40, 60)],  # as many values as rows: left out
            "dose": [f"{number}mg" for number in rng.integers(1, 4, 60)],
            "weekly": [f"{number} mg" for number in rng.integers(1, 4, 60)],
            "noise": ["?", "unknown", "none", *(f"-{number},5 mg" for number in rng.integers(1, 4, 57))],
            "twice": [f"{number} kg/m2" for number in rng.integers(1, 4, 60)],
            "mixed": [f"{number} {'mg' if number > 1 else 'g'}" for number in rng.integers(1, 4, 60)],
            "plain": rng.normal(size=60),
            "code": [f"A{number}" for number in rng.integers(1, 4, 60)],
            "hour": [f"{number}:00 h" for number in rng.integers(1, 4, 60)],
            "same": "5 kg",
            "skip": [f"{number} cm" for number in rng.integers(1, 4, 60)],
        }
    )
    lines = describe_encoding(TableEncoder(drop=["skip"]).fit(table), table)
    assert [line for line in lines if "unit" in line] == [
        "'dose', 'weekly', 'noise' look like numbers with the unit 'mg': remove it to use them as numbers",
        "'twice', 'BMI' look like numbers with the unit 'kg/m2': remove it to use them as numbers",
    ]
    table = table[["BMI"]].assign(BMI=[*table["BMI"][:-4], *["high"] * 4], dose=table["dose"])
    lines = describe_encoding(TableEncoder(keep=["BMI"]).fit(table), table)
    assert "'dose' looks like numbers with the unit 'mg': remove it to use them as numbers" in lines
    assert not any("kg/m2" in line for line in lines)


def test_numbers_of_values_are_said_in_plain_words() -> None:
    table = pd.DataFrame(
        {
            "few": ["wood"] * 7 + ["other", "others", "more"],
            "rare": [None, *"aabbccddd"],
            "gaps": ["a"] * 6 + [None] * 4,
            "note": [*"abcd", None, *"abcd", None],
        }
    )
    lines = describe_encoding(TableEncoder(keep=["few"]).fit(table), table)
    assert lines[0] == (
        "Text as categories: few (1 value, rare ones together), rare (rare values together, missing in 1 row as one"
        " more), gaps (1 value, missing in 4 rows as one more), note (rare values together, missing in 2 rows as one"
        " more)"
    )
