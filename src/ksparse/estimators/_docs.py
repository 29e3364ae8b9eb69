"""Descriptions of parameters and fitted attributes, written once for all estimators that have them.

`document` replaces ``$fields`` in a class's docstring by the section Parameters, made from its signature, and the
section Attributes, made from what all estimators of its kind have and what its `more_attributes` names.
"""

from __future__ import annotations

import re
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .base import SparseEstimator

__all__ = ["document"]

C = TypeVar("C", bound="type[SparseEstimator]")


def _split_entries(text: str) -> dict[str, str]:
    """The entries of a section by their names."""
    return {entry.split(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", text.strip())}


COMMON = _split_entries("""
effort : int
    How much more time "auto" spends on a lower objective, from 0 to 5: each level takes two to three times as long as
    the one below, see `ksparse.SwapGraHTP`. Where k is chosen, only the chosen one is searched with it.
ks : "auto" or sequence of int
    Which numbers of $units to try. "auto" begins with a coarse grid, 0, 1, 2, 3, 5, 8 and so on, goes on while the best
    score is at its end, and then tries the k around the best one; `ks_` has all that were tried.
cv : int, splitter or iterable
    How to split: a number of folds, shuffled with a fixed seed and stratified for labels, or any splitter of
    scikit-learn.
rule : {"smooth", "near", "best", "1se"}
    How the scores decide. "best" takes the best mean score. "smooth" averages each mean score with those of its
    neighbours in the grid, which is less easily misled by chance, and takes the smallest k within a twentieth of a
    standard error of the best. "near" takes the weakest penalty of the selection whose best mean score is within 0.2
    standard errors of the best, and with it the smallest k that is as near to its best. "1se" takes the smallest k
    whose mean score is within one standard error of the best.
n_jobs : int
    Number of folds that are fitted in parallel, as in joblib.
class_weight : dict or "balanced"
    Weights of the classes, which multiply those of the samples; "balanced" gives each class the same total.
delta : float or "auto"
    Where the loss turns from quadratic to linear, in the units of y. "auto" is 1.345 times the spread of the residuals
    (their normalized median absolute deviation) of a first fit, so that rescaling y rescales the coefficients.
categories : array-like
    The labels from the lowest to the highest; numbers and ordered categoricals of pandas do not need them. Labels that
    y does not have are left out.
power : float
    p, from 1 (Poisson) to 2 (gamma): the variance is proportional to the p-th power of the mean.
dispersion : float or "auto"
    a, at least 0: the variance of a count with mean μ is μ + aμ². "auto" takes the most likely one.
quantile : float
    τ, between 0 and 1: the model predicts the value that a response does not exceed with this probability.
bandwidth : float or "auto"
    h, the scale of the smoothing, in the units of y. "auto" takes ((k + log n)/n)^0.4 standard deviations of the
    residuals of a first fit, and at least 0.05, as the standard deviation of the smoothing, which is 1.81·h.
priors : array-like of shape (n_classes,)
    π, the probabilities of the classes in the order of `classes_`; by default their frequencies in the samples.
covariance : {None, "precomputed"}
    With "precomputed", `fit` takes a covariance matrix instead of samples.
assume_centered : bool
    Whether the mean of the samples is known to be zero.
transformation : {None, "rank"}
    "rank" takes normal scores in place of the samples: Φ⁻¹(r/(n + 1)) for the r-th smallest of n values of a variable,
    fitted to the training samples of each fold, where there are folds. `precision_`, `covariance_` and `location_` are
    then those of the scores. The constructor takes ``transform="rank"`` too.
gamma : float
    γ of the extended BIC, from 0, which is BIC, to 1.
n_samples : int
    Number of samples of a precomputed covariance.
ks_ : ndarray of shape (n_ks,)
    The numbers of $units that were tried, increasing.
k_ : int
    The chosen one.
scores_ : ndarray of shape (n_ks, n_folds)
    Score of each k on each held-out fold, with the penalties that are chosen for this k.
grid_scores_ : ndarray of shape (n_alphas, n_ks, n_refit_alphas, n_folds)
    Score of every combination on each held-out fold.
cv_results_ : dict of arrays
    The same as a table, as in scikit-learn's `GridSearchCV`: ``pandas.DataFrame(model.cv_results_)``.
compared_scores_ : ndarray of shape (n_ks,)
    What `rule` compares for each k: with "smooth", averages over neighbouring models; −∞ for a k that is clearly worse.
choice_ : str
    The choice in a sentence, which also says if no unit is worth it, or if k is the largest that was tried.
alphas_ : ndarray of shape (n_alphas,)
    The values of `alpha` that were tried, increasing.
refit_alphas_ : ndarray of shape (n_refit_alphas,)
    The values of `refit_alpha` that were tried, increasing; NaN stands for the same ridge as in the selection.
alpha_ : float
    The chosen ridge of the selection.
refit_alpha_ : float
    The chosen ridge of the coefficients.
criterion_ : ndarray of shape (n_ks,)
    The criterion for each k; smaller is better.
ties : {"efron", "breslow"}
    How events at the same time are treated. Efron's likelihood is nearer to that of times without ties.
event_times_ : ndarray of shape (n_event_times,)
    The distinct times with events, increasing; with strata, those of one stratum after the other.
baseline_hazard_ : ndarray of shape (n_event_times,)
    Breslow's estimate of the hazard at these times, for a sample with the mean log relative hazard of the samples.
baseline_cumulative_hazard_ : ndarray of shape (n_event_times,)
    Its sums.
baseline_survival_ : ndarray of shape (n_event_times,)
    exp(−cumulative hazard).
event_strata_ : ndarray of shape (n_event_times,)
    The stratum of each of these times; None without strata.
strata_ : ndarray
    The strata, sorted; None if there are none.
mean_predictor_ : float
    The mean log relative hazard of the samples.
classes_ : ndarray of shape (n_classes,)
    The labels, sorted; ordered classes in their order.
thresholds_ : ndarray of shape (n_classes - 1,)
    θ: the log-odds of a class above the first, the second, … are wᵀx − θ.
delta_ : float
    The delta that was used.
dispersion_ : float
    The dispersion that was used.
bandwidth_ : float
    The bandwidth that was used.
response_names_ : ndarray of str or None
    The names of several responses, if y is a data frame: its columns.
location_ : ndarray of shape (n_features,)
    The mean; zero if it is assumed to be, or if a covariance was given.
means_ : ndarray of shape (n_classes, n_features)
    The class means μ.
priors_ : ndarray of shape (n_classes,)
    The class probabilities π.
n_iter_ : int
    Iterations of the solver.
result_ : Result
    What the solver returned: value, status, message, and its history; for standardized features, with `standardize`.
certificate_ : Certificate
    How far the selection is from the best one, made when it is first asked for; see `ksparse.certificates`.
n_features_in_ : int
    Number of features seen.
feature_names_in_ : ndarray of str
    Their names, if X has any.
""")

FEATURES = COMMON | _split_entries("""
k : int
    Number of features to select; number of groups, with `feature_groups`. If there are no more, all are used.
    An intercept does not count. Estimators whose names end with CV or IC choose k.
alpha : float
    Ridge penalty while features are selected. It acts on the coefficients of the features as they are given, or of
    standardized features with `standardize`.
refit_alpha : float
    Ridge penalty of the coefficients, which are fitted again after the selection. By default `alpha`: nothing is
    fitted again. A strong ridge for the selection and a weak one for the coefficients predict well with few samples.
alphas : "auto", float or sequence of float
    Values of `alpha` to try, on the same folds as k. "auto" takes 0.03, 0.3 and 3 times the mean curvature
    of the loss, which is 1 for least squares with standardized features.
refit_alphas : "auto", float, sequence of float, or None
    Values of `refit_alpha` to try. "auto" takes multiples of the curvature as well, up to 3: from 0 for losses of
    residuals, from 2/n (8/n with more features than samples) for others. None: the coefficients keep the ridge of
    the selection.
fit_intercept : bool
    Whether to add an intercept, which is not penalized.
standardize : bool
    Whether to divide the features by their standard deviations while the model is fitted, so that `alpha` acts on
    coefficients that can be compared; those of the training samples only, where k is cross-validated. `coef_` is in
    the units of the data.
feature_groups : array-like of shape (n_features,) or dict
    Group of each feature, in any order, or ``{feature name: group}``; k then counts groups, and a group is selected as
    a whole.
always_select : array-like
    Features that are always selected: their names (of a data frame), indices, or a mask; labels of groups, with
    `feature_groups`. They count in k.
positive : bool
    Whether coefficients must not be negative.
solver : {"auto", "grahtp", "fgrahtp", "htp", "iht", "grasp", "fbs"} or Solver
    The method. "auto" is `ksparse.SwapGraHTP`; pass a solver of `ksparse.solvers` to set its steps and limits. "htp"
    and "iht" are for least squares, "grahtp" and "fgrahtp" for losses of bounded curvature, which excludes Poisson,
    gamma and Tweedie; the bound of Cox's is far above most curvatures, so that steps are short.
warm_start : bool
    Whether `fit` starts from the coefficients of the last fit.
scoring : str or callable
    The name of a scorer of scikit-learn, or a function of a fitted model, X and y; larger is better. Times until an
    event have "concordance_index". By default minus the mean loss of the held-out samples.
criterion : {"aic", "bic", "ebic", "gic"}
    What is minimized over k: see `ksparse.information_criterion`. Sample weights are counts for it: their sum is the
    number of samples, so that weights times a constant choose another k.
path_ : SparsityPath
    The models for all k, fitted to all samples; where ridges are chosen, with those chosen for each k.
coef_path_ : ndarray of shape (n_ks, n_features)
    Coefficients for each k.
intercept_path_ : ndarray of shape (n_ks,)
    Intercepts for each k.
coef_ : ndarray of shape (n_features,)
    Coefficients of all features; zero for those that are not selected.
intercept_ : float
    The intercept; 0 without an intercept.
support_ : ndarray of bool, shape (n_features,)
    Which features are selected: those with a coefficient and the always-selected ones; whole groups, with
    `feature_groups`.
""")

#: What differs for models of several classes or responses.
SEVERAL_OUTPUTS = _split_entries("""
coef_path_ : ndarray of shape (n_ks, n_features)
    Coefficients for each k; with an axis of classes or responses in the middle where `coef_` is a matrix.
coef_ : ndarray of shape (n_features,)
    Coefficients of all features; zero for those that are not selected. A matrix with one row for two classes, and one
    for each of several classes or responses.
intercept_ : float or ndarray
    The intercept, or one for each row of a matrix `coef_`; 0 without an intercept.
""")
#: What differs for models that cannot have an intercept.
NO_INTERCEPT = _split_entries("""
intercept_path_ : ndarray of shape (n_ks,)
    Zeros: the models have no intercept.
intercept_ : float
    0: the model has no intercept.
""")

EDGES = COMMON | _split_entries("""
k : int
    Number of edges, each an off-diagonal pair Ω_ij = Ω_ji. If there are no more pairs, all of them are used. Estimators
    whose names end with CV or IC choose k.
shrinkage : float
    s, at least 0 and below 1: how much covariances are shrunken towards 0 before edges are selected, while variances
    are kept. With few samples the likelihood of a graph overfits, and shrinkage helps.
shrinkages : "auto", float or sequence of float
    Values of the shrinkage s to try, on the same folds as k: how much covariances are shrunken towards 0 before edges
    are selected, at least 0 and below 1. "auto" takes 0 and eight values from 0.3 to 1.8 times 1/√n, which is about
    the standard error of a correlation; 0, 0.05, 0.15, 0.3 and 0.5 with ``shrink_by="factor"``. Where the covariance
    is singular it leaves out 0 and what is too small.
shrink_by : {"factor", "amount"}
    "factor" multiplies all covariances by 1 − s. "amount" moves each of them by at most s, as the graphical lasso with
    the penalty s does: better where there are many weak edges and few samples. The unit of s is then a correlation;
    with ``standardize=False``, the mean variance.
bounds : "auto", "paper", pair of floats, or None
    α and β, between which the eigenvalues of Ω must lie. "paper" takes α = 1/(‖Σ‖₂ + p·ξ) and β = (p − α·tr Σ)/ξ, see
    `ksparse.objectives.eigenvalue_bounds`; None has none. "auto" takes the paper's where the covariance is singular, as
    with fewer samples than variables, and none where it is not and the likelihood has a maximum on every graph. With
    `standardize` they apply to Ω of standardized variables; ``result_.message`` says if one binds.
xi : float
    ξ of the paper's bounds; the smaller, the larger β.
standardize : bool
    Whether to fit the correlation matrix, and to return Ω in the units of the data: the units of variables then do not
    matter. If False, the bounds apply to Ω itself; variables with small variance may then hit β.
known_edges : array-like of pairs, or mask of shape (n_features, n_features)
    Edges that are always selected: pairs of names (of a data frame) or of indices. They count in k.
forbidden_edges : array-like of pairs, or mask of shape (n_features, n_features)
    Edges that are never selected.
solver : {"auto", "grahtp", "grasp", "fbs", "glasso"} or Solver
    The method. "auto" is `ksparse.SwapGraHTP`: it grows the graph in stages and swaps edges; "grahtp" is GraHTP with
    scaled steps and backtracking. For the paper's Algorithm 2 to the letter pass
    ``GraHTP(step=..., debias=Exact("adm"))``. "glasso" is scikit-learn's graphical lasso with its penalty bisected.
scoring : str or callable
    Any scorer of scikit-learn, larger being better. By default the mean log-likelihood of the held-out samples; around
    the means of their classes, for a classifier.
criterion : {"aic", "bic", "ebic"}
    What is minimized over k: see `ksparse.selection.graph_criterion`.
path_ : PrecisionPath
    The precision matrices for all k, fitted to all samples; where shrinkages are chosen, with those chosen for each k.
grid_scores_ : ndarray of shape (n_shrinkages, n_ks, 1, n_folds)
    Score of every combination on each held-out fold.
shrinkages_ : ndarray of shape (n_shrinkages,)
    The shrinkages that were tried, increasing.
shrinkage_ : float
    The chosen one.
coef_ : ndarray of shape (1 or n_classes, n_features)
    Coefficients of the margins; one row for two classes.
intercept_ : ndarray of shape (1 or n_classes,)
    Their intercepts.
precision_ : ndarray of shape (n_features, n_features)
    Ω.
covariance_ : ndarray of shape (n_features, n_features)
    Ω⁻¹, the covariance of the model.
edges_ : structured array with the fields ``i``, ``j`` and ``partial_correlation``
    The edges, the strongest first: i and j are names of variables if X has names, otherwise indices, i < j.
    ``pandas.DataFrame(model.edges_)`` makes a table of it, and `ksparse.plots.GraphDisplay` a picture.
partial_correlation_ : ndarray of shape (n_features, n_features)
    The partial correlations −Ω_ij/√(Ω_ii·Ω_jj), with ones on the diagonal.
bounds_ : EigenvalueBounds
    The bounds α and β that were used.
""")

GRAPH_ATTRIBUTES = ["precision_", "covariance_", "partial_correlation_", "edges_", "bounds_"]
#: The fitted attributes of all estimators of a kind, and those that a parameter adds.
FITTED = {"features": ["coef_", "intercept_", "support_", "certificate_"], "edges": GRAPH_ATTRIBUTES}
ADDED = {
    "ks": ["ks_", "k_", "path_", "coef_path_", "intercept_path_"],
    "cv": ["scores_", "grid_scores_", "cv_results_", "compared_scores_", "choice_"],
    "alphas": ["alphas_", "refit_alphas_", "alpha_", "refit_alpha_"],
    "shrinkages": ["shrinkages_", "shrinkage_"],
    "criterion": ["criterion_"],
}
ALWAYS = ["n_iter_", "result_", "n_features_in_", "feature_names_in_"]


def document(cls: C) -> C:
    """Replace ``$fields`` in a class's docstring by the sections Parameters and Attributes."""
    unit = cls.unit_name
    texts = {"features": FEATURES, "edges": EDGES}[unit]
    parameters = signature(cls).parameters
    if unit == "features":
        texts = texts | (SEVERAL_OUTPUTS if cls.has_several_outputs else {})
        texts = texts | ({} if "fit_intercept" in parameters else NO_INTERCEPT)
    added = [name for parameter, names in ADDED.items() if parameter in parameters for name in names]
    attributes = [*(name for name in added if name in texts), *cls.more_attributes, *FITTED[unit], *ALWAYS]
    if not getattr(cls, "has_certificate", True):
        attributes.remove("certificate_")
    sections = {
        "Parameters": [_with_default(texts[name], parameter) for name, parameter in parameters.items()],
        "Attributes": [texts[name] for name in attributes],
    }
    fields = "\n\n".join("\n".join([title, "-" * len(title), *items]) for title, items in sections.items())
    cls.__doc__ = cleandoc(cls.__doc__ or "").replace("$fields", fields.replace("$units", unit))
    return cls


def _with_default(text: str, parameter: Parameter) -> str:
    """A description with the default at the end of its first line."""
    default: Any = parameter.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    head, *rest = text.split("\n")
    return "\n".join([f"{head}, optional" if default is None else f"{head}, default={shown}", *rest])
