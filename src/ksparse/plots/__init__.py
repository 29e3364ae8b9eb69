"""Plots of sparse models as scikit-learn displays, drawn with matplotlib, which is imported when something is drawn."""

from .convergence import ConvergenceDisplay
from .frequencies import SelectionFrequencyDisplay
from .graph import GraphDisplay
from .intervals import CoefficientIntervalDisplay
from .path_displays import CoefficientPathDisplay, ScorePathDisplay
from .support import SupportDisplay
from .survival_curves import SurvivalCurveDisplay

__all__ = [
    "CoefficientIntervalDisplay",
    "CoefficientPathDisplay",
    "ConvergenceDisplay",
    "GraphDisplay",
    "ScorePathDisplay",
    "SelectionFrequencyDisplay",
    "SupportDisplay",
    "SurvivalCurveDisplay",
]
