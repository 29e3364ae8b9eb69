"""The paper's experiments again: `ksparse reproduce`."""

from .base import Experiment, Picture, Settings, Task, TextTable
from .claims import Claim, Verdict
from .registry import EXPERIMENTS, experiment_named
from .tables import Table

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Experiment",
    "Picture",
    "Settings",
    "Table",
    "Task",
    "TextTable",
    "Verdict",
    "experiment_named",
]
