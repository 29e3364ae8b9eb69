"""``ksparse predict`` for models with strata: each row has the baseline of its stratum."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import load, make_survival_target
from ksparse.cli import main

from .helpers import accepted, refused

N = 240
RNG = np.random.default_rng(7)
X = RNG.standard_normal((N, 3))
SITE = RNG.integers(1, 4, N)
NAMES = ["a", "b", "c"]
TIMES = [0.2, 0.6]


def write(folder: Path, **columns: Any) -> Path:
    """Times until an event, far shorter in some sites than in others."""
    time = np.random.default_rng(8).exponential(np.exp(-X[:, 0]) / SITE)
    path = folder / "trial.csv"
    frame = pd.DataFrame(X, columns=NAMES).assign(days=time, died=(np.arange(N) % 4 > 0).astype(int), site=SITE)
    frame.assign(**columns).to_csv(path, index=False)
    return path


@pytest.fixture(name="model")
def fit_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    out = tmp_path / "o"
    options = ["--time", "days", "--event", "died", "--strata", "site", "--k", "1", "--alpha", "0.01"]
    accepted(capsys, "fit", write(tmp_path), *options, "--resamples", "0", "--out", out)
    return out


def predict(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[pd.DataFrame, str]:
    assert main(["predict", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    return pd.read_csv(io.StringIO(captured.out)), captured.err


def test_each_row_has_the_baseline_of_its_stratum(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert json.loads((model / "model.json").read_text())["about"]["strata"] == "site"
    saved, frame = load(model)[-1], pd.DataFrame(X, columns=NAMES)
    found, _ = predict(capsys, model, write(tmp_path), "--times", "0.2,0.6")
    assert list(found) == ["prediction", "survival_at_0.2", "survival_at_0.6"]
    expected = saved.predict_survival_function(frame, TIMES, strata=SITE.astype(str))
    np.testing.assert_allclose(found.to_numpy()[:, 1:], expected, atol=1e-6)
    # By default, quartiles of the times with events.
    found, _ = predict(capsys, model, write(tmp_path))
    quartiles = np.quantile(saved.event_times_, [0.25, 0.5, 0.75], method="inverted_cdf")
    expected = saved.predict_survival_function(frame, quartiles, strata=SITE.astype(str))
    np.testing.assert_allclose(found.to_numpy()[:, 1:], expected, atol=1e-6)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_rows_without_a_known_stratum(
    in_blocks: bool, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their probabilities are empty, and a line says so; 1.0 is the stratum 1, since gaps make floats of numbers."""
    site = SITE.astype(float)
    site[3], site[5] = 9, np.nan
    path = write(tmp_path, site=site)
    files: Path | str = path
    if in_blocks:
        (tmp_path / "many").mkdir()
        for place, rows in enumerate((slice(0, 100), slice(100, N))):
            pd.read_csv(path)[rows].to_csv(tmp_path / "many" / f"{place}.csv", index=False)
        files = str(tmp_path / "many" / "*.csv")
    found, notes = predict(capsys, model, files, "--times", "0.2,0.6")
    assert found["prediction"].notna().all()
    survival = found.to_numpy()[:, 1:]
    known = ~np.isin(np.arange(N), [3, 5])
    expected = load(model)[-1].predict_survival_function(
        pd.DataFrame(X, columns=NAMES)[known], TIMES, strata=SITE[known].astype(str)
    )
    np.testing.assert_allclose(survival[known], expected, atol=1e-6)
    assert np.isnan(survival[~known].astype(float)).all()
    said = "2 of 240 rows have no probability of survival (first row 4): the stratum 'site' is missing, or is none of"
    assert said in notes
    assert "not finite" not in notes


@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_table_without_the_strata(
    in_blocks: bool, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.csv"
    pd.DataFrame(X, columns=NAMES).to_csv(new, index=False)
    files: Path | str = new
    if in_blocks:
        (tmp_path / "new2.csv").write_text(new.read_text())
        files = str(tmp_path / "new*.csv")
    found, notes = predict(capsys, model, files)
    assert list(found) == ["prediction"]
    assert "there are no probabilities of survival, which need the column 'site' of strata" in notes
    said = refused(capsys, "predict", model, files, "--times", "1")
    assert "lacks the column 'site', which the model needs" in said


def test_no_row_with_a_known_stratum(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, notes = predict(capsys, model, write(tmp_path, site="elsewhere"), "--times", "0.2")
    assert found["survival_at_0.2"].isna().all()
    assert "240 of 240 rows have no probability of survival (first row 1)" in notes


def test_strata_whose_last_event_is_early(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    frame = pd.read_csv(path)
    last = [frame["days"][(site == SITE) & (frame["died"] == 1)].max() for site in (1, 2, 3)]
    time = float(np.sort(last)[:2].mean())
    early = str(int(np.argmin(last)) + 1)
    _, notes = predict(capsys, model, path, "--times", f"0.1,{time!r}")
    assert f"1 of 3 strata has no event of the fit at {time:.10g} or later ('{early}'): survival there is that" in notes
    _, notes = predict(capsys, model, path, "--times", "0.1")
    assert notes == ""


def test_offsets_and_strata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known, out = RNG.standard_normal(N), tmp_path / "o"
    path = write(tmp_path, known=known)
    options = ["--time", "days", "--event", "died", "--strata", "site", "--offset", "known", "--k", "1", "--alpha", "0"]
    accepted(capsys, "fit", path, *options, "--resamples", "0", "--out", out)
    saved, frame = load(out)[-1], pd.read_csv(path)
    y = make_survival_target(frame["days"], frame["died"], strata=SITE.astype(str))
    np.testing.assert_array_equal(saved.strata_, np.unique(y["stratum"]))
    site = SITE.astype(object)
    site[2] = 8
    found, _ = predict(capsys, out, write(tmp_path, known=known, site=site), "--times", "0.2,0.6")
    rows = np.arange(N) != 2
    expected = saved.predict_survival_function(
        frame[NAMES][rows], TIMES, strata=SITE[rows].astype(str), offset=known[rows]
    )
    np.testing.assert_allclose(found.to_numpy()[rows, 1:], expected, atol=1e-6)


def test_a_damaged_note_is_refused(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads((model / "model.json").read_text())
    content["about"]["strata"] = 3
    (model / "model.json").write_text(json.dumps(content))
    said = refused(capsys, "predict", model, write(tmp_path))
    assert "has the strata '3', expected the name of a column" in said
