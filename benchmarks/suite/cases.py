"""The cases: data, methods and time limits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ksparse.datasets.real import REAL_DATA

from . import data, family_data
from .tasks import Instance

__all__ = ["CASES", "COMPILING", "Case", "Variant", "is_available", "make_quick"]

#: skscope with the objective compiled before the timed run, and with compilation in it, as its users run it.
SKSCOPE = ("skscope Scope", "skscope OMP", "skscope FoBa", "skscope GraSP", "skscope HTP", "skscope IHT")
COMPILING = tuple(f"{name}, compiling" for name in SKSCOPE[:4])
ABESS = ("abess", "abess, wide search")
L1 = ("L1 (liblinear)", "L1 (skglm)")
FASTSPARSE = ("fastsparsegams", "fastsparsegams, swaps")
LINEAR = (
    *ABESS,
    "L1 (LARS)",
    "L1 (skglm)",
    "MCP (skglm)",
    "OMP (scikit-learn)",
    "fastsparsegams L0",
    "fastsparsegams L0, swaps",
)
LOGISTIC = (*ABESS, *L1, *FASTSPARSE)
COXNET = ("Coxnet", "Coxnet, not refitted", "Coxnet, default path")
GLASSO = tuple(
    f"graphical lasso ({package})" for package in ("scikit-learn", "scikit-learn, tuned", "skglm", "gglasso")
)
#: Survival and generalized linear models as tables call them.
FAMILY_NAMES = {
    "cox": "Cox",
    "poisson": "Poisson",
    "gamma": "gamma",
    "multinomial": "multinomial, 3 classes",
    "ordinal": "ordinal, 4 classes",
}
#: Survival tables, and the number of features of their models.
SURVIVAL_SIZES = {
    "veteran": 3,
    "rossi": 3,
    "pbc": 6,
    "gbsg2": 4,
    "whas500": 5,
    "aids": 5,
    "flchain": 6,
    "breast_cancer": 5,
}
#: Methods of a quick run: one of each package.
QUICK_METHODS = {
    "ksparse",
    "ksparse graph",
    "ksparse path",
    "skscope Scope",
    "abess",
    "L1 (liblinear)",
    "L1 (LARS)",
    "Coxnet",
    *GLASSO[:2],
}


@dataclass(frozen=True)
class Variant:
    """Data of one size and kind.

    Attributes
    ----------
    name : str
        Name in tables and results.
    make : callable
        Maps a seed to an instance.
    methods : tuple of str
        Names of the methods to run, the reference method of ksparse first.
    family : str
        Variants of one family are ordered by size: a method that exceeds the time limit on one is not run on the later
        ones. Empty if the variant has no family.
    """

    name: str
    make: Callable[[int], Instance]
    methods: tuple[str, ...]
    family: str = ""


@dataclass(frozen=True)
class Case:
    """A benchmark in several variants.

    Attributes
    ----------
    name, title : str
        Name of its results file, and title of its section in the report.
    text : str
        Description of the data.
    variants : tuple of Variant
        The variants.
    time_limit : float
        Seconds after which a fit is stopped.
    needs_real_data : bool
        Whether it needs the data folder given by KSPARSE_DATA.
    one_thread : bool
        Whether it is measured on one thread only.
    n_seeds : int
        How many data sets of each variant, or splits of a table, are drawn.
    compares_test_errors : bool
        Whether differences of test errors are averaged over the variants.
    """

    name: str
    title: str
    text: str
    variants: tuple[Variant, ...]
    time_limit: float = 60.0
    needs_real_data: bool = False
    one_thread: bool = False
    n_seeds: int = 5
    compares_test_errors: bool = False


def _make_paper_variant(n: int, p: int = 1000, k: int = 100) -> Variant:
    methods = ("ksparse", "ksparse, effort 1", *SKSCOPE, *COMPILING, *ABESS, *L1)
    return Variant(f"n = {n}", partial(data.simulate_paper, n, p, k), methods)


def _make_glm_variant(kind: str, n: int, p: int, k: int) -> Variant:
    methods = ("ksparse", *(LINEAR if kind == "linear" else LOGISTIC))
    return Variant(f"{kind}, n = {n}, p = {p}, k = {k}", partial(data.simulate_glm, kind, n, p, k), methods)


def _make_correlated_variant(kind: str, n: int = 800, p: int = 1000, k: int = 25) -> Variant:
    methods = ("ksparse", "ksparse, effort 1", *(LINEAR if kind == "linear" else LOGISTIC), *SKSCOPE[:4])
    name = f"{kind}, n = {n}, p = {p}, k = {k}, ρ = 0.9"
    return Variant(name, partial(data.simulate_correlated, kind, n, p, k), methods)


def _make_wide_variant(n: int = 2000, p: int = 20000, k: int = 50) -> Variant:
    name = f"logistic, n = {n}, p = {p}, k = {k}, ρ = 0.5"
    return Variant(name, partial(data.simulate_paper, n, p, k), ("ksparse", *LOGISTIC, *SKSCOPE[1:4]))


def _make_text_variant(name: str, k: int) -> Variant:
    return Variant(f"{name}, k = {k}", partial(data.split_texts, name, k), ("ksparse", *L1, "abess"), name)


def _make_family_variant(kind: str, n: int, p: int, k: int, correlation: float) -> Variant:
    name = f"{FAMILY_NAMES[kind]}, n = {n}, p = {p}, k = {k}, ρ = {correlation:g}"
    make = partial(family_data.simulate_family, kind, n, p, k, correlation)
    return Variant(name, make, ("ksparse", *ABESS, *(COXNET if kind == "cox" else ())))


def _make_inverse_gamma_variant(n: int, p: int, k: int) -> Variant:
    make = partial(family_data.simulate_inverse_gamma, n, p, k)
    return Variant(f"gamma with abess's link, n = {n}, p = {p}, k = {k}", make, ("ksparse", *ABESS))


def _make_survival_variant(name: str, k: int, products: bool = False) -> Variant:
    make = partial(family_data.split_survival, name, k, products)
    # With at most 128 features, abess's search is wide already.
    abess = ABESS if products else ABESS[:1]
    methods = ("ksparse", "ksparse, ridge by CV", *abess, *COXNET, "Coxnet, penalty by CV")
    return Variant(f"{name}{', products' * products}, k = {k}", make, methods, name)


def _make_graph_variant(n: int, p: int) -> Variant:
    return Variant(f"p = {p}, n = {n}", partial(data.simulate_graph, n, p), ("ksparse graph", *GLASSO))


def _make_weak_graph_variant(n: int, p: int) -> Variant:
    make = partial(data.simulate_graph, n, p, condition=10.0)
    return Variant(f"p = {p}, n = {n}", make, ("ksparse graph", GLASSO[1]))


def _make_path_variant(name: str, make: Callable[[int], Instance], largest: int) -> Variant:
    ks = tuple(int(k) for k in np.linspace(largest / 50, largest, 50).round())
    return Variant(name, partial(_make_path, make, ks), ("ksparse path", "ksparse", "abess"))


def _make_path(make: Callable[[int], Instance], ks: tuple[int, ...], seed: int) -> Instance:
    return data.set_path(make(seed), ks)


CASES: tuple[Case, ...] = (
    Case(
        "paper_logistic",
        "The paper's logistic simulation",
        "p = 1000 features, correlation ½ between neighbouring features, k = 100, alpha = 1e-4.",
        (_make_paper_variant(500), _make_paper_variant(1000), _make_paper_variant(2000)),
    ),
    Case(
        "glm_sizes",
        "Linear and logistic models of three sizes",
        "Independent features, coefficients as from abess's generator of GLM data; alpha = 1e-4 for logistic models.",
        tuple(
            _make_glm_variant(kind, *size)
            for kind in ("linear", "logistic")
            for size in ((500, 1000, 10), (2500, 5000, 50), (5000, 10000, 100))
        ),
    ),
    Case(
        "correlated",
        "Correlated features",
        "fastSparse's simulation with correlations 0.9^|i−j| and labels without noise, its linear analogue, and the"
        " paper's logistic simulation with p = 20000. skscope's Scope, which needs O(p²) memory, is omitted from the"
        " latter.",
        (_make_correlated_variant("logistic"), _make_correlated_variant("linear"), _make_wide_variant()),
    ),
    Case(
        "families",
        "Survival and generalized linear models",
        "Features with correlations ρ^|i−j| and k coefficients of random place, size and sign; a third of the times of"
        " Cox's model are censored. All models but Cox's have intercepts, and there is no ridge. The test error of"
        " Poisson and gamma models is the fraction of the deviance that is not explained, that of Cox's model is"
        " 1 − the concordance index. abess's gamma model has the link −1/μ and ksparse's the logarithm, by which the"
        " evaluator refits the features of both: with a logarithmic link, abess fits another model than the true one."
        " The last variant has data from abess's generator, where ksparse does.",
        (
            *(
                _make_family_variant(kind, *size)
                for kind in FAMILY_NAMES
                for size in ((500, 1000, 10, 0.5), (1000, 2000, 20, 0.9), (2000, 5000, 20, 0.5))
            ),
            _make_inverse_gamma_variant(1000, 1000, 10),
        ),
        time_limit=10.0,
        one_thread=True,
    ),
    Case(
        "survival",
        "Survival tables",
        "Cox's model with Breslow's ties. 20 splits: 70 % of the rows for training, the others for testing; categories"
        " as columns of zeros and ones, all features standardized. With *products*, the features are the columns, their"
        " squares and the products of any two. All methods have the same number of features. The test error is 1 − the"
        " concordance index. The summary has the mean difference of the concordance index from that of the peer whose"
        " mean is highest, with its standard error: that over splits, times √(1 + 20·0.3/0.7), since the splits share"
        " rows (C. Nadeau and Y. Bengio, *Inference for the generalization error*, Machine Learning 52, 2003)."
        " veteran (137 rows), rossi (432),"
        " pbc (418) and gbsg2 (686) are tables of the data folder; whas500 (500), aids (1,151), flchain (7,871; without"
        " the cause of death) and breast_cancer (198 rows, 78 genes) come with scikit-survival. breast_cancer with"
        " products is from an earlier run.",
        (
            *(_make_survival_variant(name, k) for name, k in SURVIVAL_SIZES.items()),
            *(
                _make_survival_variant(name, k, products=True)
                for name, k in SURVIVAL_SIZES.items()
                if name not in ("veteran", "rossi")
            ),
        ),
        time_limit=10.0,
        needs_real_data=True,
        one_thread=True,
        n_seeds=20,
        compares_test_errors=True,
    ),
    Case(
        "sparse_text",
        "Sparse text data",
        "rcv1 (23,727 texts, 47,236 terms) and Reuters-21578 (11,305 texts, 16,698 terms): three quarters of the texts"
        " for training, the others for testing. alpha = 1e-5.",
        (
            _make_text_variant("rcv1", 200),
            _make_text_variant("rcv1", 1000),
            _make_text_variant("reuters", 200),
            _make_text_variant("reuters", 1000),
        ),
        time_limit=120.0,
        needs_real_data=True,
    ),
    Case(
        "precision",
        "Precision matrices",
        "The paper's random graphs with three neighbours on average; k is the true number of edges. The penalty at"
        " which the graphical lasso has about k edges is found beforehand and not timed.",
        tuple(_make_graph_variant(n, p) for p in (200, 500, 1000) for n in (2 * p, p // 2)),
    ),
    Case(
        "weak_edges",
        "Weak edges and few samples",
        "The same with p = 200 and condition number 10; with few samples, shrinkage helps. No targets.",
        tuple(_make_weak_graph_variant(n, 200) for n in (800, 400, 200, 100, 50)),
    ),
    Case(
        "paths",
        "Sparsity paths",
        "Models for 50 values of k, compared with a single model for the largest k.",
        (
            _make_path_variant(
                "linear, n = 1000, p = 2000, k ≤ 100", partial(data.simulate_glm, "linear", 1000, 2000, 50), 100
            ),
            _make_path_variant(
                "logistic, n = 1000, p = 1000, k ≤ 100", partial(data.simulate_paper, 1000, 1000, 100), 100
            ),
        ),
    ),
)


def make_quick(case: Case) -> Case:
    """Return a small version of a case, which checks that everything runs."""
    variants = {
        "paper_logistic": (_make_paper_variant(200, 100, 10),),
        "glm_sizes": (_make_glm_variant("linear", 200, 300, 5), _make_glm_variant("logistic", 200, 300, 5)),
        "correlated": (_make_correlated_variant("logistic", 200, 200, 5),),
        "families": tuple(_make_family_variant(kind, 200, 100, 5, 0.5) for kind in FAMILY_NAMES),
        "survival": (_make_survival_variant("gbsg2", 3),),
        "sparse_text": (_make_text_variant("reuters", 20),),
        "precision": (_make_graph_variant(60, 30),),
        "weak_edges": (_make_weak_graph_variant(60, 30),),
        "paths": (
            _make_path_variant(
                "linear, n = 200, p = 100, k ≤ 50", partial(data.simulate_glm, "linear", 200, 100, 20), 50
            ),
        ),
    }[case.name]
    few = tuple(
        replace(variant, methods=tuple(name for name in variant.methods if name in QUICK_METHODS))
        for variant in variants
    )
    return replace(case, variants=few, time_limit=20.0)


def is_available(case: Case) -> bool:
    """Return whether the data of a case can be loaded."""
    if not case.needs_real_data:
        return True
    folder = os.environ.get("KSPARSE_DATA", "")
    files = ["tables"] if case.name == "survival" else [REAL_DATA[name] for name in ("rcv1", "reuters")]
    return bool(folder) and all(Path(folder, file).exists() for file in files)
