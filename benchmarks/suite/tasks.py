"""The input of the methods, which is passed to other processes as files, and what only the evaluator has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Instance", "Task"]


@dataclass(frozen=True)
class Task:
    """The input of a method: the data, the number of features or edges, and the ridge.

    Attributes
    ----------
    kind : {"linear", "logistic", "graph", "cox", "poisson", "gamma", "multinomial", "ordinal"}
        The loss: ½·(y − margin)², log(1 + exp(−y·margin)) with labels ±1, −log det Ω + ⟨Σ, Ω⟩, or one of `FAMILIES`.
    X : ndarray or sparse array
        Features; for a graph, the correlation matrix of the variables.
    y : ndarray or None
        Response or labels; times and events in two columns; None for a graph.
    k : int
        Number of features or edges to select.
    alpha : float
        Ridge: f is the mean loss + (alpha/2)·‖w‖², without intercept; those of `FAMILIES` have one.
    ks : tuple of int
        Numbers of features on a path, the last of which is k; empty for a single model.
    penalty : float or None
        For a graph, a penalty at which the graphical lasso has about k edges.
    """

    kind: str
    X: Any
    y: Any
    k: int
    alpha: float = 0.0
    ks: tuple[int, ...] = ()
    penalty: float | None = None

    def save(self, folder: Path) -> None:
        """Write the task into a new folder."""
        folder.mkdir(parents=True)
        if sparse.issparse(self.X):
            sparse.save_npz(folder / "X.npz", self.X, compressed=False)
        else:
            np.save(folder / "X.npy", self.X)
        y = np.empty(0) if self.y is None else self.y
        penalty = np.nan if self.penalty is None else self.penalty
        np.savez(folder / "rest.npz", y=y, kind=self.kind, k=self.k, alpha=self.alpha, ks=self.ks, penalty=penalty)

    @classmethod
    def load(cls, folder: Path) -> Task:
        """Read a task that `save` has written."""
        dense = folder / "X.npy"
        X = np.load(dense) if dense.exists() else sparse.csr_array(sparse.load_npz(folder / "X.npz"))
        with np.load(folder / "rest.npz") as rest:
            y, penalty = rest["y"], float(rest["penalty"])
            return cls(
                kind=str(rest["kind"]),
                X=X,
                y=y if y.size else None,
                k=int(rest["k"]),
                alpha=float(rest["alpha"]),
                ks=tuple(int(k) for k in rest["ks"]),
                penalty=None if np.isnan(penalty) else penalty,
            )


@dataclass(frozen=True)
class Instance:
    """A task, and what is hidden from the methods: the truth and the test data.

    Attributes
    ----------
    task : Task
        The input of the methods.
    truth : ndarray or None
        Indices of the relevant features, or the true precision matrix; None for real data.
    X_test, y_test : array or None
        Test data: simulated anew, or held out.
    scale : ndarray or None
        For a graph, the outer product of the standard deviations of the variables.
    """

    task: Task
    truth: Any = None
    X_test: Any = None
    y_test: Any = None
    scale: Any = None
