"""The page that ``ksparse fit --out`` writes: one HTML file that needs nothing else."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from ..pages import figure, page, row, section, table, text, text_lines, tiles
from .figures import coefficient_paths, convergence, predicted_against_true, score_path
from .fitting import FOLDS, Outcome
from .tables import coefficient_label, described, number_of_score, rows_read, signed, significant, tried

__all__ = ["html_report"]

USE = """from ksparse import load
model = load("model.json")
model.predict(X)          # X: {X}"""


def html_report(outcome: Outcome) -> str:
    """The report of a fit.

    Parameters
    ----------
    outcome : Outcome
        What `fit_model` gave.
    """
    sections = [_features(outcome), _scores(outcome), _choice(outcome), _solver(outcome), _use(outcome)]
    return page(
        title=described(outcome).rpartition(" (")[0],
        lead="<br>".join(text(line.rstrip(".") + ".") for line in rows_read(outcome)),
        numbers=_numbers(outcome),
        sections=[*sections, _settings(outcome)],
    )


# --- sections -------------------------------------------------------------------------------------------------------


def _numbers(outcome: Outcome) -> str:
    """The numbers that one looks for first."""
    name, (train, test) = next(iter(outcome.scores.items()))
    pairs = [(str(int(outcome.model.support_.sum())), f"of {outcome.data.X.shape[1]} features")]
    if test is not None:
        pairs.append((number_of_score(name, test), f"{name} on {len(outcome.test)} test rows"))
    pairs.append((number_of_score(name, train), f"{name} on {len(outcome.train)} training rows"))
    pairs.append((f"{outcome.seconds:.2f} s", f"solver: {outcome.fitted.result_.status}"))
    return tiles(pairs)


def _features(outcome: Outcome) -> str:
    explanation = (
        f"{coefficient_label(outcome)} “Per standard deviation” is the change when a feature grows by one standard"
        " deviation of the training rows: these can be compared with each other, and sort the table."
    )
    tables = [_one_coefficient(outcome)] if len(outcome.coefficients(scaled=True)) == 1 else _for_classes(outcome)
    return section("Selected features", f'<p class="note">{text(explanation)}</p>', *tables)


def _one_coefficient(outcome: Outcome) -> str:
    raw, scaled = outcome.coefficients(scaled=False)[0], outcome.coefficients(scaled=True)[0]
    largest = max((abs(scaled[feature]) for feature in outcome.selected), default=0.0) or 1.0
    rows = []
    for feature in outcome.selected:
        value = scaled[feature]
        sign = "negative" if value < 0 else "positive"
        bar = f'<td class="bar"><i class="{sign}" style="width:{100 * abs(value) / largest:.1f}%"></i></td>'
        cells = row([outcome.data.names[feature], signed(raw[feature]), signed(value)])
        rows.append(cells.replace("</tr>", bar + "</tr>"))
    ends = [signed(outcome.intercepts(scaled=scaled)[0]) for scaled in (False, True)]
    rows.append(row(["(intercept)", *ends, ""], "intercept"))
    return table(["Feature", "Coefficient", "Per standard deviation", ""], rows, "features")


def _for_classes(outcome: Outcome) -> list[str]:
    classes = [str(name) for name in outcome.model.classes_.tolist()]
    tables = []
    for scaled, title in ((True, "Per standard deviation"), (False, "In the units of the data")):
        matrix, intercepts = outcome.coefficients(scaled=scaled), outcome.intercepts(scaled=scaled)
        rows = [
            row([outcome.data.names[feature], *(signed(value) for value in matrix[:, feature])])
            for feature in outcome.selected
        ]
        rows.append(row(["(intercept)", *(signed(value) for value in intercepts)], "intercept"))
        tables += [f"<p><b>{title}</b></p>", table(["Feature", *classes], rows)]
    return tables


def _scores(outcome: Outcome) -> str:
    tested = len(outcome.test) > 0
    rows = [
        row([name, *(number_of_score(name, value) for value in (values if tested else values[:1]))])
        for name, values in outcome.scores.items()
    ]
    heads = ["Score", "Training rows", "Test rows"] if tested else ["Score", "Training rows"]
    notes = [f'<p class="note">{text(note)}.</p>' for note in outcome.notes]
    where = "test" if tested else "training"
    if outcome.task.classes:
        picture = _confusion(outcome, where)
    else:
        picture = figure(predicted_against_true(outcome), f"Predicted and true values of {where} rows.")
        picture = f'<div class="figures">{picture}</div>'
    return section("Scores", table(heads, rows), *notes, picture)


