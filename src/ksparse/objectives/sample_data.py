"""The samples of a model of margins: how many they are, and their data in memory, for what works on those."""

from __future__ import annotations

from typing import NamedTuple

from .._types import Array, Mask
from ..weights import count_weighted_samples
from .loss import AnyLoss, BoundLoss, JointLoss, Loss, SampleMargins
from .margin_form import MarginForm
from .terms import JointTerms
from .trial_points import TrialPoints

__all__ = ["HasSamples", "SampleData"]


class SampleData(NamedTuple):
    """A loss of samples with one output each, and its data in memory."""

    loss: AnyLoss
    #: Some columns of X.
    columns: Array
    #: y as the loss wants it.
    target: Array
    #: Sample weights that sum to 1.
    weights: Array
    #: Known part of the margins.
    offset: Array | None
    #: The loss of the samples together; None if it is a sum over them.
    bound: BoundLoss | None


class HasSamples(TrialPoints):
    """A loss of the margins of some columns that tells what its samples are."""

    loss: AnyLoss
    alpha: float
    #: The entries of the coefficient matrix that are there; None for all.
    _pattern: Mask | None
    #: Shape of the margins of one sample.
    _outputs: tuple[int, ...]

    @property
    def total_weight(self) -> float:
        """Sum of the sample weights as given; the number of samples without any."""
        return self._terms.samples.total_weight

    @property
    def effective_samples(self) -> float:
        """How many samples the sample weights stand for; weights times a constant stand for the same number."""
        return count_weighted_samples(self._design.collect_rows(self._terms.samples.weights))

    @property
    def n_samples(self) -> int:
        """Number of samples, whatever their weights."""
        return self._design.shape[0]

    @property
    def has_offset(self) -> bool:
        """Whether a part of the margins is known."""
        return self._terms.samples.offset is not None

    @property
    def is_sum_over_samples(self) -> bool:
        """Whether the loss is a sum over samples that all count, with one output each."""
        return isinstance(self.loss, Loss) and self._has_single_margins

    @property
    def _has_single_margins(self) -> bool:
        """Whether samples have one output each, and all of them count."""
        return not self._outputs and self._pattern is None and not self._terms.samples.has_zero_weights

    def collect_samples(self) -> SampleData | None:
        """The columns and what belongs to the rows; None for several outputs, zero weights, or samples elsewhere."""
        if not (self._has_single_margins and self._design.is_local):
            return None
        samples, collect = self._terms.samples, self._design.collect_rows
        offset = None if samples.offset is None else collect(samples.offset)
        target, weights = collect(samples.target), collect(samples.weights)
        return SampleData(self.loss, self._block.collect(), target, weights, offset, self.bound_loss)

    def collect_margins(self, x: Array) -> SampleMargins:
        """The margins of the samples at x, their target and their weights as given."""
        samples, collect = self._terms.samples, self._design.collect_rows
        margins, weights = collect(self.evaluate(x).state), samples.total_weight * collect(samples.weights)
        return SampleMargins(margins, collect(samples.target), weights)

    def margin_form(self) -> MarginForm | None:
        """The model as its data; None unless the loss is a sum over samples and all coefficients are there."""
        if self._pattern is not None or not isinstance(self.loss, Loss) or not self._design.is_local:
            return None
        return MarginForm(self.loss, self._design, self._block, self._terms.samples, self.alpha, self.fit_intercept)

    def find_nuisance(self, x: Array) -> Array | None:
        """Parameters of the loss besides x, such as thresholds, at the values that f takes; None without any."""
        has_nuisance = isinstance(self.loss, JointLoss) and self.loss.has_nuisance
        return self._terms.find_nuisance(self.evaluate(x).state) if has_nuisance else None

    @property
    def bound_loss(self) -> BoundLoss | None:
        """The loss of the samples together; None if it is a sum over them."""
        return self._terms.bound if isinstance(self._terms, JointTerms) else None

    def gram(self) -> Array:
        """XᵀSX of the columns, S being the sample weights, which sum to 1."""
        return self._block.gram(self._terms.samples.weights)

    def know_products(self) -> None:
        """Compute the products of all columns now, which the Hessian of every support is then taken from."""
        self._design.know_products(self._terms.samples.weights)

    def column_squares(self) -> Array:
        """The diagonal of `gram`."""
        return self._block.squares(self._terms.samples.weights)
