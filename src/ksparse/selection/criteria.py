"""Information criteria: the deviance of a model plus a penalty on its size."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

__all__ = ["CRITERIA", "GRAPH_CRITERIA", "graph_criterion", "information_criterion"]

CRITERIA = ("aic", "bic", "ebic", "gic")
GRAPH_CRITERIA = ("aic", "bic", "ebic")


def information_criterion(
    criterion: str, deviance: float, *, parameters: int, k: int, n_samples: float, n_features: int
) -> float:
    """Minus twice the log-likelihood plus a penalty on the model's size; smaller is better.

    With deviance D, d parameters, n samples, p features (or groups) of which k are selected:

    - ``"aic"``: D + 2d (Akaike 1974);
    - ``"bic"``: D + d·log n (Schwarz 1978);
    - ``"ebic"``: D + d·log n + 2·log C(p, k) (Chen and Chen, Biometrika 2008, γ = 1): for many features;
    - ``"gic"``: D + d·log p·log log n (Fan and Tang, JRSS B 2013): for many features.

    Parameters
    ----------
    criterion : {"aic", "bic", "ebic", "gic"}
        Which one.
    deviance : float
        D: minus twice the log-likelihood, up to a constant; n·log of the mean square, where the variance is unknown.
    parameters : int
        d: number of fitted coefficients, with intercepts.
    k, n_features : int
        Number of selected features, and of all.
    n_samples : float
        n: number of samples, or the sum of their weights.

    Returns
    -------
    float
        The criterion.

    Examples
    --------
    >>> from ksparse import information_criterion
    >>> round(information_criterion("bic", 120.0, parameters=4, k=3, n_samples=100, n_features=50), 2)
    138.42
    """
    if criterion == "aic":
        return deviance + 2.0 * parameters
    log_n = np.log(max(n_samples, 2.0))
    if criterion == "bic":
        return float(deviance + parameters * log_n)
    if criterion == "ebic":
        subsets = gammaln(n_features + 1) - gammaln(k + 1) - gammaln(n_features - k + 1)
        return float(deviance + parameters * log_n + 2.0 * subsets)
    if criterion == "gic":
        return float(deviance + parameters * np.log(max(n_features, 2)) * np.log(max(log_n, 1.0)))
    raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}, got {criterion!r}")


def graph_criterion(
    criterion: str, deviance: float, *, edges: int, n_samples: float, n_features: int, gamma: float = 0.5
) -> float:
    """Minus twice the log-likelihood of a Gaussian graph plus a penalty on its edges; smaller is better.

    With deviance D = n·(−log det Ω + ⟨Σ, Ω⟩), E edges, n samples and p variables:

    - ``"aic"``: D + 2E;
    - ``"bic"``: D + E·log n;
    - ``"ebic"``: D + E·log n + 4E·γ·log p (Foygel and Drton, NeurIPS 2010, equation 1).

    Parameters
    ----------
    criterion : {"aic", "bic", "ebic"}
        Which one.
    deviance : float
        D.
    edges, n_features : int
        E and p.
    n_samples : float
        n.
    gamma : float, default=0.5
        γ, from 0, which is BIC, to 1.

    Returns
    -------
    float
        The criterion.

    Examples
    --------
    >>> from ksparse.selection import graph_criterion
    >>> round(graph_criterion("ebic", 120.0, edges=3, n_samples=100, n_features=50), 2)
    157.29
    """
    if criterion == "aic":
        return deviance + 2.0 * edges
    if criterion not in GRAPH_CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(map(repr, GRAPH_CRITERIA))}, got {criterion!r}")
    extended = 4.0 * gamma * np.log(n_features) if criterion == "ebic" else 0.0
    return float(deviance + edges * (np.log(max(n_samples, 2.0)) + extended))
