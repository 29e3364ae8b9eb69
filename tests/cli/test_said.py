"""What the command says beside its tables: of which rows scores are, of smaller models, and of constants."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from ksparse.cli import settings, summary
from ksparse.cli.printing import print_table
from ksparse.cli.reporting import gather_report, source
from ksparse.cli.tables_out import write_features
from ksparse.selection import SparseLinearRegressionCV

from .helpers import accepted, good_table
from .pages import fit

CHOSEN_ON = (
    "The model is fitted to all 60 rows, with what was chosen on 45 of them; test scores are those of the model of"
    " these 45."
)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], CHOSEN_ON),
        (["--alpha", "0"], "The model is fitted to all 60 rows; test scores are those of the model of the 45 rows"),
        (["--no-refit-all"], "The model is fitted to 45 rows; test scores are those of the other 15."),
        (["--test", "0"], "Scores are those of the rows that the model was fitted to; on new rows they are lower."),
    ],
)
def test_it_says_which_rows_the_model_and_the_scores_are_of(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text(good_table())
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--k", "2", *options)
    assert f"\n{said}" in out
    assert "\n\n\n" not in out


@pytest.mark.slow
def test_a_smaller_model_that_is_about_as_good_is_named() -> None:
    fitted = fit(data="diabetes", ks=(0, 1, 2, 3, 5, 8))
    other = SparseLinearRegressionCV(ks=[0, 1, 2, 3, 5, 8], cv=fitted.chosen.cv, standardize=True, rule="1se")
    smaller = other.fit(fitted.data.X.iloc[fitted.train], fitted.y[fitted.train]).k_
    assert smaller < fitted.k
    assert f"k = {smaller} scores within one standard error of the best: --k {smaller}, or --rule 1se" in str(
        fitted.notes
    )
    said = gather_report(fitted, resamples=0)
    assert f"With {smaller} features, the loss in cross-validation is within one" in str(said["summary"]["more"])
    assert "--" not in str(said["notes"])
    assert not any("--rule 1se" in note for note in fit(data="diabetes", ks=(0, smaller)).notes)


def test_cross_validated_scores_have_the_digits_of_their_errors() -> None:
    fitted = fit(data="diabetes", ks=(0, 3))
    table = summary.tabulate_path(fitted)
    errors = fitted.chosen.scores_.std(axis=1, ddof=1) / np.sqrt(5)
    assert [float(cell) for cell in table["Standard error"]] == [float(f"{error:.1e}") for error in errors]
    decimals = [max(0, 1 - int(np.floor(np.log10(error)))) for error in errors]
    assert [len(cell.partition(".")[2]) for cell in table["Score"]] == decimals


def test_counts_are_compared_by_their_deviance(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(120)
    pd.DataFrame({"x": x, "y": rng.poisson(np.exp(1 + x))}).to_csv(tmp_path / "a.csv", index=False)
    fitted = fit(data=str(tmp_path / "a.csv"), target="y", task="poisson", k=1, alpha=0.0)
    said = summary.describe_skill(fitted)
    assert re.search(r"^Better than always answering [\d.]+, the mean: D² \(deviance\) 0\.\d{3} against ", said)
    score = fitted.scores.test["D² (deviance)"]
    assert score is not None
    assert f"{score.value:.3f} against" in said
    assert "-0.000" not in said


def test_chance_is_named_only_where_there_is_a_difference(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.standard_normal(80), "y": ["a", "a", "a", "b"] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = summary.describe_skill(fit(data=str(tmp_path / "a.csv"), target="y", k=0, alpha=1.0))
    assert said == "NO BETTER than always answering 'a': accuracy 0.750 against 0.750 on the test rows."


def test_nested_folds_are_told_where_they_say_something_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(100)
    frame = pd.DataFrame({"x": x, "y": np.where(0.9 * x + rng.logistic(size=100) > 0, "b", "a")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    fitted = fit(data=str(tmp_path / "a.csv"), target="y", k=1, alpha=0.1)
    scores = fitted.scores
    assert scores.nested is not None
    assert scores.comparison is not None
    row = scores.nested.table.loc["Accuracy"]
    assert row["is_better"]
    said = summary.describe_skill(fitted)
    assert said.startswith("NOT CLEARLY BETTER than always answering 'a'")
    values = f"{row['score']:.3f} against {row['baseline']:.3f}"
    assert said.endswith(f" In nested folds, with more rows to judge by, it is better: {values}.")

    lucky = replace(scores.comparison, low=0.01)
    assert lucky.is_better
    agreeing = replace(fitted, scores=replace(scores, comparison=lucky))
    assert "nested" not in summary.describe_skill(agreeing)
    worse = replace(scores.nested, table=scores.nested.table.assign(is_better=False))
    differing = replace(fitted, scores=replace(scores, comparison=lucky, nested=worse))
    assert f"it is no better: {values}." in summary.describe_skill(differing)


@pytest.mark.parametrize(("width", "parts"), [(80, 2), (100, 2), (120, 1)])
def test_tables_are_split_as_rarely_as_possible(width: int, parts: int) -> None:
    widths = {"coefficient": 9, "95 % interval": 20, "selected": 5, "loss without": 6, "closest replacement": 28}
    table = pd.DataFrame({head: ["x" * width] for head, width in widths.items()}, index=["name of a feature"])
    console = Console(width=width, force_terminal=True, color_system=None)
    with console.capture() as captured:
        print_table(console, table.rename_axis(columns="Feature"))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("Feature") for line in lines) == parts
    assert all(cell in " ".join(lines) for cell in table.iloc[0])


def test_piped_names_are_not_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"a name of a column that is long and differs {place} only in its middle part" for place in range(2)]
    X = np.random.default_rng(0).standard_normal((60, 2))
    pd.DataFrame(X, columns=names).assign(y=X.sum(axis=1)).to_csv(tmp_path / "a.csv", index=False)
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--k", "2", "--alpha", "0")
    assert all(re.search(rf"^{name} ", out, re.M) for name in names)


def test_large_data_get_fewer_resamples_and_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RESAMPLES", 6)
    monkeypatch.setattr(settings, "LEAST_RESAMPLES", 2)
    monkeypatch.setattr(settings, "RESAMPLED_NUMBERS", 3 * 60 * 5)
    (tmp_path / "a.csv").write_text(good_table())
    options = {"data": str(tmp_path / "a.csv"), "target": "outcome", "ks": (0, 1, 2, 3, 4, 5), "alpha": 0.0}
    fitted = fit(**options)
    assert fitted.resamples == 3
    assert "- 3 resamples, since the data are large: --resamples 6 takes more time" in summary.list_meanings(fitted)
    asked = fit(**options, resamples=4)
    assert asked.resamples == 4
    assert "since the data are large" not in str(summary.list_meanings(asked))
    monkeypatch.setattr(source, "LEAST_MODELS", 2)
    monkeypatch.setattr(source, "MOST_FITTED_NUMBERS", 3 * 60 * 5)
    data = gather_report(fitted)
    assert (len(data["states"]), data["resamples"]) == (3, 3)
    judged, final = fitted.find_models(1)
    again = judged.fit_to_all(fitted.data.X, fitted.y)
    np.testing.assert_allclose(final.estimator.coef_, again.estimator.coef_, rtol=1e-9)  # of compressed rows


def test_features_csv_names_close_replacements_only() -> None:
    fitted = fit(data="diabetes", k=8, alpha=0.0, resamples=0)
    table = pd.read_csv(StringIO(write_features(fitted)), index_col="feature")
    close = pd.Series(fitted.summary.find_close(), index=fitted.summary.units.index)
    assert 0 < close.sum() < len(close)
    for name in ("replacement", "replacement_fraction", "replacement_correlation"):
        assert table[name].drop("(intercept)").notna().equals(close)
