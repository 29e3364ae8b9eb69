"""Problems whose best subset is to be proved; a case is made again from its fields alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ksparse.objectives import LeastSquares, Logistic, Poisson

from .real_data import SIZES, load_data

__all__ = ["CASES", "ExactCase"]

#: More numbers than this are drawn column by column.
LARGE = 100_000_000
OBJECTIVES: dict[str, Any] = {"squares": LeastSquares, "logistic": Logistic, "poisson": Poisson}


@dataclass(frozen=True)
class ExactCase:
    """A problem, the gap that is asked for, and the packages that can solve it."""

    table: str
    loss: str
    n: int
    p: int
    k: int
    #: Correlation of neighbouring features.
    rho: float
    #: The ridge, as alpha of f.
    alpha: float
    #: Variance of the signal over that of the noise, for least squares.
    snr: float = 5.0
    #: Bound of the coefficients: a number, or 0 for none; −1 for 1.5 times the largest coefficient of the best model.
    box: float = 0.0
    gap: float = 1e-4
    #: Name of real data.
    data: str = ""
    peers: tuple[str, ...] = ()
    #: Cases with the same one are listed by their difficulty: packages that reach the limit are not run on the rest.
    ladder: str = ""

    @property
    def name(self) -> str:
        """What the case is called in the results."""
        size = f"{self.data} {self.n} x {self.p}" if self.data else f"{self.n} x {self.p}, rho {self.rho:g}"
        noise = f", SNR {self.snr:g}" if self.table == "hard" else ""
        box = "" if not self.box else (", M" if self.box < 0 else f", M {self.box:g}")
        return f"{self.loss}, {size}{noise}, k {self.k}, alpha {self.alpha:.3g}{box}"

    def make(self) -> tuple[Any, Any]:
        """X and y: features with correlations ρ^|i−j|, k equal coefficients spread evenly."""
        if self.data:
            X, y = load_data(self.data)
            deviations = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
            return X, y - y.mean() if self.loss == "squares" else y
        rng = np.random.default_rng(0)
        if self.n * self.p > LARGE:  # by columns, which are then contiguous
            X = rng.standard_normal((self.p, self.n)).T
        else:
            X = rng.standard_normal((self.n, self.p))
        for j in range(1, self.p):
            X[:, j] = self.rho * X[:, j - 1] + np.sqrt(1.0 - self.rho**2) * X[:, j]
        signal = X[:, np.linspace(0, self.p - 1, self.k).astype(int)].sum(axis=1)
        if self.loss == "logistic":
            return X, rng.random(self.n) < 1.0 / (1.0 + np.exp(-signal))
        if self.loss == "poisson":
            return X, rng.poisson(np.exp(signal / np.sqrt(signal.var())))
        return X, signal + np.sqrt(signal.var() / self.snr) * rng.standard_normal(self.n)

    def make_objective(self, X: Any, y: Any) -> Any:
        """f."""
        return OBJECTIVES[self.loss](X, y, alpha=self.alpha)


def list_real() -> list[ExactCase]:
    """Real data, standardized."""
    both = ("el0ps",)
    expressions = [("golub", 0.1), ("golub", 1.0), ("colon", 0.1), ("prostate", 0.1), ("prostate", 1.0)]
    cases = [make_real("logistic", name, 5, alpha, both) for name, alpha in expressions]
    cases += [make_real("squares", "riboflavin", 5, alpha, both) for alpha in (1.0, 0.1)]
    cases += [make_real("logistic", "breast cancer", k, alpha, both) for alpha in (1e-2, 1e-4) for k in (5, 10)]
    cases += [make_real("squares", "diabetes", k, 1e-4, ("okridge", "el0ps")) for k in (5, 10)]
    cases += [
        make_real("squares", drug, k, alpha, ("okridge", "el0ps"))
        for drug in ("GDSC drug 221", "GDSC drug 211")
        for k, alpha in ((5, 0.1), (10, 0.3), (10, 0.1), (5, 1e-3))
    ]
    return [*cases, make_real("squares", "GDSC drug 211 without tissues", 5, 0.1, ())]


def make_real(loss: str, data: str, k: int, alpha: float, peers: tuple[str, ...]) -> ExactCase:
    """A case with real data."""
    return ExactCase("real", loss, *SIZES[data], k, 0.0, alpha, data=data, peers=peers, ladder=data)


def list_squares() -> list[ExactCase]:
    """More samples than features, as in OKRidge's paper, where λ₂ = 2n·alpha/2."""
    sizes = [(500, 100), (2000, 100), (2000, 500), (2000, 1000), (6000, 100), (6000, 500), (6000, 1000), (6000, 3000)]
    return [
        ExactCase(
            "grid", "squares", n, p, 10, rho, lambda2 / n, gap=1e-6, peers=("okridge",), ladder=f"{n} x {p}, {rho:g}"
        )
        for lambda2 in (0.1, 0.001)
        for n, p in sizes
        for rho in (0.1, 0.5, 0.9)
    ]


