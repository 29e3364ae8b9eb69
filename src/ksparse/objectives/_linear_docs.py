"""Parameters that all linear models have in common, documented once."""

from __future__ import annotations

from .._docstrings import fill_docstrings

__all__ = ["document_objective"]

document_objective = fill_docstrings(
    {
        "X": """X : array-like, sparse matrix or Design, of shape (n, p)
    The data. Dense float64 or float32 is used as it is; sparse data is converted to CSC once.""",
        "options": """alpha : float, default=0
    Ridge penalty of w; it does not apply to the intercept.
sample_weight : array-like of shape (n,), optional
    Nonnegative weights of the samples; f is then the weighted mean.
offset : array-like, optional
    Known part of the margins, added to Xw.
fit_intercept : bool, default=False
    Add an unpenalized intercept as the last coordinate of x. It does not count in k.""",
        "two_classes": """classes : ndarray of shape (2,)
    The two labels; the second one is the positive class.""",
    }
)
