"""All experiments, in the order of the paper."""

from __future__ import annotations

from .base import Experiment
from .breast_cancer import BreastCancer
from .compressed_sensing import CompressedSensing
from .heatmaps import Heatmaps
from .logistic import LogisticK, LogisticN
from .precision import Precision
from .rcv1 import Rcv1
from .theory_checks import TheoryChecks

__all__ = ["EXPERIMENTS", "experiment_named"]

EXPERIMENTS: tuple[Experiment, ...] = (
    LogisticN(),
    LogisticK(),
    Rcv1(),
    Precision(),
    Heatmaps(),
    BreastCancer(),
    CompressedSensing(),
    TheoryChecks(),
)


def experiment_named(name: str) -> Experiment:
    """The experiment of a name."""
    return next(experiment for experiment in EXPERIMENTS if experiment.name == name)
