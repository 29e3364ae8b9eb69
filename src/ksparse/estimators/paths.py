"""Models for many k: what `ksparse.path` and `ksparse.precision_path` return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._types import AnyArray, Array, IntArray
from ..solvers import Result

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PrecisionPath", "SparsityPath"]


@dataclass(frozen=True, repr=False)
class SparsityPath:
    """Linear models with increasing numbers of features.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of features, increasing.
    coef : ndarray of shape (n_ks, n_features)
        Coefficients for each k; (n_ks, n_outputs, n_features) for classifiers and several responses.
    intercept : ndarray of shape (n_ks,) or (n_ks, n_outputs)
        Intercepts for each k.
    results : tuple of Result
        What the solver returned for each k.
    passes : int
        Passes over the data of the whole search.
    feature_names : ndarray of str or None
        Names of the features, if X has any.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((50, 9))
    >>> path = ksparse.path(X, 2 * X[:, 4] - X[:, 7], ks=[1, 2])
    >>> path
    <SparsityPath of 2 models, k = 1 to 2, of 9 features>
    >>> path.coef[1].round(6).nonzero()[0]
    array([4, 7])
    """

    ks: IntArray
    coef: Array
    intercept: Array
    results: tuple[Result, ...]
    passes: int
    feature_names: AnyArray | None = None

    def get_result(self, position: int) -> Result:
        """What the solver returned for the k at a position of `ks`."""
        return self.results[position]

    @property
    def values(self) -> Array:
        """f for each k."""
        return np.array([result.value for result in self.results])

    def to_frame(self) -> pd.DataFrame:
        """The coefficients as a data frame: a row for each k, a column for each feature that some model has.

        With several outputs, the columns have two levels: the output and the feature. The intercept is the last column.

        Examples
        --------
        >>> import numpy as np, ksparse
        >>> X = np.random.default_rng(0).standard_normal((50, 9))
        >>> frame = ksparse.path(X, 2 * X[:, 4] - X[:, 7] + 3, ks=[1, 2]).to_frame()
        >>> frame.columns.tolist(), frame.loc[2].round(3).tolist()
        ([4, 7, 'intercept'], [2.0, -1.0, 3.0])
        """
        import pandas as pd  # it takes half a second to import

        used = np.flatnonzero(np.any(self.coef != 0, axis=tuple(range(self.coef.ndim - 1))))
        names = used.tolist() if self.feature_names is None else self.feature_names[used].tolist()
        values = np.concatenate([self.coef[..., used], self.intercept[..., None]], axis=-1)
        heads: list[object] = [*names, "intercept"]
        columns = pd.Index(heads, dtype=object)
        if values.ndim == 3:
            outputs = values.shape[1]
            columns = pd.MultiIndex.from_product([range(outputs), heads]) if outputs > 1 else columns
        return pd.DataFrame(values.reshape(len(self.ks), -1), pd.Index(self.ks, name="k"), columns)

    def __len__(self) -> int:
        return len(self.ks)

    def __repr__(self) -> str:
        features = self.coef.shape[-1]
        return f"<SparsityPath of {len(self)} models, k = {self.ks[0]} to {self.ks[-1]}, of {features} features>"


@dataclass(frozen=True, repr=False)
class PrecisionPath:
    """Precision matrices with increasing numbers of edges.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers of edges, increasing.
    precision : tuple of sparse arrays of shape (n_features, n_features)
        Ω for each k.
    values : ndarray of shape (n_ks,)
        −log det Ω + ⟨Σ, Ω⟩ for each k, of standardized variables unless `standardize` is False; with the shrunken
        covariance in the place of Σ, where there is a shrinkage.
    feature_names : ndarray of str or None
        Names of the variables, if X has any.
    solutions : tuple of sparse arrays of shape (n_features, n_features)
        Ω for each k as the solver found it, of standardized variables unless `standardize` is False.
    outcomes : tuple of Result
        What else the solver returned for each k; without matrices, which would fill the memory.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> X[:, 1] += X[:, 0]
    >>> path = ksparse.precision_path(X, ks=[0, 1, 2])
    >>> path
    <PrecisionPath of 3 graphs, k = 0 to 2, of 5 variables>
    >>> path.precision[1].toarray().round(1)[:2, :2]
    array([[ 2.5, -1.2],
           [-1.2,  1.1]])
    """

    ks: IntArray
    precision: tuple[sparse.csr_array, ...]
    values: Array
    feature_names: AnyArray | None = None
    solutions: tuple[sparse.csr_array, ...] = ()
    outcomes: tuple[Result, ...] = ()

    @classmethod
    def of_results(
        cls, results: Mapping[int, Result], precision: Callable[[Result], Array], feature_names: AnyArray | None
    ) -> PrecisionPath:
        """The path of the solutions for all k; `precision` gives Ω of a solution in the units of the data."""
        ks = sorted(results)
        found = [results[k] for k in ks]
        return cls(
            np.array(ks),
            tuple(sparse.csr_array(precision(result)) for result in found),
            np.array([result.value for result in found]),
            feature_names,
            tuple(sparse.csr_array(result.x) for result in found),
            tuple(replace(result, x=np.empty(0), support=np.empty(0, dtype=bool)) for result in found),
        )

    def get_result(self, position: int) -> Result:
        """What the solver returned for the k at a position of `ks`."""
        x = self.solutions[position].toarray()
        support = (x != 0) & ~np.eye(len(x), dtype=bool)
        return replace(self.outcomes[position], x=x, support=support)

    def __len__(self) -> int:
        return len(self.ks)

    def __repr__(self) -> str:
        variables = self.precision[0].shape[0]
        return f"<PrecisionPath of {len(self)} graphs, k = {self.ks[0]} to {self.ks[-1]}, of {variables} variables>"
