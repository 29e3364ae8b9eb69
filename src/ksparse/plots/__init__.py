"""Pictures of models with k features, as scikit-learn's displays. They need matplotlib: pip install ksparse[plots]."""

from .coefficients import CoefficientPathDisplay
from .convergence import ConvergenceDisplay
from .frequencies import SelectionFrequencyDisplay
from .graph import GraphDisplay
from .scores import ScorePathDisplay
from .support import SupportDisplay

__all__ = [
    "CoefficientPathDisplay",
    "ConvergenceDisplay",
    "GraphDisplay",
    "ScorePathDisplay",
    "SelectionFrequencyDisplay",
    "SupportDisplay",
]
