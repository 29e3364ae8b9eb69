"""A loss bound to the samples of a design: sums, slopes and Hessians of the margins, for both kinds of losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._types import Array, IntArray
from ..designs import ColumnBlock, Design, RowVector
from .loss import AnyLoss, BoundLoss, JointLoss, Loss
from .row_functions import HessianEntries, RowFunctions, average_target, sum_over_rows

__all__ = ["JointTerms", "PointwiseTerms", "RowData", "Terms", "bind_loss"]


class RowData(NamedTuple):
    """What belongs to the rows of a design, as its row vectors."""

    #: y as the loss wants it.
    target: RowVector
    #: Sample weights that sum to 1.
    weights: RowVector
    #: Known part of the margins.
    offset: RowVector | None
    #: Whether some samples do not count.
    has_zero_weights: bool
    #: The sum of the sample weights as given; the number of samples without any.
    total_weight: float
    #: Shape of the margins of one sample: () for one output, (q,) for q of them.
    output_shape: tuple[int, ...]


@dataclass(frozen=True)
class Terms(ABC):
    """A loss of the margins of some samples."""

    loss: Any
    rows: Design
    samples: RowData
    #: Whether margins are those about a model without features.
    is_centred: bool = field(default=False, kw_only=True)

    @cached_property
    def functions(self) -> RowFunctions:
        """What is computed of each row."""
        return RowFunctions(self.loss, self.samples.has_zero_weights)

    @abstractmethod
    def total(self, margins: RowVector) -> float:
        """The loss."""

    @abstractmethod
    def slopes(self, margins: RowVector) -> RowVector:
        """Its gradient in the margins, sample weights included."""

    @abstractmethod
    def mean_curvature(self, margins: RowVector) -> Array:
        """The diagonal of its Hessian in the margins, summed over the samples: one number for each output."""

    def typical_curvature(self, margins: RowVector) -> Array:
        """The curvature that a ridge competes with, summed over the samples: one number for each output."""
        return self.mean_curvature(margins)

    def majorizer(self, block: ColumnBlock, margins: RowVector, intercept: bool) -> Array | None:
        """The Hessian of a quadratic above the loss that touches it at these margins; None if none is known."""
        return None

    @abstractmethod
    def hessian(self, block: ColumnBlock, margins: RowVector, intercept: bool) -> Array:
        """The Hessian in the coefficients of a block (and the intercept), in the flat order of a k × q matrix."""

    @abstractmethod
    def hessian_product(self, margins: RowVector) -> Callable[[RowVector], RowVector]:
        """Products of the Hessian in the margins with directions."""

    @abstractmethod
    def cross_hessian(
        self, block: ColumnBlock, others: IntArray, margins: RowVector, intercept: bool
    ) -> tuple[Array, Array]:
        """The Hessian between a block (and the intercept) and other columns, and its diagonal at the others."""

    def total_variances(self) -> float | None:
        """The sum of c where the Hessian H is a sum of variances, vᵀHv = Σ c·Var(v); None where it is not."""
        return None

    def find_nuisance(self, margins: RowVector) -> Array | None:
        """Parameters of the loss besides the margins; None if it has none."""
        return None

    def with_rows(self, rows: Design) -> Terms:
        """The same loss of the same samples of another design."""
        return replace(self, rows=rows)

    def mean_target(self) -> Any:
        """The weighted mean of the target."""
        return self.rows.reduce_rows(average_target, self.samples.target, self.samples.weights)

    def mean_lowest(self) -> float:
        """The weighted mean of the least loss of each sample; 0 where that is not known."""
        return 0.0

    def center(self) -> tuple[Terms, Any]:
        """The same loss of margins about those of a model without features, and these margins.

        Where only residuals count, the mean of the target is subtracted from it, and that of the offset from that;
        otherwise the margins are added to the offset.
        """
        margin, samples = self.null_margin, self.samples
        if self.loss.of_residuals:
            mean = self.mean_target()
            target = self.rows.map_rows(lambda y: y - mean, samples.target)
            shift, samples = margin - mean, samples._replace(target=target)
        else:
            shift = margin
        if np.any(shift):
            offset = samples.offset
            if offset is None:
                offset = self.rows.map_rows(lambda y: np.full_like(y, shift), samples.target)
            else:
                offset = self.rows.map_rows(lambda o: o + shift, offset)
            samples = samples._replace(offset=offset)
        return replace(self, samples=samples, is_centred=True), margin

    @cached_property
    def null_margin(self) -> Any:
        """The margin of a model without features, less the offset: a number for each output, or 0 for all of them."""
        loss, samples = self.loss, self.samples
        if samples.offset is None:
            if loss.of_residuals:
                return self.mean_target()
            return 0.0 if samples.output_shape else loss.find_null_margin(self.mean_target())
        if loss.exponentiates:
            rows = samples.offset, samples.target, samples.weights
            responses, rates = self.rows.reduce_rows(loss.log_null_sums, *rows, combine=np.logaddexp)
            return float(responses - rates) if np.isfinite(responses) else float(-rates)
        mean = self.rows.reduce_rows(average_target, samples.offset, samples.weights)
        return self.mean_target() - mean if loss.of_residuals else -mean

    def add_offset(self, margins: RowVector, intercept: Any) -> RowVector:
        """Xw + b + offset."""
        if self.samples.offset is None:
            return self.rows.map_rows(lambda m: m + intercept, margins)
        return self.rows.map_rows(lambda m, o: m + intercept + o, margins, self.samples.offset)

    def separates(self, margins: RowVector) -> bool:
        """Whether scaling up the part of the margins that depends on x lowers the loss without end."""
        offset = self.samples.offset
        if offset is not None:
            margins = self.rows.map_rows(np.subtract, margins, offset)

        target, weights = self.samples.target, self.samples.weights
        return bool(self.rows.reduce_rows(self.functions.separates, margins, target, weights, combine=np.minimum))

    def relative_change(self, old: RowVector, new: RowVector) -> float:
        """Largest change of a margin, relative to the largest margin; samples without weight do not count.

        Small margins are compared with 1; with the largest y, where they have its units.
        """
        moved, size, unit = self.find_extremes(old, new)
        return float(moved / (unit + size)) if moved > 0 else 0.0

    def find_extremes(self, old: RowVector, new: RowVector) -> Array:
        """The largest change of a margin, the largest margin, and the unit that small ones are compared with."""
        target, weights, function = self.samples.target, self.samples.weights, self.functions.find_extremes
        return np.asarray(self.rows.reduce_rows(function, old, new, target, weights, combine=np.maximum))


@dataclass(frozen=True)
class PointwiseTerms(Terms):
    """Σᵢ sᵢ ℓ(mᵢ, yᵢ): everything is computed row by row, where the rows are."""

    loss: Loss

    def total(self, margins: RowVector) -> float:
        return float(self.rows.reduce_rows(self.functions.total, margins, self.samples.target, self.samples.weights))

    def slopes(self, margins: RowVector) -> RowVector:
        return self.rows.map_rows(self.functions.slopes, margins, self.samples.target, self.samples.weights)

    def mean_curvature(self, margins: RowVector) -> Array:
        total = self.functions.total_curvatures
        return np.asarray(self.rows.reduce_rows(total, margins, self.samples.target, self.samples.weights))

    def mean_lowest(self) -> float:
        total = self.functions.total_lowest
        return float(self.rows.reduce_rows(total, self.samples.target, self.samples.weights))

    def _compute_row_weights(self, margins: RowVector) -> RowVector:
        """Weight of each row in the Gram matrix of a model with one output."""
        if self.loss.is_quadratic:
            return self.samples.weights  # the same object each time: a design may keep products for it
        return self.rows.map_rows(self.functions.curvatures, margins, self.samples.target, self.samples.weights)

    def hessian(self, block: ColumnBlock, margins: RowVector, intercept: bool) -> Array:
        outputs = self.samples.output_shape
        if not outputs:
            return self._compute_bordered_gram(block, self._compute_row_weights(margins), intercept)
        curvature = self.rows.map_rows(self.loss.curvature, margins, self.samples.target)
        size, (q,) = block.width + intercept, outputs
        full = np.zeros((size, q, size, q))
        for a in range(q):
            for b in range(a + 1):
                weights = self._compute_entry_weights(curvature, a, b)
                if weights is not None:
                    full[:, a, :, b] = full[:, b, :, a] = self._compute_bordered_gram(block, weights, intercept)
        return full.reshape(size * q, size * q)

    def majorizer(self, block: ColumnBlock, margins: RowVector, intercept: bool) -> Array | None:
        """XᵀMX with the curvatures of parabolas above the loss of each sample in M."""
        weights = None if self.samples.output_shape else self._weigh_majorizer(margins)
        return None if weights is None else self._compute_bordered_gram(block, weights, intercept)

    def typical_curvature(self, margins: RowVector) -> Array:
        """That of parabolas above the loss, if they are known: Huber's loss has no curvature at large residuals."""
        weights = self._weigh_majorizer(margins)
        if weights is None:
            return self.mean_curvature(margins)
        return np.asarray(self.rows.reduce_rows(sum_over_rows, weights))

    def _weigh_majorizer(self, margins: RowVector) -> RowVector | None:
        """The curvatures of parabolas above the loss of each sample, times its weight; None if none are known."""
        if not self.loss.of_residuals:
            return None

        return self.rows.map_rows(self.functions.majorize, margins, self.samples.target, self.samples.weights)

    def _compute_entry_weights(self, curvature: RowVector, a: int, b: int) -> RowVector | None:
        """Weight of each row in the block of outputs a and b of the Hessian; None if that is zero."""
        if a != b and not self.loss.couples_outputs:
            return None
        if self.loss.is_quadratic:
            return self.samples.weights
        return self.rows.map_rows(HessianEntries(self.functions, a, b), curvature, self.samples.weights)

    def _compute_bordered_gram(self, block: ColumnBlock, weights: RowVector, intercept: bool) -> Array:
        """Weighted Gram matrix of a block, with the column of ones."""
        if not intercept:
            return block.gram(weights)
        self.rows.anticipate(
            [
                lambda: block.gram(weights),
                lambda: block.rmatvec(weights),
                lambda: self.rows.reduce_rows(sum_over_rows, weights),
            ]
        )
        gram = block.gram(weights)
        bordered = np.empty((gram.shape[0] + 1, gram.shape[0] + 1))
        bordered[:-1, :-1] = gram
        bordered[-1, :-1] = bordered[:-1, -1] = block.rmatvec(weights)
        bordered[-1, -1] = self.rows.reduce_rows(sum_over_rows, weights)
        return bordered

    def hessian_product(self, margins: RowVector) -> Callable[[RowVector], RowVector]:
        curvature = self.rows.map_rows(self.loss.curvature, margins, self.samples.target)

        def product(directions: RowVector) -> RowVector:
            return self.rows.map_rows(self.functions.multiply_hessian, curvature, directions, self.samples.weights)

        return product

    def cross_hessian(
        self, block: ColumnBlock, others: IntArray, margins: RowVector, intercept: bool
    ) -> tuple[Array, Array]:
        products = block.cross(others, self._compute_row_weights(margins))
        cross = np.append(products.cross, products.sums[None], axis=0) if intercept else products.cross
        return cross, products.squares


