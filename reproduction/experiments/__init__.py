"""All experiments, in the order of the paper."""

from ..base import Experiment
from .breast_cancer import BreastCancer
from .compressed_sensing import CompressedSensing
from .heatmaps import Heatmaps
from .logistic import LogisticK, LogisticN
from .precision import Precision
from .rcv1 import Rcv1
from .theory import TheoryChecks

__all__ = ["EXPERIMENTS"]

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
