"""What is known about a fitted model: its summary, intervals, near-equivalent features, and scores with intervals."""

from .summaries import Summary
from .summarized import Summarized
from .summarizing import summarize

__all__ = ["Summarized", "Summary", "summarize"]
