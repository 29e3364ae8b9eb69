"""The tables and the notes of a `Summary`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._types import AnyArray, Array, IntArray
from .summaries import NO_WORSE, RATIO_UNITS, Summary
from .uncertainty import Request, Uncertainty
from .units import ModelUnits
from .valuing import UnitValues

__all__ = ["build_summary"]

#: Values of f that differ by more than this fraction of what the features explain are not of the same samples.
SAME_VALUE = 1e-4
#: Decreases of f by a smaller fraction of what the features explain are rounding.
SMALL_DECREASE = 1e-7


def build_summary(
    model: Any,
    units: ModelUnits,
    request: Request,
    samples: Any,
    values: UnitValues | None,
    uncertainty: Uncertainty | None,
) -> Summary:
    """The summary of a model; without `values` and `uncertainty`, what is known without samples."""
    deviations = _find_known_deviations(model, values)
    order = _sort_units(model, units, values, deviations)
    return Summary(
        title=_describe_model(model, units, samples),
        features=_tabulate_features(model, units, order, deviations, uncertainty),
        units=_tabulate_units(units, order, values, uncertainty),
        replacements=_tabulate_replacements(units, order, values),
        intercept=np.atleast_1d(model.intercept_),
        value=np.nan if values is None else values.value,
        mean_loss=np.nan if values is None else values.mean_loss,
        explained=np.nan if values is None else values.explained,
        level=request.level,
        intervals=None if uncertainty is None else request.intervals,
        notes=tuple(_write_notes(model, units, values, uncertainty)),
        outputs=units.outputs,
        grouped=units.grouped,
        kind=units.kind,
        binary=_find_binary(model, units, order, values),
        constants=model.list_constants(),
    )


def _find_known_deviations(model: Any, values: UnitValues | None) -> Array | None:
    """Standard deviations of the selected features: of the samples, or those by which the fit divided them."""
    if values is not None:
        return values.deviations
    scale = getattr(model, "_scale", None)
    return None if scale is None else scale[model.support_]


def _find_binary(model: Any, units: ModelUnits, order: list[int], values: UnitValues | None) -> tuple[bool, ...]:
    if values is None:
        return ()
    return tuple(values.binary[_find_positions(model, units, order)].tolist())


def _sort_units(model: Any, units: ModelUnits, values: UnitValues | None, deviations: Array | None) -> list[int]:
    """The selected units, the most important first."""
    selected = np.flatnonzero(units.selected).tolist()
    if values is not None:
        return sorted(selected, key=lambda unit: -values.increases[unit])
    sizes = np.abs(np.atleast_2d(model.coef_)).max(axis=0)
    sizes[model.support_] *= 1.0 if deviations is None else deviations
    return sorted(selected, key=lambda unit: -float(sizes[units.number == unit].max()))


def _find_positions(model: Any, units: ModelUnits, order: list[int]) -> IntArray:
    """Where the features of the units, in this order, are among the selected features."""
    numbers = units.number[np.flatnonzero(model.support_)]
    parts = [np.flatnonzero(numbers == unit) for unit in order]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def _tabulate_features(
    model: Any, units: ModelUnits, order: list[int], deviations: Array | None, uncertainty: Uncertainty | None
) -> pd.DataFrame:
    positions = _find_positions(model, units, order)
    features = np.flatnonzero(model.support_)[positions]
    coefficients = np.atleast_2d(model.coef_)[:, features]
    columns: dict[str, Array] = {"coefficient": coefficients}
    if deviations is not None:
        columns["standardized"] = coefficients * deviations[positions]
    if ratio := _name_ratio(model):
        columns[ratio] = np.exp(coefficients)
        if deviations is not None:
            columns[f"{ratio}_standardized"] = np.exp(columns["standardized"])
    if uncertainty is not None:
        columns |= {"low": uncertainty.low[:, positions], "high": uncertainty.high[:, positions]}
        if uncertainty.p_values is not None:
            columns["p_value"] = uncertainty.p_values[:, positions]
    table: dict[Any, AnyArray] = {}
    table[("unit", "") if units.outputs else "unit"] = units.names[units.number[features]]
    if deviations is not None:
        table[("deviation", "") if units.outputs else "deviation"] = deviations[positions]
    for name, rows in columns.items():
        heads: list[Any] = [(name, output) for output in units.outputs] or [name]
        table |= dict(zip(heads, rows, strict=True))
    frame = pd.DataFrame(list(zip(*table.values(), strict=True)), columns=pd.Index(list(table)))
    return frame.set_axis(pd.Index(units.features[features], name="feature", dtype=object))


def _name_ratio(model: Any) -> str:
    """The column of exp(coefficient), if it has a meaning of its own."""
    name: str = model.ratio_name
    return name if len(np.atleast_2d(model.coef_)) == 1 else ""


def _tabulate_units(
    units: ModelUnits, order: list[int], values: UnitValues | None, uncertainty: Uncertainty | None
) -> pd.DataFrame:
    table: dict[str, Any] = {"n_features": [units.find_features(unit).size for unit in order]}
    if uncertainty is not None and uncertainty.selected is not None:
        table["frequency"] = units.find_units(uncertainty.selected).mean(axis=0)[order]
    if values is not None:
        table["increase"] = [values.increases[unit] for unit in order]
        table["loss_increase"] = [values.loss_increases[unit] for unit in order]
        table["fraction"] = [_divide(values.increases[unit], values.explained) for unit in order]
        if any(values.replacements.values()):
            best = [next(iter(values.replacements[unit]), None) for unit in order]
            table["replacement"] = [None if each is None else units.names[each.other] for each in best]
            table["replacement_fraction"] = [
                np.nan if each is None else _divide(each.increase, values.explained) for each in best
            ]
            table["replacement_correlation"] = [np.nan if each is None else each.correlation for each in best]
    return pd.DataFrame(table, index=pd.Index(units.names[order], name="unit", dtype=object))


def _divide(increase: float, explained: float) -> float:
    return increase / explained if explained > 0 else np.nan


def _tabulate_replacements(units: ModelUnits, order: list[int], values: UnitValues | None) -> pd.DataFrame:
    rows = [
        (
            units.names[unit],
            units.names[found.other],
            found.increase,
            _divide(found.increase, values.explained),
            found.correlation,
        )
        for unit in order
        for found in ([] if values is None else values.replacements[unit])
        if values is not None
    ]
    return pd.DataFrame(rows, columns=["unit", "replacement", "increase", "fraction", "correlation"])


def _describe_model(model: Any, units: ModelUnits, samples: Any) -> str:
    count = f"{int(units.selected.sum())} of {len(units.names)} {units.kind}"
    title = f"{type(model).__name__} with {count}"
    return title if samples is None else f"{title}, fitted to {len(samples)} samples"


def _write_notes(
    model: Any, units: ModelUnits, values: UnitValues | None, uncertainty: Uncertainty | None
) -> list[str]:
    notes = [model.describe_coefficients()]
    if values is None:
        return [
            *notes,
            "the samples of the fit are not saved with a model: for intervals, losses and replacements, pass them as "
            "summary(X, y)",
        ]
    if units.selected.any():
        unit = units.kind[:-1]
        notes.append(
            f"loss without: how much the loss (mean loss plus ridge) rises if the {unit} is left out and the others "
            f"are fitted again, as a fraction of the {values.explained:.4g} by which all {units.kind} of the model "
            "lower it"
        )
        if any(values.replacements.values()):
            notes.append(
                f"closest replacement: the {unit} outside the model that does best in place of this one, and how much "
                f"the loss rises with it, as the same fraction; {NO_WORSE} if it does not rise; none if that is more "
                "than half of loss without"
            )
    if (ratio := _name_ratio(model)) and units.selected.any():
        notes.append(
            f"{ratio.replace('_', ' ')} {RATIO_UNITS}: exp(coefficient), of 1 versus 0, for features that are only 0 "
            "and 1; exp(per std. dev.), of one standard deviation more, for the others"
            + ("" if uncertainty is None else "; its interval is that of the coefficient, transformed in the same way")
        )
    notes += () if uncertainty is None else uncertainty.notes
    if units.outputs and uncertainty is not None:
        notes.append("intervals of each class or response are per standard deviation, too")
    return [*notes, *_find_doubts(model, units, values)]


def _find_doubts(model: Any, units: ModelUnits, values: UnitValues) -> list[str]:
    """What is wrong with the numbers."""
    doubts, fitted = [], model.result_.value
    if not values.is_bounded:
        doubts.append(
            "the loss has no minimum on these features (alpha = 0, and they separate the classes): set a ridge"
        )
    elif abs(fitted - values.value) > SAME_VALUE * max(abs(values.explained), abs(values.value) * SAME_VALUE):
        doubts.append(
            f"the loss with ridge is {values.value:.6g} on these samples, but was {fitted:.6g} in the fit: these are "
            "other samples, or they have changed; losses are of a model that is refitted to them, coefficients of the "
            "one that was fitted"
        )
    lower = [found for each in values.replacements.values() for found in each if found.increase < 0]
    if values.is_bounded and lower and min(found.increase for found in lower) < -SMALL_DECREASE * values.explained:
        doubts.append(
            f"some replacements lower the loss: they are called {NO_WORSE}. "
            + (
                f"The {units.kind} were selected with another ridge than that of the coefficients, which is used here"
                if values.selects_with_other_ridge
                else "The solver has not found the best model; try effort=1 or more"
            )
        )
    return doubts
