"""Normal scores: samples as quantiles of the normal distribution, by the ranks of training samples."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .._types import Array

__all__ = ["compute_normal_scores"]


def compute_normal_scores(X: Array, ordered: Array) -> Array:
    """Samples as normal scores, Φ⁻¹(F(x)), by the distribution of each variable in the training samples.

    F(x) = (#{x_i < x} + #{x_i ≤ x} + 1)/(2(n + 1)) for n training samples x_i: for one of them r/(n + 1), where r is
    its rank (ties have their mean rank); for any other value, half way between those of its neighbours. So a strictly
    increasing function of a variable changes nothing.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    ordered : ndarray of shape (n_training_samples, n_features)
        The training samples, each column sorted.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The scores.

    References
    ----------
    H. Liu, J. Lafferty and L. Wasserman, *The nonparanormal: semiparametric estimation of high dimensional undirected
    graphs*, JMLR 10, 2009. They truncate the empirical distribution function where this one divides by n + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators.normal_scores import compute_normal_scores
    >>> training = np.array([[1.0], [10.0], [1000.0]])
    >>> compute_normal_scores(training, training).ravel().round(2)
    array([-0.67,  0.  ,  0.67])
    >>> compute_normal_scores(np.array([[-5.0], [11.0]]), training).ravel().round(2)
    array([-1.15,  0.32])
    """
    scores = np.empty(X.shape)
    for j, column in enumerate(ordered.T):
        below = np.searchsorted(column, X[:, j], side="left")
        up_to = np.searchsorted(column, X[:, j], side="right")
        scores[:, j] = ndtri((below + up_to + 1.0) / (2.0 * (len(column) + 1.0)))
    return scores