def list_hard() -> list[ExactCase]:
    """Little signal, or many features to select."""
    settings = [
        (1000, 100, 20, 0.5, 0.5),
        (500, 200, 10, 0.5, 1.0),
        (300, 60, 15, 0.7, 1.0),
        (2000, 500, 10, 0.9, 1.0),
        (500, 100, 10, 0.9, 1.0),
        (500, 100, 20, 0.9, 5.0),
        (500, 200, 10, 0.9, 1.0),
    ]
    return [
        ExactCase("hard", "squares", n, p, k, rho, 0.001 / n, snr=snr, peers=("okridge",), ladder=f"hard, {rho:g}")
        for n, p, k, rho, snr in settings
    ]


def list_wide() -> list[ExactCase]:
    """No more samples than features, with and without bounds of the coefficients."""
    both = ("l0bnb", "el0ps")
    boxed = [
        ExactCase("wide", "squares", n, p, 10, rho, 0.001 / n, box=-1.0, peers=both, ladder="boxed")
        for n, p, rho in [(500, 500, 0.1), (500, 1000, 0.1), (500, 1000, 0.5), (2000, 3000, 0.1), (2000, 3000, 0.9)]
    ]
    free = [
        ExactCase("wide", "squares", n, p, 10, rho, lambda2 / n, peers=("el0ps",) if lambda2 == 10 else ())
        for n, p, rho, lambda2 in [
            (500, 500, 0.1, 0.001),
            (2000, 3000, 0.1, 0.001),
            (500, 500, 0.1, 1.0),
            (500, 500, 0.1, 10.0),
            (500, 1000, 0.5, 10.0),
            (2000, 3000, 0.1, 10.0),
        ]
    ]
    large = [ExactCase("wide", "squares", 16_000, 16_000, 10, 0.5, 1.0 / 16_000, box=2.0)]
    return boxed + free + large


def list_glm() -> list[ExactCase]:
    """Logistic and Poisson regression."""
    logistic = [
        ExactCase("glm", "logistic", n, p, 10, 0.5, alpha, peers=("el0ps",), ladder=f"logistic, {alpha:g}")
        for n, p, alpha in [
            (2000, 100, 1e-4),
            (500, 100, 1e-4),
            (2000, 100, 1e-3),
            (6000, 100, 1e-3),
            (500, 100, 1e-3),
            (2000, 500, 1e-3),
            (500, 100, 1e-2),
            (2000, 500, 1e-2),
            (6000, 1000, 1e-2),
        ]
    ]
    poisson = [
        ExactCase("glm", "poisson", n, p, 10, 0.5, alpha)
        for n, p, alpha in [(500, 100, 1e-3), (2000, 100, 1e-3), (2000, 500, 1e-2), (6000, 1000, 1e-2)]
    ]
    return logistic + poisson


CASES = list_squares() + list_hard() + list_wide() + list_glm() + list_real()
