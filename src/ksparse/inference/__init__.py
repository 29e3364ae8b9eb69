"""What is known about a fitted model: its summary, intervals, near-equivalent features, and scores with intervals."""

from .baselines import BaselineComparison, compare_with_baseline
from .repeated_cross_validation import CrossValidatedScores, repeat_cross_validation
from .score_intervals import ScoreInterval, score_interval
from .summaries import Summary
from .summarized import Summarized
from .summarizing import summarize

__all__ = [
    "BaselineComparison",
    "CrossValidatedScores",
    "ScoreInterval",
    "Summarized",
    "Summary",
    "compare_with_baseline",
    "repeat_cross_validation",
    "score_interval",
    "summarize",
]
