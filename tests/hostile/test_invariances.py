"""What must not change an answer, on hostile data: see fuzz/invariances.py and fuzz/functions.py."""

from __future__ import annotations

import pytest

from fuzz.data import ESTIMATORS, Recipe, Scales
from fuzz.functions import Multiple, check_multiple
from fuzz.invariances import CHANGES, Changed, Rescaled, check_changed, check_rescaled
from fuzz.outcomes import Failed
from tests.hostile.cases import check_many


@pytest.mark.slow
@pytest.mark.parametrize(("name", "examples"), [("other units", 100), ("no change", 60), ("multiples of f", 30)])
def test_invariances(name: str, examples: int) -> None:
    check_many(name, examples)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [4.0**-20, 4.0**20])
@pytest.mark.parametrize("variant", ["plain", "positive", "standardize"])
@pytest.mark.parametrize("model", ESTIMATORS)
def test_units(model: str, variant: str, unit: float) -> None:
    """Units of the features, of the target and of the weights that differ by 1e12."""
    for seed, scales in enumerate([Scales(unit), Scales(1.0, unit), Scales(1.0, 1.0, unit)]):
        recipe = Recipe(model, n=30, p=6, alpha=0.01, variant=variant, weighting="random", seed=seed)
        check_rescaled(Rescaled(recipe, scales))


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("model", ESTIMATORS)
def test_changes(model: str, change: str) -> None:
    variant = "standardize" if change == "column units" else "plain"
    check_changed(Changed(Recipe(model, n=30, p=6, alpha=0.01, weighting="integers", variant=variant), change))


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-12, -6, 6, 11, 15])
@pytest.mark.parametrize("with_hessian", [False, True])
def test_multiples_of_a_function(exponent: int, with_hessian: bool) -> None:
    for seed in range(2):
        check_multiple(Multiple(seed, 40, 8, 3, "quadratic", exponent, 0.0, with_hessian))


def test_a_dependence_on_units_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ridge that does not follow the units gives other solutions."""
    case = Rescaled(Recipe("linear", n=30, alpha=0.1), Scales(1024.0))
    check_rescaled(case)
    monkeypatch.setattr("fuzz.data.Problem.alpha", 1.0)
    with pytest.raises(Failed, match="in the units"):
        check_rescaled(case)
