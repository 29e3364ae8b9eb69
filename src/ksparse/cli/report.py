"""The page that ``ksparse fit --out`` writes: one HTML file that needs nothing else."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from .errors import escape_control
from .figures import draw_coefficient_paths, draw_convergence, draw_predictions, draw_scores
from .fitting import FOLDS, FittedModel
from .printing import (
    describe_coefficients,
    describe_data,
    describe_model,
    format_number,
    format_score,
    format_signed,
    list_tried,
)

__all__ = ["render_report"]


def render_report(fitted: FittedModel) -> str:
    """The report of a fit; all texts are escaped by Jinja2, and control characters shown as escapes.

    Parameters
    ----------
    fitted : FittedModel
        What `fit_model` gave.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ksparse.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_control(value) if type(value) is str else value,
    )
    tested, result = len(fitted.test) > 0, fitted.model.result_
    return environment.get_template("report.html").render(
        title=describe_model(fitted).rpartition(" (")[0],
        lead=[line.rstrip(".") + "." for line in describe_data(fitted)],
        numbers=_list_numbers(fitted),
        explanation=describe_coefficients(fitted),
        coefficients=_list_coefficients(fitted),
        tested=tested,
        scores=[
            [name, *(format_score(name, value) for value in (values if tested else values[:1]))]
            for name, values in fitted.scores.items()
        ],
        notes=fitted.notes,
        confusion=_count_confusions(fitted) if fitted.task.has_classes else None,
        predictions=None if fitted.task.has_classes else draw_predictions(fitted),
        choice=None if fitted.settings.k is not None else _describe_path(fitted),
        result=result,
        message=result.message[0].upper() + result.message[1:],
        convergence=draw_convergence(fitted) if len(result.history) else None,
        sparse=fitted.data.first_index is not None,
        settings=_list_settings(fitted),
        version=version("ksparse"),
    )


def _list_numbers(fitted: FittedModel) -> list[tuple[str, str]]:
    """The most important numbers, with what they are."""
    name, (train, test) = next(iter(fitted.scores.items()))
    pairs = [(str(int(fitted.model.support_.sum())), f"of {fitted.data.X.shape[1]} features")]
    if test is not None:
        pairs.append((format_score(name, test), f"{name} on {len(fitted.test)} test rows"))
    pairs.append((format_score(name, train), f"{name} on {len(fitted.train)} training rows"))
    return [*pairs, (f"{fitted.seconds:.2f} s", f"solver: {fitted.model.result_.status}")]


def _list_coefficients(fitted: FittedModel) -> dict[str, Any]:
    """Tables of coefficients: one with bars, or two with a column for each class."""
    pairs = [(fitted.coefficients(standardize=each), fitted.intercepts(standardize=each)) for each in (False, True)]
    names = [(fitted.data.names[feature], feature) for feature in fitted.selected]
    if len(pairs[0][0]) == 1:
        raw, scaled = pairs[0][0][0], pairs[1][0][0]
        largest = max((abs(scaled[feature]) for _, feature in names), default=0.0) or 1.0
        rows = [
            (name, format_signed(raw[j]), format_signed(scaled[j]), bool(scaled[j] < 0), 100 * abs(scaled[j]) / largest)
            for name, j in names
        ]
        return {"rows": rows, "intercepts": [format_signed(intercepts[0]) for _, intercepts in pairs]}
    tables = [
        (
            title,
            [(name, [format_signed(value) for value in matrix[:, j]]) for name, j in names],
            [format_signed(value) for value in intercepts],
        )
        for title, (matrix, intercepts) in zip(
            ("Standardized coefficients", "Coefficients in the units of the data"), pairs[::-1], strict=True
        )
    ]
    return {"classes": [str(name) for name in fitted.model.classes_.tolist()], "tables": tables}


def _count_confusions(fitted: FittedModel) -> list[tuple[str, list[tuple[int, float]]]]:
    """For each true class, the count of each predicted one, and how dark its cell is."""
    rows = fitted.test if len(fitted.test) else fitted.train
    classes = fitted.model.classes_
    counts = confusion_matrix(fitted.y[rows], fitted.model.predict(fitted.data.X[rows]), labels=classes)
    shades = 0.04 + 0.46 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    lines = [list(zip(line.tolist(), shade.tolist(), strict=True)) for line, shade in zip(counts, shades, strict=True)]
    return list(zip([str(name) for name in classes.tolist()], lines, strict=True))


def _describe_path(fitted: FittedModel) -> dict[str, Any]:
    """Figures and a table of the k that were tried."""
    validated = fitted.settings.criterion == "cv"
    name = "Score" if validated else fitted.settings.criterion.upper()
    caption = f"{name} of each k that was tried; smaller is better."
    if validated:
        caption = f"Negative mean loss on held-out rows, with {FOLDS} folds, for each k; larger is better."
    paths = draw_coefficient_paths(fitted)
    several = len(fitted.coefficients(standardize=True)) > 1
    captions = [
        f"Standardized coefficients{f' of class {fitted.model.classes_.tolist()[j]}' if several else ''} over k."
        for j in range(len(paths))
    ]
    rows = [
        (k == fitted.k, [k, format_number(value, digits=6), *([] if error is None else [format_number(error)])])
        for k, value, error in list_tried(fitted)
    ]
    heads = ["k", name, "Standard error"] if validated else ["k", name]
    figures = [(draw_scores(fitted), caption), *zip(paths, captions, strict=True)]
    return {"k": fitted.k, "figures": figures, "heads": heads, "rows": rows}


def _list_settings(fitted: FittedModel) -> list[tuple[str, Any]]:
    settings, data = fitted.settings, fitted.data
    pairs: list[tuple[str, Any]] = [
        ("Data", data.source),
        ("Target", data.target),
        ("Task", fitted.task.name),
        ("k", "auto" if settings.k is None else settings.k),
        ("Ridge penalty alpha", f"{fitted.model.alpha:g} (on standardized features)"),
        ("Fraction of rows for testing", f"{settings.test:g}"),
        ("Seed", settings.seed),
    ]
    if settings.k is None:
        pairs.append(("Criterion", settings.criterion))
        if settings.criterion == "cv":
            pairs.append(("Rule", settings.rule))
    if settings.always:
        pairs.append(("Always selected", ", ".join(settings.always)))
    packages = ", ".join(f"{name} {version(name)}" for name in ("ksparse", "scikit-learn", "numpy", "scipy"))
    return [*pairs, ("Versions", f"{packages}, Python {platform.python_version()}")]
