"""What is known about a fitted model: its summary, intervals, near-equivalent features, and scores with intervals."""

from typing import TYPE_CHECKING

from .._lazy import import_when_used

if TYPE_CHECKING:
    from .baselines import BaselineComparison, compare_with_baseline
    from .censored import KaplanMeier, kaplan_meier
    from .concordance import concordance_index, concordance_interval
    from .repeated_cross_validation import CrossValidatedScores, repeat_cross_validation
    from .score_intervals import ScoreInterval, score_interval
    from .scorers import find_scorer
    from .summaries import Summary, orient, rename_features
    from .summarized import Summarized
    from .summarizing import summarize

__all__ = [
    "BaselineComparison",
    "CrossValidatedScores",
    "KaplanMeier",
    "ScoreInterval",
    "Summarized",
    "Summary",
    "compare_with_baseline",
    "concordance_index",
    "concordance_interval",
    "find_scorer",
    "kaplan_meier",
    "orient",
    "rename_features",
    "repeat_cross_validation",
    "score_interval",
    "summarize",
]

__getattr__ = import_when_used(
    __name__,
    {
        "BaselineComparison": ".baselines",
        "KaplanMeier": ".censored",
        "kaplan_meier": ".censored",
        "CrossValidatedScores": ".repeated_cross_validation",
        "ScoreInterval": ".score_intervals",
        "Summarized": ".summarized",
        "Summary": ".summaries",
        "compare_with_baseline": ".baselines",
        "concordance_index": ".concordance",
        "concordance_interval": ".concordance",
        "find_scorer": ".scorers",
        "orient": ".summaries",
        "rename_features": ".summaries",
        "repeat_cross_validation": ".repeated_cross_validation",
        "score_interval": ".score_intervals",
        "summarize": ".summarizing",
    },
)
