"""``ksparse fit --time T --event E --offset O``: against the estimator, from the file to predictions of new rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import SparseCoxRegression, load, make_survival_target
from ksparse.cli import main
from ksparse.cli.report import render_report
from ksparse.inference import concordance_index, concordance_interval
from ksparse.inference.concordance import compare_concordance

from .helpers import accepted, refused
from .pages import fit, read_data

N = 300
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, 3))
KNOWN = RNG.standard_normal(N)
NAMES = ["a", "b", "c"]
COMMON = ["--time", "days", "--event", "died", "--offset", "known"]
PLAIN = ["--k", "1", "--alpha", "0.01", "--resamples", "0"]


def write(folder: Path, effect: float = 1.0) -> Path:
    """Times until an event, which a known risk and the first feature shorten."""
    rng = np.random.default_rng(6)
    time = rng.exponential(np.exp(-effect * X[:, 0] - KNOWN))
    cut = rng.exponential(2.0, N)
    died = (time <= cut).astype(int)
    path = folder / "trial.csv"
    frame = pd.DataFrame(X, columns=NAMES).assign(days=np.minimum(time, cut), died=died, known=KNOWN)
    frame.to_csv(path, index=False)
    return path


def read_target(path: Path) -> Any:
    frame = pd.read_csv(path)
    return make_survival_target(frame["days"], frame["died"])


def test_the_model_is_that_of_the_estimator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    text = accepted(capsys, "fit", path, *COMMON, *PLAIN, "--out", out)
    assert f"Offset: 'known', {KNOWN.min():.4g} to {KNOWN.max():.4g}; added to the sum of the features" in text
    y, saved = read_target(path), load(out)
    model = SparseCoxRegression(k=1, alpha=0.01, standardize=True).fit(X, y, offset=KNOWN)
    np.testing.assert_allclose(saved[-1].coef_, model.coef_, rtol=1e-6)
    without = SparseCoxRegression(k=1, alpha=0.01, standardize=True).fit(X, y)
    assert abs(without.coef_[0] - model.coef_[0]) > 0.1  # so that the offset matters here
    # The verdict compares with the offset alone.
    rows = list(csv.DictReader((out / "predictions.csv").read_text().splitlines()))
    places = np.array([int(row["row"]) for row in rows]) - 1
    np.testing.assert_allclose([float(row["known"]) for row in rows], KNOWN[places], rtol=1e-7)
    train = np.setdiff1d(np.arange(N), places)
    judged = model.fit(X[train], y[train], offset=KNOWN[train]).predict(X[places], KNOWN[places])
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], judged, rtol=1e-6)
    ours, alone = (concordance_index(y[places], risk) for risk in (judged, KNOWN[places]))
    assert f"Better than the offset 'known' alone: C-index {ours:.3f} against {alone:.3f} on the test rows" in text


def test_predictions_of_new_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    accepted(capsys, "fit", path, *COMMON, *PLAIN, "--out", out)
    rows = np.array(list(csv.reader(accepted(capsys, "predict", out, path, "--times", "0.1,1").splitlines()))[1:])
    model = load(out)[-1]
    np.testing.assert_allclose(rows[:, 0].astype(float), X @ model.coef_ + KNOWN, rtol=1e-6)
    expected = model.predict_survival_function(pd.DataFrame(X, columns=NAMES), [0.1, 1.0], offset=KNOWN)
    np.testing.assert_allclose(rows[:, 1:].astype(float), expected, atol=1e-6)
    pd.read_csv(path).drop(columns="known").to_csv(tmp_path / "new.csv", index=False)
    assert "lacks the column 'known', which the model needs" in refused(capsys, "predict", out, tmp_path / "new.csv")


def test_the_report_compares_with_the_offset(tmp_path: Path) -> None:
    path = write(tmp_path)
    options: dict[str, Any] = {"time": "days", "event": "died", "offset": "known", "alpha": 0.01, "resamples": 0}
    fitted = fit(data=str(path), ks=(1, 2), **options)
    data = read_data(render_report(fitted))
    rows, train = fitted.test, fitted.train
    alone = concordance_index(fitted.y[rows], KNOWN[rows])
    expected = f"The offset known alone, without features, would put {100 * alone:.0f}% in the right order."
    assert data["summary"]["more"][0] == expected
    card = data["states"][0]["cards"][-1]
    assert (card["value"], card["label"]) == (f"{alone:.3f}", "C-index of the offset known alone")
    # Limits of the risk groups are quantiles of the risks with their offsets.
    chosen = data["states"][data["chosen"]]
    estimator = fitted.training.estimator
    risk, trained = (
        estimator.predict(fitted.training.encode(fitted.data.X, part), KNOWN[part]) for part in (rows, train)
    )
    edges = np.quantile(trained, [1 / 3, 2 / 3])
    counts = np.bincount(np.searchsorted(edges, risk), minlength=3)
    assert [group["rows"] for group in chosen["survival"]] == counts.tolist()


def test_features_that_add_nothing_to_the_offset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, effect=0.0)
    assert "BETTER than the offset 'known' alone: C-index" in accepted(capsys, "fit", path, *COMMON, *PLAIN)
    options: dict[str, Any] = {"time": "days", "event": "died", "offset": "known", "alpha": 0.01, "resamples": 0}
    summary = read_data(render_report(fit(data=str(path), k=2, **options)))["summary"]
    assert "better than the offset known alone." in summary["verdict"] + summary["hint"]


def test_the_interval_of_a_difference_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    risk, known = X[:, 0] + KNOWN, KNOWN
    y = make_survival_target(rng.exponential(np.exp(-risk)), rng.random(N) < 0.7)
    found = compare_concordance(y, risk, known)
    differences = []
    for _ in range(600):
        rows = rng.integers(0, N, N)
        differences.append(concordance_index(y[rows], risk[rows]) - concordance_index(y[rows], known[rows]))
    assert found.difference == concordance_index(y, risk) - concordance_index(y, known)
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(differences), rel=0.1)
    weights = rng.integers(1, 4, N)
    often = np.repeat(np.arange(N), weights)
    weighted = compare_concordance(y, risk, known, weights.astype(float))
    repeated = compare_concordance(y[often], risk[often], known[often])
    np.testing.assert_allclose([weighted.low, weighted.high], [repeated.low, repeated.high], atol=1e-3)
    # The same risk is no better than itself.
    same = compare_concordance(y, risk, risk)
    assert (same.difference, same.low, same.high, same.is_better) == (0.0, 0.0, 0.0, False)
    # Where all pairs are ordered right, the interval is that of the index alone.
    y = make_survival_target(np.arange(1.0, 41.0), np.ones(40, dtype=bool))
    perfect, interval = compare_concordance(y, -y["time"], -(y["time"] % 10)), concordance_interval(y, -y["time"])
    assert (perfect.low, perfect.high) == (interval.low - perfect.baseline, 1.0 - perfect.baseline)


def test_an_exposure_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fit", str(write(tmp_path)), "--time", "days", "--event", "died", "--exposure", "known"])
    assert "--exposure is for counts and amounts: with --time, the time itself says" in capsys.readouterr().err
