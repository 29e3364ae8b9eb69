"""What displays read from estimators and from users, and the texts of parameters that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._docstrings import fill_docstrings
from .._types import AnyArray, Array, IntArray
from ..estimators.edges import compute_partial_correlations
from ..validation import check_vector

if TYPE_CHECKING:
    from typing_extensions import Self

#: Texts of parameters and attributes of several displays.
TEXTS = {
    "axes_": """
ax_ : Axes
    The axes.
figure_ : Figure
    Their figure.""",
    "ax": """
ax : Axes, optional
    Where to draw; a new figure by default.""",
    "options": """
**options
    Parameters of `plot`, such as ax.""",
    "choosing_estimator": """
estimator : fitted estimator or pipeline
    An estimator that chooses k by cross-validation (``…CV``) or an information criterion (``…IC``), or a pipeline that
    ends with one.""",
    "feature_names": """
feature_names : sequence of str, optional
    Names of the features; by default those seen in `fit`, otherwise x0, x1, …""",
    "coefficients": """
output : int, default=0
    Index of the class (in ``classes_``) or response whose coefficients are drawn, if there are several.
standardize_by : array-like of shape (n_features,), optional
    Scale of each feature, such as ``X.std(axis=0)``. Coefficients times their scales can be compared.""",
}

#: Replaces lines like ``$ax`` in docstrings of a display and of its methods by the text of that name.
document_display = fill_docstrings({name: text.strip("\n") for name, text in TEXTS.items()})
#: Largest difference of two entries that counts as rounding, relative to the largest entry.
MAX_MATRIX_ERROR = 1e-8


class PrecisionDisplay(ABC):
    """A display of a precision matrix."""

    @classmethod
    @abstractmethod
    def from_precision(cls, *args: Any, **options: Any) -> Self:
        """Draw a precision matrix."""

    @classmethod
    def from_estimator(cls, estimator: Any, *, names: Any = None, **options: Any) -> Self:
        """Draw the precision matrix of an estimator.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            An estimator with a ``precision_``, such as SparsePrecision or scikit-learn's GraphicalLasso, or a pipeline
            that ends with one.
        names : sequence of str, optional
            Names of the nodes; by default those seen in `fit`, otherwise x0, x1, …
        **options
            Other parameters of `from_precision`.
        """
        model = get_fitted_model(estimator, "an estimator of a precision matrix, such as SparsePrecision", "precision_")
        names = get_feature_names(estimator) if names is None else names
        return cls.from_precision(model.precision_, names=names, **options)


def get_fitted_model(estimator: Any, expected: str, *attributes: str) -> Any:
    """The fitted model, the last step of a pipeline, after a check that it has one of the attributes."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(model, type):
        raise TypeError(f"expected {expected}; got the class {model.__name__}: make an instance and fit it")
    check_has(model, "fit", expected, "from_path draws a path, from_result a result")
    check_is_fitted(model)
    if not any(hasattr(model, attribute) for attribute in attributes):
        raise TypeError(f"expected {expected}; a {type(model).__name__} has no {' or '.join(attributes)}")
    return model


def check_has(value: Any, attribute: str, expected: str, advice: str) -> None:
    """Check that a value is of the expected kind, which has this attribute."""
    if not hasattr(value, attribute):
        raise TypeError(f"expected {expected}; got an object of type {type(value).__name__} ({advice})")


def get_feature_names(estimator: Any) -> AnyArray | None:
    """Names of the features seen by the model, or None if they have no names."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    names: AnyArray | None = getattr(model, "feature_names_in_", None)
    if names is None and isinstance(estimator, Pipeline) and len(estimator) > 1:
        with suppress(AttributeError, ValueError):  # a transformer without names of its outputs
            names = estimator[:-1].get_feature_names_out()
    return names


def get_unit(model: Any) -> str:
    """What k counts: "features", "groups" or "edges"."""
    if hasattr(model, "precision_"):
        return "edges"
    return "features" if getattr(model, "feature_groups", None) is None else "groups"


def check_names(names: Any, count: int, item: str, default: Any = None) -> list[str]:
    """One name per item: the given ones, those that are known, or x0, x1, … as in scikit-learn."""
    names = default if names is None else names
    names = [f"x{index}" for index in range(count)] if names is None else names
    return [str(name) for name in check_labels(names, count, "names", item)]


def check_labels(labels: Any, count: int, what: str, item: str) -> list[Any]:
    """A list with one label per item."""
    if np.shape(labels)[:1] != (count,):
        raise ValueError(f"{what} must be a sequence, one for each of {count} {item}s; got shape {np.shape(labels)}")
    return list(labels)


def check_nodes(names: Any, groups: Any, count: int) -> tuple[list[str], list[Any] | None]:
    """One name for each node, and the label of its group if there are groups."""
    labels = None if groups is None else check_labels(groups, count, "groups", "node")
    return check_names(names, count, "node"), labels


def encode_groups(groups: list[Any]) -> tuple[list[str], IntArray]:
    """Names of the groups in order, and the index of the group of each node."""
    labels, codes = np.unique(groups, return_inverse=True)
    return [str(label) for label in labels], codes


def check_square_matrix(values: Any, name: str) -> Array:
    """A symmetric matrix of finite numbers."""
    shape = np.shape(values)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(f"{name} must be a square matrix, one row and column for each node; got shape {shape}")
    matrix = check_vector(values, name, shape)
    difference = np.abs(matrix - matrix.T)
    if difference.max() > MAX_MATRIX_ERROR * np.abs(matrix).max():
        row, column = np.unravel_index(np.argmax(difference), shape)
        edge = f"({row}, {column}) and ({column}, {row})"
        raise ValueError(f"{name} must be symmetric, but entries {edge} differ; pass ({name} + {name}.T) / 2")
    return (matrix + matrix.T) / 2


def partial_correlations(precision: Any) -> Array:
    """Partial correlations −Ωᵢⱼ/√(Ωᵢᵢ Ωⱼⱼ) of a precision matrix Ω, with ones on the diagonal."""
    matrix = check_square_matrix(precision, "precision")
    diagonal = np.diagonal(matrix)
    if diagonal.min() <= 0 or (matrix**2 > (1 + MAX_MATRIX_ERROR) * np.outer(diagonal, diagonal)).any():
        raise ValueError("precision must be positive definite; pass the inverse of a covariance matrix")
    return compute_partial_correlations(matrix)
