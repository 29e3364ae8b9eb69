"""Texts of parameters and attributes that several estimators share, written once."""

from __future__ import annotations

from inspect import cleandoc
from string import Template
from typing import TypeVar

__all__ = ["documented"]

C = TypeVar("C", bound=type)

TEXTS = {
    "k": """
k : int, default=10
    Number of features to select; number of groups, where there are groups. If there are no more, all are used.
    An intercept does not count.""",
    "model": """
fit_intercept : bool, default=True
    Whether to add an intercept, which is not penalized.
groups : array-like of shape (n_features,) or dict, optional
    Group of each feature, in any order, or ``{feature name: group}``; k then counts groups, and a group enters as a
    whole.
always_select : array-like, optional
    Features that are always selected: their names (of a data frame), indices, or a mask; labels, where there are
    groups. They count in k.
positive : bool, default=False
    Whether coefficients must not be negative.
solver : {"auto", "grahtp", "fgrahtp", "htp", "iht", "grasp", "fbs"} or Solver, default="auto"
    The method. "auto" is `ksparse.SwapGraHTP`; a solver of `ksparse.solvers` sets steps and limits itself. "htp" and
    "iht" are for least squares, "grahtp" and "fgrahtp" for losses of bounded curvature, which Poisson's is not.
effort : int, default=0
    How much more time "auto" spends on a lower objective, from 0 to 5: each level takes two to three times as long as
    the one below, see `ksparse.SwapGraHTP`. Where k is chosen, it goes into the chosen one.""",
    "class_weight": """
class_weight : dict or "balanced", optional
    Weights of the classes, which multiply those of the samples; "balanced" gives each class the same total.""",
    "delta": """
delta : float or "auto", default="auto"
    Where the loss turns from quadratic to linear, in the units of y. "auto" is 1.345 times the spread of the residuals
    (their normalized median absolute deviation) of a first fit, so that rescaling y rescales the coefficients.""",
    "warm_start": """
warm_start : bool, default=False
    Whether `fit` starts from the coefficients of the last fit.""",
    "fitted": """
coef_ : ndarray of shape (n_features,)
    Coefficients of all features; zero for those that are not selected. A matrix with one row for two classes, and one
    for each of several classes or responses.
intercept_ : float or ndarray
    The intercept, or one for each row of a matrix `coef_`; 0 without an intercept.
support_ : ndarray of bool, shape (n_features,)
    Which features are selected: those with a coefficient and the always-selected ones; whole groups, where there are
    groups.
n_iter_ : int
    Iterations of the solver.
result_ : Result
    What the solver gave back: value, status, message, and the history of its iterations.
n_features_in_ : int
    Number of features seen.
feature_names_in_ : ndarray of str
    Their names, if X has any.""",
    "ks": """
ks : "auto" or sequence of int, default="auto"
    Which numbers of features to try. "auto" grows k until its score has turned, then looks around the best k; `ks_`
    says which ones were tried.""",
    "cv": """
cv : int, splitter or iterable, default=5
    How to split: a number of folds (stratified, for labels) or any splitter of scikit-learn.
scoring : str or callable, optional
    Any scorer of scikit-learn, larger being better. By default minus the mean loss of the held-out samples.
rule : {"best", "1se"}, default="best"
    "best" takes the k with the best mean score; "1se" the smallest k whose mean score is within one standard
    error of it.""",
    "n_jobs": """
n_jobs : int, optional
    Folds that are fitted side by side, as in joblib.""",
    "criterion": """
criterion : {"aic", "bic", "ebic", "gic"}, default="ebic"
    What is minimized over k: see `ksparse.information_criterion`.""",
    "path": """
ks_ : ndarray of shape (n_ks,)
    The numbers of features that were tried, increasing.
k_ : int
    The chosen one.
coef_path_ : ndarray of shape (n_ks, n_features)
    Coefficients for each of them, fitted to all samples; with an axis of classes or responses in the middle where
    `coef_` is a matrix.
intercept_path_ : ndarray of shape (n_ks,)
    Intercepts for each of them.
path_ : Path
    The same with what the solver gave back for each of them.""",
    "scores": """
scores_ : ndarray of shape (n_ks, n_folds)
    Score of each k on each held-out fold.""",
    "graph": """
bounds : "auto", "paper", pair of floats, or None, default="auto"
    α and β, between which the eigenvalues of Ω must lie. "paper" takes α = 1/(‖Σ‖₂ + p·ξ) and β = (p − α·tr Σ)/ξ, see
    `ksparse.objectives.eigenvalue_bounds`; None has none. "auto" takes the paper's where the covariance is singular, as
    with fewer samples than variables, and none where it is not and the likelihood has a maximum on every graph. They
    hold for Ω in the units that `standardize` says; where one binds, ``result_.message`` says so.
xi : float, default=1e-2
    ξ of the paper's bounds; the smaller, the larger β.
standardize : bool, default=True
    Whether to work on the correlation matrix, and to give Ω back in the units of the data: then units do not matter.
    Without, bounds hold for Ω itself, and a variable of small variance may meet β.
known_edges, forbidden_edges : array-like of pairs, or mask of shape (n_features, n_features), optional
    Edges that are always there, which count in k, and edges that never are: pairs of names (of a data frame) or
    of indices.
solver : {"auto", "grahtp", "grasp", "fbs", "glasso"} or Solver, default="auto"
    The method. "auto" is `ksparse.SwapGraHTP`: GraHTP with scaled steps, backtracking and exchanges of edges; "grahtp"
    is the same without exchanges. For the paper's Algorithm 2 to the letter pass
    ``GraHTP(step=..., debias=Exact("adm"))``. "glasso" is scikit-learn's graphical lasso with its penalty bisected.
effort : int, default=0
    How much more time "auto" spends on a lower objective, from 0 to 5: each level takes two to three times as long as
    the one below, see `ksparse.SwapGraHTP`. Where k is chosen, it goes into the chosen one.""",
    "omega": """
precision_ : ndarray of shape (n_features, n_features)
    Ω.
covariance_ : ndarray of shape (n_features, n_features)
    Ω⁻¹, the covariance of the model.""",
    "location": """
location_ : ndarray of shape (n_features,)
    The mean; zero if it is assumed to be, or if a covariance was given.""",
    "edges": """
edges_ : structured array with the fields ``i``, ``j`` and ``partial_correlation``
    The edges, i < j, the strongest first; ``pandas.DataFrame(model.edges_)`` makes a table of it. The partial
    correlation is −Ω_ij/√(Ω_ii·Ω_jj).
bounds_ : EigenvalueBounds
    The bounds α and β that were used.
n_iter_ : int
    Iterations of the solver.
result_ : Result
    What the solver gave back, in the units that `standardize` says: value, status, message, and its history.
n_features_in_ : int
    Number of variables seen.
feature_names_in_ : ndarray of str
    Their names, if X has any.""",
    "edge_counts": """
ks : "auto" or sequence of int, default="auto"
    Which numbers of edges to try. "auto" grows k until its score has turned, then looks around the best k; `ks_` says
    which ones were tried.""",
    "edge_path": """
ks_ : ndarray of shape (n_ks,)
    The numbers of edges that were tried, increasing.
k_ : int
    The chosen one.
path_ : PrecisionPath
    The precision matrix for each of them, fitted to all samples.""",
    "criteria": """
criterion_ : ndarray of shape (n_ks,)
    The criterion for each of them; smaller is better.""",
}


def documented(cls: C) -> C:
    """Replace lines like ``$model`` in a class's docstring by the shared text of that name."""
    texts = {name: text.strip("\n") for name, text in TEXTS.items()}
    cls.__doc__ = Template(cleandoc(cls.__doc__ or "")).substitute(texts)
    return cls
