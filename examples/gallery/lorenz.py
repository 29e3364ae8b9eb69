"""The equations of the Lorenz system from noisy measurements: sparse combinations of polynomials.

    python examples/gallery/lorenz.py [--data-sets 5] [--figure FILE]

SINDy (Brunton, Proctor and Kutz 2016) regresses derivatives on a library of functions, here the 56 monomials up to
degree 5 of x, y and z, of which the three equations contain 2, 3 and 2:

    ẋ = 10(y − x),  ẏ = x(28 − z) − y,  ż = xy − 8/3·z.

Derivatives of noisy data are noisier still. So both sides are integrated against bumps φ, and ∫φẋ = −∫φ̇x needs no
derivative (the weak form of Messenger and Bortz 2021). High powers are nearly linear combinations of each other. The
usual method, sequentially thresholded least squares (STLSQ), sets small coefficients to zero and fits again; here it
has the threshold that is best for the true equations, which nobody knows. ksparse takes the largest number of terms
that has an error at least 30 % below that of one term less. The equations that were found are then solved from a new
start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.signal import savgol_filter
from shared import OURS, TRUTH, USUAL, add_legend, measure_recovery, open_figure, run_example, tidy
from sklearn.preprocessing import PolynomialFeatures

from ksparse import SparseLinearRegression

STEP, SAMPLES, NOISE, DEGREE = 0.01, 2000, 0.3, 5
#: Samples that smoothing and a bump see, and between one bump and the next.
WINDOW, BUMP, HOP = 11, 41, 10
LIBRARY = PolynomialFeatures(DEGREE).fit(np.zeros((1, 3)))
TERMS = LIBRARY.get_feature_names_out(["x", "y", "z"])
THRESHOLDS, RIDGE = (0.05, 0.1, 0.2, 0.5, 0.9), 0.05
#: A term must lower the mean squared error by this fraction.
WORTH, MOST_TERMS = 0.3, 7
HORIZON = 8.0


class Found(NamedTuple):
    """Measurements, and solutions of each system from a new start."""

    data: Any
    times: Any
    solutions: dict[str, Any]


def make_truth() -> Any:
    """The coefficients of the Lorenz system in the library, of shape (terms, 3)."""
    truth = np.zeros((len(TERMS), 3))
    equations: tuple[dict[str, float], ...] = (
        {"x": -10, "y": 10},
        {"x": 28, "x z": -1, "y": -1},
        {"x y": 1, "z": -8 / 3},
    )
    for column, equation in enumerate(equations):
        for term, value in equation.items():
            truth[TERMS.tolist().index(term), column] = value
    return truth


def solve(coefficients: Any, start: Any, times: Any) -> Any:
    """The solution of a system of polynomial equations; NaN from where it leaves the attractor far behind."""

    def derivative(_: float, state: Any) -> Any:
        return LIBRARY.transform(np.clip(state, -1e3, 1e3)[None])[0] @ coefficients

    def escape(_: float, state: Any) -> float:
        return float(200.0 - np.abs(state).max())

    escape.terminal = True  # type: ignore[attr-defined]
    solution = solve_ivp(derivative, times[[0, -1]], start, t_eval=times, events=escape, rtol=1e-6, atol=1e-6)
    states = np.full((len(times), 3), np.nan)
    states[: solution.y.shape[1]] = solution.y.T
    return states


def integrate(values: Any, bump: Any) -> Any:
    """∫φ(t)·values(t) dt for bumps φ at regular places."""
    starts = range(0, len(values) - BUMP, HOP)
    return STEP * np.array([bump @ values[start : start + BUMP] for start in starts])


def make_weak_form(data: Any) -> tuple[Any, Any]:
    """The integrals of the library, and of the derivatives of x, y and z."""
    u = np.linspace(-1, 1, BUMP)
    bump, slope = (1 - u**2) ** 4, -8 * u * (1 - u**2) ** 3 * 2 / ((BUMP - 1) * STEP)
    library = LIBRARY.transform(savgol_filter(data, WINDOW, 3, axis=0))
    return integrate(library, bump), -integrate(data, slope)


def fit_k_terms(library: Any, derivative: Any) -> Any:
    """The largest number of terms that has a much lower error than one term less."""
    scales = np.sqrt(np.mean(library**2, axis=0))
    best, error = np.zeros(library.shape[1]), float(np.mean(derivative**2))
    for k in range(1, MOST_TERMS + 1):
        model = SparseLinearRegression(k=k, fit_intercept=False, effort=2).fit(library / scales, derivative)
        lower = float(np.mean((derivative - model.predict(library / scales)) ** 2))
        if lower < (1 - WORTH) * error:
            best = model.coef_ / scales
        error = lower
    return best


def fit_thresholded(library: Any, derivative: Any, threshold: float) -> Any:
    """STLSQ: ridge regression of the terms whose coefficients are not small, until none is left out."""
    kept = np.ones(library.shape[1], dtype=bool)
    while True:
        A = library[:, kept]
        coefficients = np.zeros(library.shape[1])
        coefficients[kept] = np.linalg.solve(A.T @ A + RIDGE * np.eye(A.shape[1]), A.T @ derivative)
        small = np.abs(coefficients) < threshold
        if (small == ~kept).all() or small.all():
            return coefficients
        kept = ~small


def measure_distance(fit: Any, truth: Any) -> float:
    """The error of the coefficients, relative to the true ones."""
    return float(np.linalg.norm(fit - truth) / np.linalg.norm(truth))


def compute(seed: int) -> tuple[pd.DataFrame, Found]:
    rng = np.random.default_rng(seed)
    truth, times, warm = make_truth(), STEP * np.arange(SAMPLES), np.array([0.0, 5.0])
    start, begin = (solve(truth, rng.normal([0, 0, 25], 5), warm)[-1] for _ in range(2))  # on the attractor
    data = solve(truth, start, times) + NOISE * rng.standard_normal((SAMPLES, 3))
    library, derivatives = make_weak_form(data)
    thresholded = [
        np.column_stack([fit_thresholded(library, d, threshold) for d in derivatives.T]) for threshold in THRESHOLDS
    ]
    systems = {
        "ksparse": np.column_stack([fit_k_terms(library, d) for d in derivatives.T]),
        "STLSQ": min(thresholded, key=lambda fit: measure_distance(fit, truth)),
        "truth": truth,
    }
    ahead = np.arange(0.0, HORIZON, STEP)
    solutions = {name: solve(fit, begin, ahead) for name, fit in systems.items()}
    rows = {}
    for name, fit in systems.items():
        rows[name] = measure_recovery(np.flatnonzero(fit), np.flatnonzero(truth))
        rows[name]["error of coefficients"] = measure_distance(fit, truth)
        away = ~(np.linalg.norm(solutions[name] - solutions["truth"], axis=1) < 5)
        rows[name]["followed for"] = float(ahead[away.argmax()] if away.any() else HORIZON)
    return pd.DataFrame(rows).T, Found(data, ahead, solutions)


def draw(found: Found) -> Figure:
    figure = open_figure(1, size=(10.0, 4.0))[0]
    figure.clear()
    grid = figure.add_gridspec(2, 2, width_ratios=[2, 3])
    left = figure.add_subplot(grid[:, 0])
    left.plot(found.data[:, 0], found.data[:, 2], ".", color=OURS, markersize=1.2, alpha=0.7)
    tidy(left, f"{len(found.data)} noisy measurements", "x", "z")
    for row, (name, colour) in enumerate((("ksparse", OURS), ("STLSQ", USUAL))):
        ax = figure.add_subplot(grid[row, 1])
        ax.plot(
            found.times, found.solutions["truth"][:, 0], color=TRUTH, linewidth=3, alpha=0.7, label="true equations"
        )
        ax.plot(found.times, found.solutions[name][:, 0], color=colour, linewidth=1.3, label=f"found by {name}")
        ax.set_ylim(-24, 30)
        tidy(ax, "", "time" if row else "", "x")
        add_legend(ax, loc="upper left", ncols=2)
    figure.axes[1].set_title("A new start: the solutions of both systems", loc="left", fontsize=10.5, color="#3a4350")
    return figure


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    return run_example("The equations of the Lorenz system from data", compute, draw, arguments, data_sets=5)


if __name__ == "__main__":
    main()
