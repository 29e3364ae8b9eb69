"""All experiments, in the order of the paper."""

from __future__ import annotations

from .base import Experiment
from .breast_cancer import BreastCancer
from .heatmaps import Heatmaps
from .logistic import LogisticK, LogisticN
from .precision import Precision

__all__ = ["EXPERIMENTS", "experiment_named"]

EXPERIMENTS: tuple[Experiment, ...] = (LogisticN(), LogisticK(), Precision(), Heatmaps(), BreastCancer())


def experiment_named(name: str) -> Experiment:
    """The experiment of a name."""
    return next(experiment for experiment in EXPERIMENTS if experiment.name == name)
