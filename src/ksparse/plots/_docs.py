"""Texts of parameters and attributes that several displays share, written once."""

from __future__ import annotations

from .._docs import fill_docstrings

__all__ = ["documented"]

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
    "line_kw": """
line_kw : dict, optional
    Keywords of lines, as in `matplotlib.axes.Axes.plot`.""",
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
    "precision": """
precision : array-like of shape (n_nodes, n_nodes)
    A symmetric matrix with a positive diagonal.""",
    "names": """
names : sequence of str, optional
    Names of the nodes; x0, x1, … by default.""",
}

#: Replaces lines like ``$ax`` in docstrings of a display and of its methods by the text of that name.
documented = fill_docstrings({name: text.strip("\n") for name, text in TEXTS.items()})
