"""``ksparse fit --time T --event E``: times, events, entry times and strata of a table, against the estimator."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import SparseCoxRegression, load, make_survival_target
from ksparse._types import Array
from ksparse.cli import main
from ksparse.cli.report import render_report
from ksparse.cli.row_facts import list_row_facts
from ksparse.inference import concordance_interval, kaplan_meier
from tests.problems import draw_survival

from .helpers import NAMES, accepted, numbers, refused
from .pages import fit, read_data

N = 120
X: Array = numbers(N)
RISK: Array = 1000 * (X[:, 1] - X[:, 1].mean()) + 0.01 * (X[:, 4] - X[:, 4].mean())
FULL = draw_survival(RISK, entry=True, strata=True)


def write(folder: Path, **columns: Any) -> Path:
    """A table of features, times, events, entry times and strata."""
    frame = pd.DataFrame(X, columns=NAMES).assign(
        days=FULL["time"], died=FULL["event"].astype(int), joined=FULL["entry"], site=FULL["stratum"]
    )
    path = folder / "trial.csv"
    frame.assign(**columns).to_csv(path, index=False)
    return path


def options(path: Path, *more: str) -> list[str]:
    return ["fit", str(path), "--time", "days", "--event", "died", "--drop", "joined,site", *more]


def test_what_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = accepted(capsys, *options(write(tmp_path), "--k", "2", "--alpha", "0.01", "--out", str(tmp_path / "o")))
    assert f"Events: {FULL['event'].sum()} of 120 rows, 'died'" in text
    assert "Task: cox (set by --time and --event)" in text
    assert "Cox regression of 'days' with 2 of 5" in text
    assert "hazard ratio" in text
    assert "(intercept)" not in text
    assert "Better than chance: C-index" in text
    # The saved model is that of all rows; the scores are those of the model of the training rows.
    y = make_survival_target(FULL["time"], FULL["event"])
    model = SparseCoxRegression(k=2, alpha=0.01, standardize=True).fit(X, y)
    saved = load(tmp_path / "o")
    np.testing.assert_allclose(saved[-1].coef_, model.coef_, rtol=1e-6)
    with open(tmp_path / "o" / "features.csv") as file:
        features = list(csv.DictReader(file))
    assert {row["feature"] for row in features} == {"dose", "weight"}
    with open(tmp_path / "o" / "predictions.csv") as file:
        held_out = list(csv.DictReader(file))
    rows = np.array([int(row["row"]) for row in held_out]) - 1
    np.testing.assert_allclose([float(row["days"]) for row in held_out], FULL["time"][rows])
    np.testing.assert_array_equal([int(row["died"]) for row in held_out], FULL["event"][rows])
    train = np.setdiff1d(np.arange(N), rows)
    judged = SparseCoxRegression(k=2, alpha=0.01, standardize=True).fit(X[train], y[train])
    np.testing.assert_allclose([float(row["prediction"]) for row in held_out], judged.predict(X[rows]), rtol=1e-5)
    interval = concordance_interval(y[rows], judged.predict(X[rows]))
    assert f"{interval.value:.3f}   {interval.low:.3f} to {interval.high:.3f}" in text


def test_entry_times_and_strata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    more = ["--entry", "joined", "--strata", "site", "--k", "2", "--alpha", "0.01", "--out", str(out)]
    text = accepted(capsys, "fit", path, "--time", "days", "--event", "died", *more)
    assert f"Entry times: 'joined', {FULL['entry'].min():.4g} to {FULL['entry'].max():.4g}\n" in text
    assert "Strata: 'site', 3 groups, each with a baseline hazard of its own\n" in text
    with open(out / "predictions.csv") as file:
        held_out = list(csv.DictReader(file))
    rows = np.array([int(row["row"]) for row in held_out]) - 1
    np.testing.assert_allclose([float(row["joined"]) for row in held_out], FULL["entry"][rows], rtol=1e-7)
    assert [row["site"] for row in held_out] == FULL["stratum"][rows].tolist()
    page = read_data((out / "report.html").read_text())
    details = {detail["name"]: detail["text"] for detail in page["details"]}
    assert details["Strata"].startswith("'site', 3 groups")
    assert details["Entry times"].startswith("'joined', ")
    model = SparseCoxRegression(k=2, alpha=0.01, standardize=True).fit(X, FULL)
    np.testing.assert_allclose(load(out)[-1].coef_, model.coef_, rtol=1e-6)
    assert load(out)[-1].strata_.tolist() == ["a", "b", "c"]


def test_strata_in_which_little_is_compared(tmp_path: Path) -> None:
    """A stratum of one row tells nothing, nor does one in which the others came too late or left too early."""
    site = np.repeat(np.arange(N // 4), 4).astype(str)
    site[0] = "alone"
    died = FULL["event"].astype(int)
    died[4:8] = 0
    died[8:12] = 1
    joined, days = np.zeros(N), FULL["time"].copy()
    joined[8:12], days[8:12] = [0.0, 10.0, 20.0, 30.0], [5.0, 15.0, 25.0, 35.0]
    options: dict[str, Any] = {"time": "days", "event": "died", "strata": "site", "entry": "joined"}
    path = write(tmp_path, site=site, died=died, days=days, joined=joined)
    idle = [
        rows
        for rows in (np.flatnonzero(site == name) for name in np.unique(site))
        if not any(died[i] and ((days[rows] >= days[i]) & (joined[rows] < days[i])).sum() > 1 for i in rows)
    ]
    fitted = fit(data=str(path), k=1, alpha=0.1, resamples=0, **options)
    said = list_row_facts(fitted)["Strata"]
    assert len(idle) >= 3
    assert f"'site', 31 groups, each with a baseline hazard of its own; {len(idle)} of them" in said
    assert f"({sum(map(len, idle))} rows) tell nothing of the coefficients" in said
    assert f"with {died.sum() / 31:.1f} events for each in the mean, little is compared" in said


def test_predictions_of_new_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    accepted(capsys, *options(path, "--k", "2", "--alpha", "0.01", "--out", str(out)))
    model, new = load(out), pd.read_csv(path)
    features = model[:-1].transform(new)
    quartiles = np.quantile(model[-1].event_times_, [0.25, 0.5, 0.75], method="inverted_cdf")
    for more, expected_times in ([], quartiles), (["--times", "0.5,0.25,0.5"], [0.5, 0.25]):
        heads, *rows = csv.reader(accepted(capsys, "predict", out, path, *more).splitlines())
        found = np.array(rows, dtype=float)
        times = [float(head.removeprefix("survival_at_")) for head in heads[1:]]
        np.testing.assert_allclose(times, expected_times)
        expected = model[-1].predict_survival_function(features, expected_times)
        np.testing.assert_allclose(found[:, 1:], expected, atol=1e-6)
    # The prediction is relative to a row whose features are all 0.
    np.testing.assert_allclose(found[:, 0], features.to_numpy() @ model[-1].coef_, rtol=1e-8)
    assert accepted(capsys, "predict", out, path, "--times", "0.3").startswith("prediction,survival_at_0.3\n")


def test_times_after_the_last_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    accepted(capsys, *options(path, "--k", "1", "--alpha", "0.01", "--resamples", "0", "--out", str(out)))
    last = float(load(out)[-1].event_times_.max())
    assert main(["predict", str(out), str(path), "--times", f"{last!r},1e6,2e6"]) == 0
    captured = capsys.readouterr()
    rows = list(csv.reader(captured.out.splitlines()))
    assert all(row[1] == row[2] == row[3] for row in rows[1:])
    assert f"the last event of the fit is at {last:.10g}: survival at 1000000, 2000000 is that" in captured.err


def test_times_are_refused_where_they_say_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path), tmp_path / "o"
    plain = ["--k", "1", "--alpha", "0.01", "--resamples", "0", "--out", str(out)]
    accepted(capsys, "fit", path, "--target", "age", "--task", "regression", "--drop", "days,died,joined,site", *plain)
    said = refused(capsys, "predict", out, path, "--times", "1")
    assert "--times is for models of times until an event" in said
    assert "has a SparseLinearRegression" in said
    accepted(capsys, "fit", path, "--time", "days", "--event", "died", "--strata", "site", *plain)
    content = json.loads((out / "model.json").read_text())
    del content["about"]["strata"]  # a file that says nothing of its columns
    (out / "model.json").write_text(json.dumps(content))
    said = refused(capsys, "predict", out, path, "--times", "1")
    assert "has strata, each with a baseline hazard of its own, and does not say which column they are in" in said
    assert accepted(capsys, "predict", out, path).splitlines()[0] == "prediction"
    for wrong in ("0", "-1", "soon", "inf", "1,,2"):
        with pytest.raises(SystemExit):
            main(["predict", str(out), str(path), f"--times={wrong}"])
        assert "expected positive numbers with commas between them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("died", "event"),
    [
        (FULL["event"], "died"),
        (np.where(FULL["event"], "yes", "no"), "died"),
        (np.where(FULL["event"], "dead", "alive"), "died=dead"),
        (np.where(FULL["event"], 2, np.arange(N) % 2), "died=2"),
    ],
)
def test_events(tmp_path: Path, capsys: pytest.CaptureFixture[str], died: Any, event: str) -> None:
    path = write(tmp_path, died=died)
    text = accepted(capsys, *options(path, "--k", "1", "--alpha", "0.01", "--resamples", "0")[:5], event, "--k", "1")
    assert f"Events: {FULL['event'].sum()} of 120 rows" in text


def test_rows_without_a_time_or_an_event_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path,
        days=np.where(np.arange(N) == 3, np.nan, FULL["time"]),
        died=np.where(np.arange(N) < 2, np.nan, FULL["event"]),
    )
    text = accepted(capsys, *options(path, "--k", "1", "--alpha", "0.01", "--resamples", "0"))
    assert "3 of 120 rows lack a time, an event, an entry or a stratum and are left out" in text
    assert "Data: " in text
    assert "117 rows" in text


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        (
            {"days": -FULL["time"]},
            [],
            f"'days' is {-FULL['time'][0]:g} (line 2), and 119 more of 120 rows are negative",
        ),
        ({"days": np.r_[FULL["time"][:5], -2.0, FULL["time"][6:]]}, [], "'days' is -2 (line 7); correct these times"),
        ({"days": np.r_[np.inf, FULL["time"][1:]]}, [], "'days' is inf (line 2); correct these times"),
        ({"days": np.r_[4.0, 0.0, 0.0, np.arange(3.0, N)]}, [], "'days' is 0 (line 3), and 1 more of 120 rows is 0;"),
        ({"days": np.r_[4.0, 0.0, np.arange(2.0, N)]}, [], "positive: use half of the shortest one (1), or leave"),
        ({"days": np.r_[0.0, -1.0, np.arange(2.0, N)]}, [], "leave these rows out; also, 'days' is -1 (line 3)"),
        ({"days": np.r_[0.0, np.arange(1.0, N)], "died": 0}, [], "; also, 'died' has no event in 120 rows"),
        ({"days": "soon"}, [], "--time names 'days', which has no numbers"),
        ({"died": 0}, [], "'died' has no event in 120 rows"),
        ({"died": np.arange(N) % 3}, [], "which has 0, 1, 2, and not only 0 and 1; say which value is the event"),
        ({"died": np.where(FULL["event"], "dead", "alive")}, [], "--event 'died=dead'"),
        ({"joined": 1e9}, ["--entry", "joined"], "'joined' is 1e+09 (line 2), and 119 more of 120 rows are not before"),
        ({"joined": -1}, ["--entry", "joined"], "'joined' is -1 (line 2), and 119 more of 120 rows are negative"),
        ({}, ["--entry", "days"], "--time and --event and --entry must name different columns"),
        ({}, ["--drop", "died"], "'died' is both --event and --drop"),
        ({}, ["--task", "poisson"], "--time and --event are for Cox regression, not for --task poisson"),
        ({}, ["--strata", "cite"], "has no column 'cite', which --strata names; did you mean 'site'?"),
        ({"died": np.arange(N) < 3}, [], "training rows with an event are too few for 5-fold cross-validation"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: dict[str, Any], more: list[str], message: str
) -> None:
    path = write(tmp_path, **columns)
    assert message in refused(capsys, "fit", path, "--time", "days", "--event", "died", *more)


def test_a_wrong_time_is_found_below_a_title(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, days=np.r_[FULL["time"][:5], -2.0, FULL["time"][6:]])
    path.write_text("# a trial\n\n" + path.read_text())
    assert "'days' is -2 (line 9);" in refused(capsys, "fit", path, "--time", "days", "--event", "died")


def test_a_wrong_time_in_a_row_that_is_left_out_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, days=np.r_[0.0, FULL["time"][1:]], died=np.r_[np.nan, FULL["event"][1:]])
    accepted(capsys, *options(path, "--k", "1", "--alpha", "0.01", "--resamples", "0"))


def test_columns_that_are_swapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for died in (FULL["event"].astype(int), np.where(FULL["event"], "dead", "alive")):
        said = refused(capsys, "fit", write(tmp_path, died=died), "--time", "died", "--event", "days")
        assert "'died', which has 2 distinct values, and --event names 'days', which has" in said
        assert "are they swapped? Try --time 'days' --event 'died'" in said


def test_values_that_count_as_censored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Events of another kind are censored; a line says how many."""
    kinds = np.where(FULL["event"], 2, np.arange(N) % 2)
    path, counts = write(tmp_path, died=kinds), [int((kinds == kind).sum()) for kind in (0, 1)]
    said = f"Other values of 'died' count as censored: 0 ({counts[0]} rows), 1 ({counts[1]} rows)\n"
    more = ["--drop", "joined,site", "--k", "1", "--alpha", "0.01", "--resamples", "0"]
    assert said in accepted(capsys, "fit", path, "--time", "days", "--event", "died=2", *more)
    many = write(tmp_path, died=np.arange(N) // 2)
    text = accepted(capsys, "fit", many, "--time", "days", "--event", "died=0", *more, "--test", "0")
    assert "… and 54 more values (108 rows)" in text
    assert "censored:" not in accepted(capsys, *options(write(tmp_path), "--k", "1", "--alpha", "0.01"))


def test_a_value_that_no_row_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "fit", write(tmp_path), "--time", "days", "--event", "died=9")
    assert "no row of 'died' has the value '9'; it has '0' and '1'" in said or "it has '0', '1'" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--time", "days"], "if every row had its event, use a column of ones as --event, or predict the time itself"),
        (["--event", "died"], "--time and --event belong together: the column of times, and that of events\n"),
        (["--entry", "days"], "--entry and --strata are for survival analysis"),
        (["--time", "days", "--event", "died", "--target", "age"], "take the place of --target"),
    ],
)
def test_options_that_do_not_fit_together(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit):
        main(["fit", "a.csv", *arguments])
    assert message in capsys.readouterr().err