@dataclass(frozen=True)
class JointTerms(Terms):
    """A loss of all margins together: row vectors are collected, and columns gathered."""

    loss: JointLoss

    @cached_property
    def bound(self) -> BoundLoss:
        """The loss of the samples, collected once."""
        return self.loss.bind(*map(self.rows.collect_rows, self.samples[:2]))

    def with_rows(self, rows: Design) -> JointTerms:
        terms = replace(self, rows=rows)
        vars(terms)["bound"] = self.bound
        return terms

    def total_variances(self) -> float | None:
        return self.bound.total_variances()

    def find_nuisance(self, margins: RowVector) -> Array | None:
        return self.bound.find_nuisance(self.rows.collect_rows(margins))

    def total(self, margins: RowVector) -> float:
        return self.bound.total(self.rows.collect_rows(margins))

    def slopes(self, margins: RowVector) -> RowVector:
        return self.rows.to_rows(self.bound.slopes(self.rows.collect_rows(margins)))

    def mean_curvature(self, margins: RowVector) -> Array:
        return np.asarray(self.bound.hessian_diagonal(self.rows.collect_rows(margins)).sum())

    def hessian(self, block: ColumnBlock, margins: RowVector, intercept: bool) -> Array:
        self.rows.counters.products += block.width**2
        return self.bound.compute_gram(self.rows.collect_rows(margins), _collect_bordered(block, intercept))

    def hessian_product(self, margins: RowVector) -> Callable[[RowVector], RowVector]:
        local = self.rows.collect_rows(margins)

        def product(directions: RowVector) -> RowVector:
            collected = self.rows.collect_rows(directions)
            return self.rows.to_rows(self.bound.multiply_hessian(local, collected[:, None])[:, 0])

        return product

    def cross_hessian(
        self, block: ColumnBlock, others: IntArray, margins: RowVector, intercept: bool
    ) -> tuple[Array, Array]:
        self.rows.counters.products += block.width * others.size
        columns, candidates = _collect_bordered(block, intercept), self.rows.collect_columns(others)
        return self.bound.compute_cross(self.rows.collect_rows(margins), columns, candidates)


def _collect_bordered(block: ColumnBlock, intercept: bool) -> Array:
    """The columns of a block, with the column of ones for an intercept."""
    columns = block.collect()
    return np.append(columns, np.ones((columns.shape[0], 1)), axis=1) if intercept else columns


def bind_loss(loss: AnyLoss, rows: Design, samples: RowData) -> Terms:
    """The terms of a loss for some samples."""
    if isinstance(loss, JointLoss):
        if not rows.is_local:
            raise ValueError(
                "this loss compares all samples with each other, so it needs the margins of all rows in one place; "
                "X in blocks on disk or on a cluster cannot have it; pass X as an array in memory, or some of its rows"
            )
        return JointTerms(loss, rows, samples)
    assert isinstance(loss, Loss)
    return PointwiseTerms(loss, rows, samples)
