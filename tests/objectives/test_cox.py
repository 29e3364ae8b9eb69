"""Cox's partial likelihood against its definition, statsmodels and finite differences, on every design."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

import ksparse
from ksparse._types import Array
from ksparse.debias import Exact
from ksparse.diagnostics import check_objective
from ksparse.objectives import Cox, make_survival_target
from ksparse.objectives.loss import SampleMargins
from ksparse.objectives.losses import CoxLoss
from ksparse.objectives.survival import encode_survival
from tests.designs.row_blocks import FORMS
from tests.objectives.survival import partial_likelihood
from tests.problems import N, P, design, draw_survival, signal, supports

#: statsmodels comes without types.
PHReg: Any = import_module("statsmodels.duration.hazard_regression").PHReg
TIES = ["efron", "breslow"]
#: What y has beyond times and events.
KINDS: dict[str, dict[str, bool]] = {
    "plain": {"ties": False},
    "ties": {},
    "entry": {"entry": True},
    "strata": {"strata": True},
    "entry and strata": {"entry": True, "strata": True},
    "entry without ties": {"entry": True, "ties": False},
}
WEIGHTS: dict[str, Any] = {"none": None, "any": np.linspace(0.1, 2.0, N), "some zero": np.arange(N) % 3}


def target(kind: str = "ties", seed: int = 0) -> Any:
    return draw_survival(signal(design()), seed, **KINDS[kind])


def as_weights(weights: Any) -> Array:
    return np.ones(N) if weights is None else np.asarray(weights, dtype=np.float64)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TIES)
def test_the_value_is_that_of_the_definition(ties: str, kind: str, weights: Any) -> None:
    y, rng = target(kind), np.random.default_rng(1)
    x, offset = 0.4 * rng.standard_normal(P), rng.standard_normal(N)
    objective = Cox(design(), y, ties=ties, alpha=0.3, sample_weight=weights, offset=offset)
    expected = partial_likelihood(design() @ x + offset, y, as_weights(weights), ties)
    assert objective.evaluate(x).value == pytest.approx(expected + 0.15 * x @ x, rel=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TIES)
def test_derivatives_in_the_margins(ties: str, kind: str, weights: Any) -> None:
    y, weights = encode_survival(target(kind)), as_weights(weights)
    weights = weights / weights.sum()
    margins, loss = signal(design()), CoxLoss(ties)
    slopes = approx_fprime(margins, lambda m: partial_likelihood(m, target(kind), weights, ties), 1e-6)
    assert_allclose(loss.slopes(margins, y, weights), slopes, atol=2e-7)
    full = loss.multiply_hessian(margins, y, weights, np.eye(N))
    numeric = approx_fprime(margins, lambda m: loss.slopes(m, y, weights), 1e-6)
    assert_allclose(full, numeric, atol=2e-7)
    assert_allclose(full, full.T, atol=1e-14)
    assert_allclose(loss.hessian_diagonal(margins, y, weights), full.diagonal(), atol=1e-14)
    directions, bound = np.random.default_rng(0).standard_normal((N, 4)), loss.bind(y, weights)
    gram = directions.T @ full @ directions
    assert_allclose(bound.compute_gram(margins, directions), gram, atol=1e-13)
    cross, squares = bound.compute_cross(margins, directions[:, :3], directions[:, 1:])
    assert_allclose(cross, gram[:3, 1:], atol=1e-13)
    assert_allclose(squares, gram.diagonal()[1:], atol=1e-13)
    assert np.linalg.eigvalsh(full)[0] > -1e-13
    assert_allclose(full @ np.ones(N), 0.0, atol=1e-14)  # only differences of margins matter


@pytest.mark.parametrize("form", FORMS)
def test_derivatives_in_the_coefficients(form: str) -> None:
    offset = np.random.default_rng(2).standard_normal(N)
    objective = Cox(FORMS[form](design()), target("entry and strata"), alpha=0.1, offset=offset)
    report = check_objective(objective)
    assert report.ok, str(report)
    assert report.hessian_error < 1e-6
    point = objective.evaluate(0.3 * np.ones(P))
    hessian, direction = objective.hessian(point), np.linspace(-1, 1, P)
    assert_allclose(objective.hessian_operator(point) @ direction, hessian @ direction, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_the_hessian_between_a_support_and_candidates(form: str) -> None:
    objective: Any = Cox(FORMS[form](design()), target(), alpha=0.1).working_form().objective
    support = np.isin(np.arange(P), [1, 4])
    point = objective.evaluate(np.where(support, 0.5, 0.0))
    others = np.array([7, 0, 3])
    cross, diagonal = objective.cross_hessian(point, point.restrict(support), np.flatnonzero(support), others)
    full = objective.hessian(point)
    assert_allclose(cross, full[support][:, others], atol=1e-12)
    assert_allclose(diagonal, full.diagonal()[others], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TIES)
def test_statsmodels_has_the_same_coefficients(ties: str, kind: str) -> None:
    y = target(kind)
    names = y.dtype.names
    # statsmodels has a sample at risk at the time of its entry; here, as in R, it is from then on.
    peer = PHReg(
        y["time"],
        design(),
        status=y["event"].astype(int),
        ties=ties,
        entry=y["entry"] + 1e-9 if "entry" in names else None,
        strata=y["stratum"] if "stratum" in names else None,
    )
    objective = Cox(design(), y, ties=ties)
    result = ksparse.minimize(objective, k=P)
    assert result.success
    assert_allclose(result.x, peer.fit(disp=0).params, rtol=1e-5, atol=1e-6)
    x = 0.3 * np.ones(P)
    lost = peer.loglike(np.zeros(P)) - peer.loglike(x)
    here = N * (objective.evaluate(x).value - objective.evaluate(np.zeros(P)).value)
    assert here == pytest.approx(lost, rel=1e-10)
    assert_allclose(-N * objective.evaluate(x).gradient, peer.score(x), atol=1e-8)
    assert_allclose(-N * objective.hessian(objective.evaluate(x)), peer.hessian(x), atol=1e-8)


@pytest.mark.parametrize("ties", TIES)
def test_strata_are_separate_sums(ties: str) -> None:
    y, x = target("entry and strata"), 0.3 * np.ones(P)
    total = 0.0
    for label in "abc":
        rows = y["stratum"] == label
        alone = make_survival_target(y["time"][rows], y["event"][rows], entry=y["entry"][rows])
        objective, zero = Cox(design()[rows], alone, ties=ties), np.zeros(P)
        total += rows.sum() / N * (objective.evaluate(x).value - objective.evaluate(zero).value)
    together = Cox(design(), y, ties=ties)
    assert together.evaluate(x).value - together.evaluate(np.zeros(P)).value == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repeated_rows_with_breslows_ties(kind: str) -> None:
    counts = np.random.default_rng(4).integers(0, 4, N)
    X, y = design(), target(kind)
    weighted = Cox(X, y, ties="breslow", sample_weight=counts, alpha=0.01)
    repeated = Cox(np.repeat(X, counts, axis=0), np.repeat(y, counts), ties="breslow", alpha=0.01)
    x = 0.2 * np.ones(P)
    assert weighted.evaluate(x).value == pytest.approx(repeated.evaluate(x).value, rel=1e-12)
    assert_allclose(weighted.evaluate(x).gradient, repeated.evaluate(x).gradient, atol=1e-12)
    here, there = ksparse.minimize(weighted, k=2), ksparse.minimize(repeated, k=2)
    assert_array_equal(here.support, there.support)
    assert_allclose(here.x, there.x, atol=1e-8)


def test_weights_of_censored_samples_are_repeated_rows_with_efrons_ties() -> None:
    X, y = design(), target("entry")
    counts = np.where(y["event"], 1, np.random.default_rng(4).integers(0, 4, N))
    weighted = Cox(X, y, sample_weight=counts, alpha=0.01)
    repeated = Cox(np.repeat(X, counts, axis=0), np.repeat(y, counts), alpha=0.01)
    assert_allclose(weighted.evaluate(np.ones(P)).gradient, repeated.evaluate(np.ones(P)).gradient, atol=1e-12)


@pytest.mark.parametrize("form", ["sparse", "row blocks"])
def test_every_design_gives_the_same_fit(form: str) -> None:
    here = ksparse.minimize(Cox(FORMS[form](design()), target(), alpha=0.01), k=3)
    there = ksparse.minimize(Cox(design(), target(), alpha=0.01), k=3)
    assert_array_equal(here.support, there.support)
    assert_allclose(here.x, there.x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["ties", "entry and strata"])
@pytest.mark.parametrize("seed", range(4))
def test_the_default_solver_finds_the_best_subset(seed: int, kind: str) -> None:
    objective = Cox(design(), target(kind, seed), alpha=1e-3)
    values = [Exact()(objective.restrict(support), np.zeros(3)).point.value for support in supports(P, 3)]
    result = ksparse.minimize(objective, k=3)
    assert result.success
    assert result.value == pytest.approx(min(values), rel=1e-10)


def test_only_differences_of_margins_and_the_order_of_times_matter() -> None:
    y = target("entry")
    later = make_survival_target(1e6 + 1e3 * y["time"], y["event"], entry=1e6 + 1e3 * y["entry"])
    reference = ksparse.minimize(Cox(design(), y, alpha=0.01), k=3)
    for X, target_ in ((design() + 1e4, y), (design(), later)):
        assert_allclose(ksparse.minimize(Cox(X, target_, alpha=0.01), k=3).x, reference.x, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", TIES)
def test_large_margins_lose_no_digits(ties: str, kind: str) -> None:
    """Margins from −2000 to 2000, whose exponentials no float holds, beside a definition with logarithms."""
    y = encode_survival(target(kind))
    margins = np.random.default_rng(3).uniform(-2000, 2000, N)
    value, slopes = 0.0, np.zeros(N)
    for i in np.flatnonzero(y[:, 1]):
        tied = (y[:, 0] == y[i, 0]) & (y[:, 3] == y[i, 3]) & (y[:, 1] > 0)
        at_risk = (y[:, 2] < y[i, 0]) & (y[i, 0] <= y[:, 0]) & (y[:, 3] == y[i, 3])
        gone = np.flatnonzero(np.flatnonzero(tied) == i)[0] / tied.sum() if ties == "efron" else 0.0
        logs = np.where(at_risk, margins, -np.inf) + np.where(tied, np.log1p(-gone), 0.0)
        log_sum = np.logaddexp.reduce(logs)
        value += (log_sum - margins[i]) / N
        slopes += np.exp(logs - log_sum) / N
        slopes[i] -= 1.0 / N
    loss, weights = CoxLoss(ties), np.full(N, 1.0 / N)
    assert loss.total(margins, y, weights) == pytest.approx(value, rel=1e-3)
    assert_allclose(loss.slopes(margins, y, weights), slopes, atol=1e-12)
    assert np.isfinite(loss.multiply_hessian(margins, y, weights, np.eye(N))).all()


def test_late_entries_after_a_huge_risk_lose_no_digits() -> None:
    """The sample with nearly all of the hazard leaves at the time at which the others enter."""
    time = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    y = make_survival_target(time, np.ones(6, bool), entry=[0, 0, 2.0, 2.0, 2.0, 2.0])
    for huge in (40.0, 400.0, -40.0, -400.0):
        margins = np.array([huge, huge, 0.1, -0.2, 0.3, 0.0])
        bound = CoxLoss().bind(encode_survival(y), np.full(6, 1 / 6))
        rest = CoxLoss().bind(encode_survival(y[2:]), np.full(4, 1 / 6))
        assert bound.total(margins) == pytest.approx(rest.total(margins[2:]) + np.log(2.0) / 6, rel=1e-13)
        assert_allclose(bound.slopes(margins)[2:], rest.slopes(margins[2:]), rtol=1e-12)
        product = bound.multiply_hessian(margins, np.eye(6))
        assert_allclose(product[2:, 2:], rest.multiply_hessian(margins[2:], np.eye(4)), atol=1e-14)


def test_margins_beyond_all_floats_have_an_infinite_loss() -> None:
    y, weights = encode_survival(target("plain")), np.full(N, 1.0 / N)
    for bad in (np.inf, -np.inf, np.nan):
        assert CoxLoss().total(np.where(np.arange(N) == 3, bad, 0.0), y, weights) == np.inf


def test_the_held_out_loss_is_a_difference_of_partial_likelihoods() -> None:
    y, margins = target("entry and strata"), signal(design())
    encoded, training = encode_survival(y), np.arange(N) % 4 > 0
    parts = [SampleMargins(margins[rows], encoded[rows], np.ones(rows.sum())) for rows in (training, ~training)]
    whole = N * partial_likelihood(margins, y, np.ones(N), "efron")
    part = training.sum() * partial_likelihood(margins[training], y[training], np.ones(training.sum()), "efron")
    # Each is measured from its own least value, and with weights that sum to 1.
    assert CoxLoss().average_held_out(*parts) == pytest.approx((whole - part) / (~training).sum(), rel=1e-10)


def test_a_feature_that_foretells_all_events_has_no_minimum() -> None:
    time = np.arange(1.0, 21.0)
    X = np.column_stack([-time, np.random.default_rng(0).standard_normal(20)])
    with pytest.warns(ksparse.ConvergenceWarning, match="partial likelihood grows without end"):
        result = ksparse.minimize(Cox(X, make_survival_target(time, np.ones(20, bool))), k=1)
    assert result.status is ksparse.Status.NO_MINIMUM
    assert np.isfinite(result.x).all()
    # One that only separates early events from late ones lowers f towards a positive limit.
    group = (time <= 5).astype(float)[:, None]
    with pytest.warns(ksparse.ConvergenceWarning, match="Set alpha > 0, or lower k"):
        result = ksparse.minimize(Cox(group, make_survival_target(time, time <= 8)), k=1)
    assert result.status is ksparse.Status.NO_MINIMUM
    assert result.value > 0.1


def test_all_events_at_one_time_have_a_flat_likelihood_without_features_that_differ() -> None:
    y = make_survival_target(np.ones(N), np.arange(N) < 20)
    result = ksparse.minimize(Cox(design(), y, alpha=0.1), k=3)
    assert np.isfinite(result.x).all()
    everyone = Cox(design(), make_survival_target(np.ones(N), np.ones(N, bool)), ties="breslow")
    assert_allclose(everyone.evaluate(np.zeros(P)).value, 0.0, atol=1e-12)


def test_what_is_refused() -> None:
    X, y = design(), encode_survival(target("plain"))
    with pytest.raises(ValueError, match="Cox has no intercept: it would change nothing; leave fit_intercept out"):
        Cox(X, y, fit_intercept=True)
    with pytest.raises(ValueError, match="y has no event"):
        Cox(X, y, sample_weight=1 - y[:, 1])
    with pytest.raises(ValueError, match="ties must be one of 'efron', 'breslow'; got 'exact'"):
        Cox(X, y, ties="exact")
    with pytest.raises(ValueError, match="y has 39 samples for 40 rows of X"):
        Cox(X, y[1:])
