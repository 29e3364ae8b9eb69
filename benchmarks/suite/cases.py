"""The cases: data, methods, and how long a fit may take."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ksparse.datasets.real import REAL_DATA

from . import data
from .tasks import Instance

__all__ = ["CASES", "COMPILING", "Case", "Variant", "available", "quick"]

#: skscope, with the objective compiled before the run; and as its users run it.
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
GLASSO = tuple(
    f"graphical lasso ({package})" for package in ("scikit-learn", "scikit-learn, tuned", "skglm", "gglasso")
)
#: Who takes part in a quick run: one of each package.
QUICK = {
    "ksparse",
    "ksparse graph",
    "ksparse path",
    "skscope Scope",
    "abess",
    "L1 (liblinear)",
    "L1 (LARS)",
    *GLASSO[:2],
}


@dataclass(frozen=True)
class Variant:
    """One size or kind of data.

    Attributes
    ----------
    name : str
        What tables call it.
    make : callable
        An instance for a seed.
    methods : tuple of str
        Who runs on it, ourselves first.
    family : str
        Variants of one family grow: who has run out of time on one is not tried on those after it. Empty: no other.
    """

    name: str
    make: Callable[[int], Instance]
    methods: tuple[str, ...]
    family: str = ""


@dataclass(frozen=True)
class Case:
    """Data of one kind, in several variants.

    Attributes
    ----------
    name, title : str
        Of its file, and of its section in the report.
    text : str
        What the data are.
    variants : tuple of Variant
        Sizes and kinds.
    patience : float
        Seconds after which a fit is given up.
    real : bool
        Whether it needs the folder that KSPARSE_DATA names.
    """

    name: str
    title: str
    text: str
    variants: tuple[Variant, ...]
    patience: float = 60.0
    real: bool = False


def _paper(n: int, p: int = 1000, k: int = 100) -> Variant:
    methods = ("ksparse", "ksparse, effort 1", *SKSCOPE, *COMPILING, *ABESS, *L1)
    return Variant(f"n = {n}", partial(data.paper, n, p, k), methods)


def _glm(kind: str, n: int, p: int, k: int) -> Variant:
    methods = ("ksparse", *(LINEAR if kind == "linear" else LOGISTIC))
    return Variant(f"{kind}, n = {n}, p = {p}, k = {k}", partial(data.glm, kind, n, p, k), methods)


def _correlated(kind: str, n: int = 800, p: int = 1000, k: int = 25) -> Variant:
    methods = ("ksparse", "ksparse, effort 1", *(LINEAR if kind == "linear" else LOGISTIC), *SKSCOPE[:4])
    name = f"{kind}, n = {n}, p = {p}, k = {k}, ρ = 0.9"
    return Variant(name, partial(data.high_correlation, kind, n, p, k), methods)


def _wide(n: int = 2000, p: int = 20000, k: int = 50) -> Variant:
    name = f"logistic, n = {n}, p = {p}, k = {k}, ρ = 0.5"
    return Variant(name, partial(data.paper, n, p, k), ("ksparse", *LOGISTIC, *SKSCOPE[1:4]))


def _text(name: str, k: int) -> Variant:
    return Variant(f"{name}, k = {k}", partial(data.text, name, k), ("ksparse", *L1, "abess"), name)


def _graph(n: int, p: int) -> Variant:
    return Variant(f"p = {p}, n = {n}", partial(data.graph, n, p), ("ksparse graph", *GLASSO))


def _weak_graph(n: int, p: int) -> Variant:
    make = partial(data.graph, n, p, condition=10.0)
    return Variant(f"p = {p}, n = {n}", make, ("ksparse graph", GLASSO[1]))


def _path(name: str, make: Callable[[int], Instance], largest: int) -> Variant:
    ks = tuple(int(k) for k in np.linspace(largest / 50, largest, 50).round())
    return Variant(name, partial(_on_path, make, ks), ("ksparse path", "ksparse", "abess"))


def _on_path(make: Callable[[int], Instance], ks: tuple[int, ...], seed: int) -> Instance:
    return data.on_path(make(seed), ks)


CASES: tuple[Case, ...] = (
    Case(
        "paper_logistic",
        "The paper's logistic simulation",
        "p = 1000 features with correlation ½ between neighbours, k = 100, alpha = 1e-4.",
        (_paper(500), _paper(1000), _paper(2000)),
    ),
    Case(
        "glm_sizes",
        "Linear and logistic models of three sizes",
        "Independent features, coefficients as abess's generator of GLM data draws them; alpha = 1e-4 if logistic.",
        tuple(
            _glm(kind, *size)
            for kind in ("linear", "logistic")
            for size in ((500, 1000, 10), (2500, 5000, 50), (5000, 10000, 100))
        ),
    ),
    Case(
        "correlated",
        "Correlated features",
        "fastSparse's setting, with correlations 0.9^|i−j| and labels without noise, and its linear sister; and the"
        " paper's logistic simulation with p = 20000. skscope's Scope needs memory of order p², and is left out there.",
        (_correlated("logistic"), _correlated("linear"), _wide()),
    ),
    Case(
        "sparse_text",
        "Sparse texts",
        "Three quarters of 23,727 texts of rcv1 with 47,236 terms, and of 11,305 of Reuters-21578 with 16,698 terms;"
        " the others are predicted. alpha = 1e-5.",
        (_text("rcv1", 200), _text("rcv1", 1000), _text("reuters", 200), _text("reuters", 1000)),
        patience=120.0,
        real=True,
    ),
    Case(
        "precision",
        "Precision matrices",
        "The paper's random graphs with three neighbours on average; k is the true number of edges. The penalty of each"
        " graphical lasso was searched beforehand, untimed, so that it has about k edges.",
        tuple(_graph(n, p) for p in (200, 500, 1000) for n in (2 * p, p // 2)),
    ),
    Case(
        "weak_edges",
        "Weak edges and few samples",
        "The same with p = 200 and a condition number of 10; shrinkage helps when samples are few. No targets.",
        tuple(_weak_graph(n, 200) for n in (800, 400, 200, 100, 50)),
    ),
    Case(
        "paths",
        "Whole paths",
        "Models with 50 values of k, beside one model with the largest of them.",
        (
            _path("linear, n = 1000, p = 2000, k ≤ 100", partial(data.glm, "linear", 1000, 2000, 50), 100),
            _path("logistic, n = 1000, p = 1000, k ≤ 100", partial(data.paper, 1000, 1000, 100), 100),
        ),
    ),
)


def quick(case: Case) -> Case:
    """A small stand-in of a case, to see that everything runs."""
    variants = {
        "paper_logistic": (_paper(200, 100, 10),),
        "glm_sizes": (_glm("linear", 200, 300, 5), _glm("logistic", 200, 300, 5)),
        "correlated": (_correlated("logistic", 200, 200, 5),),
        "sparse_text": (_text("reuters", 20),),
        "precision": (_graph(60, 30),),
        "weak_edges": (_weak_graph(60, 30),),
        "paths": (_path("linear, n = 200, p = 100, k ≤ 50", partial(data.glm, "linear", 200, 100, 20), 50),),
    }[case.name]
    few = tuple(
        replace(variant, methods=tuple(name for name in variant.methods if name in QUICK)) for variant in variants
    )
    return replace(case, variants=few, patience=20.0)


def available(case: Case) -> bool:
    """Whether the data of a case are at hand."""
    folder = os.environ.get("KSPARSE_DATA", "")
    return not case.real or (
        bool(folder) and all(Path(folder, REAL_DATA[name]).exists() for name in ("rcv1", "reuters"))
    )
