"""What linear models get from this package: the method `summary`, and a reference to the samples of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from .summaries import Summary

__all__ = ["Summarized"]

#: What refers to the samples, or depends on how a model was loaded.
NOT_KEPT = ("_samples", "_certificate", "picks_columns")


class Summarized:
    """A fitted linear model that can say what is known about it.

    It keeps a reference to the samples of the last fit, which is not a part of its state: it is not copied, pickled or
    saved.
    """

    #: What exp(coefficient) is called where it means something: a column of the summary.
    ratio_name: ClassVar[str] = ""
    #: What coefficients are; of two classes, before "of 'b' versus 'a'".
    effect_name: ClassVar[str] = "in units of the response per unit of the feature"

    intercept_: Any
    _samples: Any

    def __getstate__(self) -> Any:
        state = super().__getstate__()  # type: ignore[misc]
        return {name: value for name, value in state.items() if name not in NOT_KEPT}

    def describe_coefficients(self) -> str:
        """What the coefficients are, in words."""
        return f"coefficients are {self.effect_name}"

    def list_constants(self) -> dict[str, Any]:
        """What is added to Xw, by its name in tables: the intercepts of all outputs; nothing without them."""
        intercept = np.atleast_1d(self.intercept_)
        return {"(intercept)": intercept} if intercept.any() else {}

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        intervals: str | None = "bootstrap",
        level: float = 0.95,
        resamples: int = 100,
        repeat_choice: bool = False,
        replacements: int = 3,
        feature_names: Any = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> Summary:
        """What is known about the model: coefficients with intervals, and what each feature is worth.

        See `ksparse.inference.Summary` for the columns, and docs/inference.md for what intervals mean and do not mean.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            The features of the fit. A fitted model refers to them; one that was loaded, unpickled or copied does not.
        y : array-like, optional
            The response or the labels of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        offset : array-like of shape (n_samples,), optional
            The offset of the fit.
        intervals : {"bootstrap", "split", "naive"} or None, default="bootstrap"
            How the intervals are made. "bootstrap" repeats the whole selection on resamples. "split" selects on one
            half of the samples and estimates on the other. "naive" takes the features as if they had been fixed in
            advance, and its intervals are too short. None makes none, which takes no resamples.
        level : float, default=0.95
            The level of the intervals.
        resamples : int, default=100
            Number of bootstrap resamples, or of splits.
        repeat_choice : bool, default=False
            Whether models that choose k and ridges choose them again on each resample, rather than keep their choice.
        replacements : int, default=3
            Number of features outside the model to report for each selected one.
        feature_names : sequence of str, optional
            Names of the features; by default those seen in `fit`, otherwise x0, x1, …
        random_state : int, default=0
            Seed of the resamples.
        n_jobs : int, optional
            Number of resamples that are fitted in parallel, as in joblib.

        Returns
        -------
        Summary
            The tables; ``print`` it to read it.
        """
        from .summarizing import summarize_model
        from .uncertainty import Request

        request = Request(intervals, level, resamples, repeat_choice, replacements, random_state, n_jobs)
        return summarize_model(self, X, y, sample_weight, offset, feature_names, request)
