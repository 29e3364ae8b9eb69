"""A model of data in blocks, with all that the command tells about it from some of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sklearn.preprocessing import StandardScaler

from ..._types import Array
from ...inference import Summary
from ..encoded_model import EncodedModel
from ..fitted_model import FittedModel

__all__ = ["StoredModel"]


#: How a note begins on models without their samples: those of blocks never have them, and other lines say so.
OF_SAVED_MODELS = "the samples of the fit"


@dataclass(frozen=True)
class StoredModel(FittedModel):
    """A fitted model, whose data here are the held-out rows and a sample of the others.

    Attributes
    ----------
    counts : tuple of int
        All rows, those that were trained on, and those held out.
    labels : mapping
        Rows of each class.
    moments : tuple of ndarray
        Means and standard deviations of the features in all rows of the final model.
    chooser : estimator, optional
        What chose k and ridges on some of the training rows, if not on all of them.
    """

    counts: tuple[int, int, int] = (0, 0, 0)
    labels: Mapping[Any, int] | None = None
    moments: tuple[Array, Array] | None = None
    chooser: Any = None

    @property
    def row_count(self) -> int:
        return self.counts[0]

    @property
    def training_count(self) -> int:
        return self.counts[1]

    @property
    def class_counts(self) -> Mapping[Any, int]:
        return self.labels or {}

    @property
    def is_sampled(self) -> bool:
        return len(self.y) < self.counts[0]

    @property
    def scaler(self) -> StandardScaler:
        assert self.moments is not None
        known = StandardScaler(with_mean=False)
        known.mean_, known.scale_ = self.moments
        return known

    @property
    def chosen(self) -> Any:
        return self.training.estimator if self.chooser is None else self.chooser

    @property
    def resamples(self) -> int:
        return 0

    @cached_property
    def numbered_summary(self) -> Summary:
        found = self.model.summary(intervals=None, feature_names=range(self.model.n_features_in_))
        return replace(found, notes=tuple(note for note in found.notes if not note.startswith(OF_SAVED_MODELS)))

    @property
    def shown_ks(self) -> list[int]:
        """The k whose models the report has: those of other k are not fitted to all rows, and have features alike."""
        same = self.training.encoder is None or self.final.encoder is None
        alike = same or list(self.training.columns) == list(self.final.columns)
        return super().shown_ks if alike else [self.k]

    def find_models(self, k: int) -> tuple[EncodedModel, EncodedModel]:
        if k == self.k:
            return self.training, self.final
        judged = EncodedModel(self.training.encoder, self.chosen.at(k))
        return judged, judged