def test_a_target_that_is_a_time_or_an_event_has_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path).rename(tmp_path / "my trial.csv")
    frame = pd.read_csv(path).rename(columns={"died": "death"})
    frame.to_csv(path, index=False)
    for target in ("days", "death"):
        text = accepted(capsys, "fit", path, "--target", target, "--k", "1", "--resamples", "0")
        assert f"ksparse fit '{path}' --time days --event death" in text
    assert "--task cox needs --time COL and --event COL" in refused(
        capsys, "fit", path, "--target", "days", "--task", "cox"
    )


def test_the_page_has_curves_of_risk_groups(tmp_path: Path) -> None:
    path = write(tmp_path)
    fitted = fit(data=str(path), time="days", event="died", drop=["joined,site"], ks=(0, 1, 2), alpha=0.01)
    data = read_data(render_report(fitted))
    assert data["summary"]["title"] == "Survival by days with 2 of 5 features"
    assert "pairs of rows whose order is known" in data["summary"]["result"]
    state = data["states"][data["chosen"]]
    test, train = fitted.test, fitted.train
    risk = fitted.training.estimator.predict(fitted.training.encode(fitted.data.X, test))
    edge = np.quantile(fitted.training.estimator.predict(fitted.training.encode(fitted.data.X, train)), 0.5)
    groups = [fitted.y[test][risk <= edge], fitted.y[test][risk > edge]]
    assert [group["name"] for group in state["survival"]] == ["low risk", "high risk"]
    for shown, rows in zip(state["survival"], groups, strict=True):
        curve = kaplan_meier(rows)
        assert (shown["rows"], shown["events"]) == (len(rows), int(rows["event"].sum()))
        np.testing.assert_allclose(shown["times"][1:-1], curve.times)
        np.testing.assert_allclose(shown["survival"][1:-1], curve.survival, atol=1e-4)
    assert state["scores"]["C-index"] == pytest.approx(fitted.scores.test["C-index"].value, abs=1e-6)  # type: ignore[union-attr]
    assert state["cards"][1]["value"] == f"{state['scores']['C-index']:.3f}"
    assert data["predictions"]["events"] == fitted.y[test]["event"].astype(int).tolist()
    assert state["table"]["constants"] == []