def _confusion(outcome: Outcome, where: str) -> str:
    """A table of true and predicted classes, darker where there are more rows."""
    rows = outcome.test if len(outcome.test) else outcome.train
    classes = outcome.model.classes_
    counts = confusion_matrix(outcome.y[rows], outcome.model.predict(outcome.data.X[rows]), labels=classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    lines = []
    for name, line, part in zip(classes.tolist(), counts, shares, strict=True):
        cells = "".join(
            f'<td class="count" style="background:rgba(63,95,138,{0.04 + 0.46 * share:.2f})">{count}</td>'
            for count, share in zip(line, part, strict=True)
        )
        lines.append(f"<tr><td>{text(name)}</td>{cells}</tr>")
    heads = ["true \\ predicted", *(str(name) for name in classes.tolist())]
    return f"<p><b>Confusion matrix of {where} rows</b></p>" + table(heads, lines, "confusion")


def _choice(outcome: Outcome) -> str:
    if outcome.settings.k is not None:
        return ""
    validated = outcome.settings.criterion == "cv"
    name = "Score" if validated else outcome.settings.criterion.upper()
    caption = f"{name} of each k that was tried."
    if validated:
        caption += f" The score is minus the mean loss of held-out rows in {FOLDS} folds: larger is better."
    else:
        caption += " Smaller is better."
    paths = coefficient_paths(outcome)
    several = len(outcome.coefficients(scaled=True)) > 1
    figures = [figure(score_path(outcome), caption)]
    for place, path in enumerate(paths):
        of = f" of class {outcome.model.classes_.tolist()[place]}" if several else ""
        figures.append(figure(path, f"Coefficients{of} per standard deviation over k."))
    rows = [
        row(
            [k, significant(value, digits=6), *([] if error is None else [significant(error)])],
            "chosen" if k == outcome.k else "",
        )
        for k, value, error in tried(outcome)
    ]
    heads = ["k", name, "Standard error"] if validated else ["k", name]
    title = f"How k = {outcome.k} was chosen"
    return section(title, f'<div class="figures">{"".join(figures)}</div>', table(heads, rows))


def _solver(outcome: Outcome) -> str:
    result = outcome.fitted.result_
    line = f"{result.message} (iterations: {result.n_iter}; passes over the data: {result.passes})"
    parts = [f"<p>{text(line[0].upper() + line[1:])}.</p>"]
    if len(result.history):
        picture = figure(convergence(outcome), "Value of f in each iteration of the final fit.")
        parts.append(f'<div class="figures">{picture}</div>')
    return section("Convergence", *parts)


def _use(outcome: Outcome) -> str:
    sparse = outcome.data.first_index is not None
    X = (
        "a sparse matrix with as many columns"
        if sparse
        else "a data frame with the columns of the training data, in their order"
    )
    new = "new_rows.svm" if sparse else "new_rows.csv"
    return section(
        "Use the model again",
        "<p>The model is in the file <code>model.json</code> beside this page. It takes data as they are:"
        " nothing has to be standardized. On the command line, only the selected columns are needed:</p>",
        f"<pre>ksparse predict model.json {new} &gt; predictions.csv</pre>",
        "<p>In Python:</p>",
        f"<pre>{text_lines(USE.format(X=X))}</pre>",
    )


def _settings(outcome: Outcome) -> str:
    settings, data = outcome.settings, outcome.data
    k = "auto" if settings.k is None else settings.k
    pairs: list[tuple[str, Any]] = [
        ("Data", data.source),
        ("Target", data.target),
        ("Task", outcome.task.name),
        ("k", k),
        ("alpha", f"{outcome.alpha:g}"),
        ("Test share", f"{settings.test:g}"),
        ("Seed", settings.seed),
    ]
    if settings.k is None:
        pairs.append(("Criterion", settings.criterion))
        if settings.criterion == "cv":
            pairs.append(("Rule", settings.rule))
    if settings.always:
        pairs.append(("Always selected", ", ".join(settings.always)))
    packages = ", ".join(f"{name} {version(name)}" for name in ("ksparse", "scikit-learn", "numpy", "scipy"))
    pairs.append(("Versions", f"{packages}, Python {platform.python_version()}"))
    return section("Settings", table(["", ""], [row(pair) for pair in pairs], "settings"))
