"""Pictures of models with k features, as scikit-learn's displays. They need matplotlib: pip install ksparse[plots]."""

from .coefficients import CoefficientPathDisplay
from .convergence import ConvergenceDisplay
from .frequencies import SelectionFrequencyDisplay
from .scores import ScorePathDisplay

__all__ = ["CoefficientPathDisplay", "ConvergenceDisplay", "ScorePathDisplay", "SelectionFrequencyDisplay"]
