"""The linear models people fit: least squares, logistic, multinomial, Poisson, Huber, squared hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import AnyArray, Array
from ..validation import real_array
from .linear import LinearObjective
from .losses import HuberLoss, LogisticLoss, MultinomialLoss, PoissonLoss, SquaredHingeLoss, SquaredLoss

__all__ = ["Huber", "LeastSquares", "Logistic", "Multinomial", "Poisson", "SquaredHinge"]


class LeastSquares(LinearObjective):
    """f(w) = (1/2n)·‖y − Xw‖² + (alpha/2)·‖w‖²: half the mean squared residual.

    On it GraHTP is HTP and FGraHTP is IHT (paper, §2). Several responses, y of shape (n, q), give a matrix of
    coefficients of shape (p, q), of which k rows are selected.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,) or (n, q)
        The responses.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import LeastSquares
    >>> X = np.eye(4)
    >>> ksparse.minimize(LeastSquares(X, [0.0, 3.0, -5.0, 1.0]), k=2).x
    array([ 0.,  3., -5.,  0.])
    """

    loss = SquaredLoss()

    def _encode(self, y: Any, n: int) -> Array:
        return _responses(y, n, matrix=True)


class _Classifier(LinearObjective):
    """A linear model of labels: every class must have a sample that counts."""

    #: The labels.
    classes: AnyArray

    def _check_weighted(self) -> None:
        if self._ignored is None:
            return
        target = self._target[~self._ignored]
        present = (target > 0).any(axis=0) if target.ndim == 2 else [(target < 0).any(), (target > 0).any()]
        if not np.all(present):
            missing = self.classes[~np.asarray(present)].tolist()
            raise ValueError(f"no sample of class {missing} has a positive sample_weight; remove it from y")


class Logistic(_Classifier):
    """f(w) = (1/n)·Σᵢ log(1 + exp(−yᵢ wᵀxᵢ)) + (alpha/2)·‖w‖² (paper, §4.1).

    The paper's loss log(1 + exp(−2v wᵀu)) is this one on the features x = 2u.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,)
        Labels of two classes: any two values.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The two labels; the second one is the positive class.

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = ksparse.minimize(ksparse.objectives.Logistic(scale(X), y, alpha=1e-3, fit_intercept=True), k=3)
    >>> result.selected
    array([20, 21, 27])
    """

    loss = LogisticLoss()

    def _encode(self, y: Any, n: int) -> Array:
        self.classes, signs = _two_classes(y, n, type(self).__name__)
        return signs


class Multinomial(_Classifier):
    """f(W) = −(1/n)·Σᵢ log softmax(Wᵀxᵢ)_yᵢ + (alpha/2)·‖W‖²: one column of W for each of K classes.

    An integer k selects k features, that is rows of W.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,)
        Labels of K classes: any values.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, in the order of the columns.

    Examples
    --------
    >>> import ksparse
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = ksparse.minimize(ksparse.objectives.Multinomial(X, y, alpha=1e-3, fit_intercept=True), k=2)
    >>> result.x.shape, result.selected
    ((5, 3), array([2, 3]))
    """

    loss = MultinomialLoss()

    def _encode(self, y: Any, n: int) -> Array:
        self.classes, codes = _labels(y, n)
        if len(self.classes) < 2:
            raise ValueError(f"y has only the class {self.classes.tolist()}; Multinomial needs at least 2 classes")
        return (codes[:, None] == np.arange(len(self.classes))).astype(np.float64)


class Poisson(LinearObjective):
    """f(w) = (1/n)·Σᵢ [exp(wᵀxᵢ) − yᵢ wᵀxᵢ] + (alpha/2)·‖w‖²: counts with a log link, up to a constant in y.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,)
        Counts.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> result = ksparse.minimize(ksparse.objectives.Poisson(X, [1, 7, 8, 1], fit_intercept=True), k=1)
    >>> result.x.round(4)
    array([2.0149, 0.    , 0.    ])
    """

    loss = PoissonLoss()

    def _encode(self, y: Any, n: int) -> Array:
        counts = _responses(y, n)
        if (counts < 0).any():
            first = int(np.flatnonzero(counts < 0)[0])
            raise ValueError(f"Poisson needs counts y >= 0; y[{first}] is {counts[first]:g}")
        return counts


class Huber(LinearObjective):
    """f(w) = (1/n)·Σᵢ huber(wᵀxᵢ − yᵢ) + (alpha/2)·‖w‖², with huber(r) = ½r² for |r| ≤ δ, else δ|r| − ½δ².

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,)
        The responses.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.
    delta : float, default=1.35
        Where the loss turns from quadratic to linear, in the units of y.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.column_stack([np.arange(6.0), np.ones(6)])
    >>> y = 2 * np.arange(6.0)
    >>> y[5] = 1000.0
    >>> ksparse.minimize(ksparse.objectives.Huber(X, y), k=1).x.round(2)
    array([2.22, 0.  ])
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        delta: float = 1.35,
        alpha: float = 0.0,
        sample_weight: Any = None,
        offset: Any = None,
        fit_intercept: bool = False,
    ) -> None:
        self.loss = HuberLoss(delta=delta)
        super().__init__(X, y, alpha=alpha, sample_weight=sample_weight, offset=offset, fit_intercept=fit_intercept)

    def _encode(self, y: Any, n: int) -> Array:
        return _responses(y, n)


