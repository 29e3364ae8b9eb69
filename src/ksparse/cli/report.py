"""The page that ``ksparse fit --out`` writes: one HTML file that needs nothing else."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from .errors import escape_control
from .figures import draw_coefficient_paths, draw_convergence, draw_predictions, draw_scores
from .fitting import FittedModel
from .summary import (
    describe_choice,
    describe_coefficients,
    describe_data,
    describe_model,
    format_score,
    tabulate_coefficients,
    tabulate_path,
    tabulate_scores,
)

__all__ = ["render_report"]


def render_report(fitted: FittedModel) -> str:
    """The report of a fit; Jinja2 escapes all texts, and control characters are shown as escapes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ksparse.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escape_control(value) if type(value) is str else value,
    )
    result, choosing = fitted.model.result_, fitted.settings.k is None
    return environment.get_template("report.html").render(
        title=describe_model(fitted).rpartition(" (")[0],
        lead=describe_data(fitted),
        numbers=_list_numbers(fitted),
        explanation=describe_coefficients(fitted),
        coefficients=tabulate_coefficients(fitted),
        bars=_measure_bars(fitted),
        scores=tabulate_scores(fitted),
        notes=fitted.notes,
        rows="test" if len(fitted.test) else "training",
        confusion=_count_confusions(fitted) if fitted.task.has_classes else None,
        predictions=None if fitted.task.has_classes else draw_predictions(fitted),
        k=fitted.k,
        path=tabulate_path(fitted) if choosing else None,
        path_figures=_draw_path(fitted) if choosing else None,
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


def _measure_bars(fitted: FittedModel) -> list[tuple[bool, float]] | None:
    """Sign and relative size of each standardized coefficient, if there is one for each feature."""
    standardized = fitted.coefficients(standardize=True)[:, fitted.selected]
    if len(standardized) > 1:
        return None
    largest = np.abs(standardized).max(initial=0.0) or 1.0
    return [(bool(value < 0), 100 * abs(value) / largest) for value in standardized[0]]


def _count_confusions(fitted: FittedModel) -> list[tuple[str, list[tuple[int, float]]]]:
    """For each true class, the count of each predicted one, and how dark its cell is."""
    rows = fitted.test if len(fitted.test) else fitted.train
    classes = fitted.model.classes_
    counts = confusion_matrix(fitted.y[rows], fitted.model.predict(fitted.data.X[rows]), labels=classes)
    shades = 0.04 + 0.46 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    lines = [list(zip(line.tolist(), shade.tolist(), strict=True)) for line, shade in zip(counts, shades, strict=True)]
    return list(zip([str(name) for name in classes.tolist()], lines, strict=True))


def _draw_path(fitted: FittedModel) -> list[tuple[str, str]]:
    """Figures of the k that were tried, with captions."""
    paths = draw_coefficient_paths(fitted)
    several = len(fitted.coefficients(standardize=True)) > 1
    of = [f" of class {name}" for name in fitted.model.classes_.tolist()] if several else [""]
    captions = [f"Standardized coefficients{which} for each k." for which in of[: len(paths)]]
    return [(draw_scores(fitted), describe_choice(fitted) + "."), *zip(paths, captions, strict=True)]


def _list_settings(fitted: FittedModel) -> list[tuple[str, Any]]:
    settings, data = fitted.settings, fitted.data
    choice = {"cv": f"cross-validation, rule {settings.rule}"}.get(settings.criterion, settings.criterion)
    packages = ", ".join(f"{name} {version(name)}" for name in ("ksparse", "scikit-learn", "numpy", "scipy"))
    return [
        ("Data", data.source),
        ("Target", data.target),
        ("Task", fitted.task.name),
        ("k", f"auto ({choice})" if settings.k is None else settings.k),
        ("Always selected", ", ".join(settings.always) or "–"),
        ("Ridge penalty alpha", f"{fitted.model.alpha:g} (on standardized features)"),
        ("Fraction of rows for testing", f"{settings.test:g}"),
        ("Seed", settings.seed),
        ("Versions", f"{packages}, Python {platform.python_version()}"),
    ]
