"""The report: readable settings, and texts that agree with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from reproduction.base import Settings
from reproduction.experiments import EXPERIMENTS
from reproduction.experiments.breast_cancer import BreastCancer
from reproduction.report import describe_settings


@dataclass(frozen=True)
class Many(Settings):
    places: tuple[tuple[int, int], ...] = ((100, 5), (200, 5), (300, 5), (400, 5))
    few: tuple[int, ...] = (1, 2, 3)
    uneven: tuple[float, ...] = (1.0, 2.0, 4.0, 0.00001)
    words: tuple[str, ...] = ("a", "b", "c", "d")
    tries_at: int = 3
    original: bool = False


def test_settings_in_a_line() -> None:
    assert describe_settings(Many()) == (
        "places = ((100, 5), (200, 5), …, (400, 5)); few = (1, 2, 3); uneven = (1, 2, 4, 1e-05);"
        " words = (a, b, c, d); tries at = 3; original = no"
    )


def test_texts_have_the_numbers_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written out for readers, and must follow the settings of a full run."""
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    full: dict[str, Any] = {each.name: each.make_settings("full") for each in EXPERIMENTS}
    logistic, rcv1, precision = full["logistic-n"], full["rcv1"], full["precision"]
    cancer, sensing, theory = full["breast-cancer"], full["compressed-sensing"], full["theory"]
    expected = {
        "logistic-n": (
            f"p = {logistic.p} features",
            f"{logistic.relevant} standard normal coefficients",
            f"at most {logistic.limit} iterations (FGraHTP: {logistic.limit_without_debiasing})",
        ),
        "rcv1": (f"or for {rcv1.limit} iterations",),
        "precision": (
            f"with probability {precision.probability:g}",
            f"{precision.n} samples to fit Ω and {precision.n} to choose k",
            f"after {precision.limit} iterations",
        ),
        "heatmaps": (f"p = {full['heatmaps'].p}",),
        "breast-cancer": (
            f"{cancer.test_positive} and {cancer.test_negative} of them",
            f"the {cancer.genes} genes",
            f"most {cancer.limit} iterations",
        ),
        "compressed-sensing": (f"n = {sensing.n} and p = {sensing.p}",),
        "theory": (
            f"with {theory.p} correlated features, k = {theory.k}",
            f"n = {theory.n} and {theory.p} independent features",
            f"smaller of {theory.ratio}ζ and {theory.below} of Theorem 1's limit",
            f"p = {theory.large} independent features",
            f"k = k̄ = {theory.sparsity} coefficients ±1",
        ),
    }
    for experiment in EXPERIMENTS:
        for words in expected.get(experiment.name, ()):
            assert words in experiment.text
    assert "six stratified folds" in BreastCancer.text.lower()
    assert cancer.folds == 6
