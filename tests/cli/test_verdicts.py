"""What is said of classes whose probabilities are better than their most probable one, of dispersions, of rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from ksparse import SparseLinearRegression
from ksparse.cli import summary
from ksparse.cli.report import render_report
from ksparse.cli.reporting.inferred import write_fraction
from ksparse.cli.tasks import TASKS
from ksparse.inference.summaries import clear_rounding

from .helpers import accepted, refused
from .pages import fit, read_data

N = 400
RNG = np.random.default_rng(8)
X = RNG.standard_normal((N, 3))
NAMES = ["a", "b", "c"]


def write(folder: Path, **columns: Any) -> Path:
    path = folder / "table.csv"
    pd.DataFrame(X, columns=NAMES).assign(**columns).to_csv(path, index=False)
    return path


def draw_grades() -> Any:
    """Three grades of which the first is always the most probable, however much features say of the others."""
    chance = 0.35 / (1 + np.exp(-3 * X[:, 0]))
    draws = np.random.default_rng(1).random(N)
    return np.where(draws < chance / 2, 3, np.where(draws < chance, 2, 1))


@pytest.mark.parametrize("task", ["ordinal", "classification"])
def test_probabilities_may_be_better_than_the_most_probable_class(task: str, tmp_path: Path) -> None:
    path = write(tmp_path, grade=draw_grades())
    fitted = fit(data=str(path), target="grade", task=task, k=1, alpha=0.01, resamples=0)
    y, train = fitted.y[fitted.test], fitted.y[fitted.train]
    assert fitted.on_test is not None
    assert fitted.on_test.probabilities is not None
    ours = log_loss(y, fitted.on_test.probabilities, labels=[1, 2, 3])
    frequencies = np.array([np.mean(train == grade) for grade in (1, 2, 3)])
    constant = log_loss(y, np.tile(frequencies, (len(y), 1)), labels=[1, 2, 3])
    said = summary.describe_skill(fitted)
    assert said.startswith("NO BETTER than always answering '1'")
    assert said.endswith(
        "But its probabilities are better than the frequencies of the classes: log loss"
        f" {ours:.3f} against {constant:.3f}."
    )
    page = read_data(render_report(fitted))["summary"]
    assert page["verdict"] == "No better than always answering “1”."
    assert f"their log loss is {ours:.3f} against {constant:.3f} (smaller is better)" in page["hint"]


def test_nothing_is_said_of_probabilities_that_are_no_better(tmp_path: Path) -> None:
    grade = np.random.default_rng(2).permutation(draw_grades())
    fitted = fit(data=str(write(tmp_path, grade=grade)), target="grade", k=1, alpha=0.01, resamples=0)
    assert "But" not in summary.describe_skill(fitted)
    assert "probabilities" not in read_data(render_report(fitted))["summary"]["hint"]


def test_the_dispersion_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(4)
    path = write(tmp_path, count=rng.poisson(np.exp(1 + 0.5 * X[:, 0]) * rng.gamma(2.0, 0.5, N)))
    options: dict[str, Any] = {"data": str(path), "target": "count", "task": "negative-binomial", "resamples": 0}
    fitted = fit(k=1, alpha=0.01, **options)
    found = f"{fitted.model.dispersion_:.4g}"
    assert 0.3 < float(found) < 0.8
    details = {detail["name"]: detail["text"] for detail in read_data(render_report(fitted))["details"]}
    meaning = f"the variance of a count with the mean m is m + {found}·m²"
    assert details["Dispersion"] == f"{found} (estimated); {meaning}"
    plain = ["--target", "count", "--task", "negative-binomial", "--k", "1", "--alpha", "0.01", "--resamples", "0"]
    assert f"\nDispersion: {found} (estimated); {meaning}\n" in accepted(capsys, "fit", path, *plain)
    text = accepted(capsys, "fit", path, *plain, "--dispersion", "0.25")
    assert "\nDispersion: 0.25 (as given); the variance of a count with the mean m is m + 0.25·m²\n" in text


def test_rounding_errors_are_shown_as_0(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    path = write(tmp_path, amount=rng.poisson(2.0, N) + 0.5, exact=0.0)
    frame = pd.read_csv(path)
    frame["exact"] = frame["amount"] - 0.5
    frame.to_csv(path, index=False)
    options: dict[str, Any] = {"data": str(path), "target": "exact", "task": "quantile", "include": ["amount"]}
    fitted = fit(k=3, alpha=0.0, resamples=10, **options)
    sizes = np.abs(fitted.model.coef_[fitted.model.support_])
    assert 0 < np.sort(sizes)[0] < 1e-13  # there is something to hide
    table = fitted.summary.tabulate()
    assert "e-" not in table.to_string()
    assert table["loss without"].tolist()[1:3] == ["0 %", "0 %"]
    state = read_data(render_report(fitted))["states"][0]
    texts = [text for row in state["table"]["rows"] for text in row["texts"]]
    assert "0 to 0" in texts
    assert not any("e−" in text for text in texts)
    assert [worth["text"] for worth in state["worth"]][1:] == ["0.00%", "0.00%"]


def test_rounding_errors_of_several_targets_are_0_beside_the_largest_of_each() -> None:
    Y = np.column_stack([X[:, 0], 1e-6 * X[:, 1]])
    found = SparseLinearRegression(k=2).fit(X, Y).summary(intervals=None)
    cleared = clear_rounding(found).features
    first, second = (cleared["coefficient", output].to_numpy() for output in found.outputs)
    assert (first[0], second[1]) == pytest.approx((1.0, 1e-6))
    assert (first[1], second[0]) == (0.0, 0.0)


def test_fractions_have_no_sign_of_0() -> None:
    assert [write_fraction(value) for value in (-2e-20, -4e-5, -6e-5, 0.3)] == ["0.00%", "0.00%", "-0.01%", "30%"]


def test_one_row_is_not_called_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    died = (np.arange(N) < 1).astype(int)
    path = write(tmp_path, days=np.arange(N) + 1.0, died=died)
    said = refused(capsys, "fit", path, "--time", "days", "--event", "died", "--test", "0")
    assert "1 training row with an event is too few for 5-fold cross-validation" in said


@pytest.mark.parametrize("exposure", [None, "years"])
@pytest.mark.parametrize(
    ("seed", "part", "said"),
    [(27, "verdict", "No better than"), (15, "hint", "On these rows, this is not clearly better than")],
)
def test_the_verdict_names_what_the_model_is_compared_with(
    seed: int, part: str, said: str, exposure: str | None, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    count = rng.poisson(3 * np.exp(X @ [0.07, -0.07, 0.07]))
    path = write(tmp_path, count=count, years=rng.uniform(0.9, 1.1, N))
    options: dict[str, Any] = {"target": "count", "task": "poisson", "ks": (1, 3), "criterion": "aic", "alpha": 0.0}
    options |= {"drop": ["years"]} if exposure is None else {"exposure": exposure}
    page = read_data(render_report(fit(data=str(path), resamples=0, **options)))["summary"]
    assert any(sentence.startswith("With 1 feature it would be ") for sentence in page["more"])
    other = "always answering the mean" if exposure is None else "the exposure years alone"
    assert page[part] == f"{said} {other}."


@pytest.mark.parametrize("task", ["poisson", "negative-binomial", "gamma", "tweedie", "regression"])
def test_what_is_explained_is_named(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = np.random.default_rng(5).poisson(np.exp(1 + 0.8 * X[:, 0])) + 1
    path, out = write(tmp_path, count=count), tmp_path / "o"
    options = ["--target", "count", "--task", task, "--k", "1", "--alpha", "0.01", "--resamples", "0"]
    text = accepted(capsys, "fit", path, *options, "--out", out)
    page = read_data((out / "report.html").read_text())
    card = page["states"][0]["cards"][1]
    explained = f"{100 * float(card['value']):.0f}% of its"
    if task == "regression":
        assert page["summary"]["result"].endswith(f"; {explained} variation is explained.")
        assert "deviance" not in text + card["label"] + "".join(page["summary"]["more"])
        return
    name = TASKS[task].scores[0]
    assert page["summary"]["result"].endswith(f"; {explained} deviance is explained.")
    assert card["label"] == f"deviance explained, {name}, on 100 held-out rows"
    model = f"{task.replace('-', ' ')} regression".replace("poisson", "Poisson").replace("tweedie", "Tweedie")
    meaning = f"The deviance is the misfit that {model} makes small"
    assert page["summary"]["more"][-1].startswith(meaning)
    assert f"\n{name} is the fraction of the deviance that is explained. {meaning}" in text