class SquaredHinge(_Classifier):
    """f(w) = (1/n)·Σᵢ max(0, 1 − yᵢ wᵀxᵢ)² + (alpha/2)·‖w‖²: a linear support vector machine.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.
    y : array-like of shape (n,)
        Labels of two classes: any two values.
    alpha : float, default=0
        Ridge penalty of w; it does not apply to the intercept.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights of the samples; f is then the weighted mean.
    offset : array-like, optional
        Known part of the margins, added to Xw.
    fit_intercept : bool, default=False
        Add an unpenalized intercept as the last coordinate of x. It does not count in k.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The two labels; the second one is the positive class.

    Examples
    --------
    >>> import ksparse
    >>> X, y = [[1.0, 0.5], [2.0, -0.5], [-1.0, 0.5], [-2.0, -0.5]], ["yes", "yes", "no", "no"]
    >>> ksparse.minimize(ksparse.objectives.SquaredHinge(X, y), k=1).x
    array([1., 0.])
    """

    loss = SquaredHingeLoss()

    def _encode(self, y: Any, n: int) -> Array:
        self.classes, signs = _two_classes(y, n, type(self).__name__)
        return signs


def _check_length(y: AnyArray, n: int) -> None:
    if y.shape[0] != n:
        raise ValueError(f"y has {y.shape[0]} values for {n} rows of X; give one for each row")


def _responses(y: Any, n: int, matrix: bool = False) -> Array:
    """Finite numbers, one (or one row) for each sample."""
    array = real_array(y, "y")
    allowed = (1, 2) if matrix else (1,)
    if array.ndim not in allowed:
        raise ValueError(f"y has shape {array.shape}; expected ({n},)" + (f" or ({n}, q)" if matrix else ""))
    _check_length(array, n)
    if not np.isfinite(array).all():
        raise ValueError(f"y has {int((~np.isfinite(array)).sum())} NaN or infinite values; remove or impute them")
    return array


def _labels(y: Any, n: int) -> tuple[AnyArray, AnyArray]:
    """Distinct labels and the code of each sample's label."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"y has shape {array.shape}; expected one label for each of the {n} rows of X")
    _check_length(array, n)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"y has {int((~np.isfinite(array)).sum())} NaN or infinite labels; remove those rows")
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y has labels of different types ({error}); use one type, without None") from error
    return classes, codes


def _two_classes(y: Any, n: int, name: str) -> tuple[AnyArray, Array]:
    """The two labels, and y as −1 and +1."""
    classes, codes = _labels(y, n)
    if len(classes) != 2:
        advice = "use Multinomial for more classes, LeastSquares for numbers"
        if len(classes) < 2:
            advice = "there is nothing to tell apart"
        shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(f"{name} needs exactly 2 classes, y has {len(classes)}: {shown}; {advice}")
    return classes, 2.0 * codes - 1.0
