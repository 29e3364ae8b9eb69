"""A fitted model in words and tables of text, for the terminal and for the report.

A table is a data frame of formatted cells; the name of its columns is the heading of its index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..inference import BaselineComparison, ScoreInterval
from ..selection import compute_standard_errors
from ..wording import LONGEST, cut_text, escape_control, quote, quote_list
from .fitted_model import FittedModel
from .row_facts import list_row_facts
from .scoring import find_parameters
from .settings import FOLDS, choose_resamples
from .tasks import SCORES_OF_EACH, SHOWN_SCORES, Task

#: What is said of a score that is above a constant's, but not beyond chance.
UNCLEAR = "NOT CLEARLY BETTER"
#: What is said of a rule after "cross-validation".
RULE_NAMES = {
    "smooth": "",
    "near": " with the weakest ridge and the smallest k near the best score",
    "best": " with the best score as it is",
    "1se": " with the one-standard-error rule",
}
#: How the notes of a summary begin that `describe_coefficients` says too.
MEANINGS_OF_COEFFICIENTS = ("coefficients are", "a larger coefficient")
#: Numbers from this on are written without decimals, and those from the next on with an exponent.
WHOLE, VERY_LARGE = 1e4, 1e9
#: Decimals of a number with a standard error.
MOST_DECIMALS = 6
#: Number of classes that are listed with their counts.
MAX_LISTED_CLASSES = 10


def describe_data(fitted: FittedModel) -> list[str]:
    """What was read, in lines."""
    data, settings = fitted.data, fitted.settings
    rows, count = fitted.row_count, data.X.shape[1]
    unit = fitted.column_name if count != 1 else fitted.column_name[:-1]
    target = f"target {quote(data.target.name)}" if data.first_index is None else "target: the label of each line"
    if data.target.names:
        target = f"targets {quote_list(data.target.names)}"
    lines = [
        f"Data: {escape_control(data.source)}, {rows} rows, {count} {unit}, {target}",
        f"Task: {fitted.task.name} ({fitted.reason})",
    ]
    lines += [f"{name}: {text}" for name, text in list_row_facts(fitted).items()]
    if fitted.task.has_classes:
        classes, known = fitted.model.classes_.tolist(), fitted.class_counts
        more = f" and {len(classes) - MAX_LISTED_CLASSES} more" if len(classes) > MAX_LISTED_CLASSES else ""
        shown = ", ".join(f"{cut_text(name)} ({known.get(name, 0)} rows)" for name in classes[:MAX_LISTED_CLASSES])
        lines.append(f"Classes: {shown}{more}")
    split = "all rows for training, none for testing (--test 0)"
    if len(fitted.test):
        options = f"--test {settings.test:g} --seed {settings.seed}"
        split = f"{fitted.training_count} rows for training, {len(fitted.test)} for testing ({options})"
    return [*lines, f"Split: {split}"]


def describe_model(fitted: FittedModel) -> str:
    """The model in a line."""
    selected, features = len(fitted.selected_columns), len(dict.fromkeys(fitted.final.columns))
    chosen = f", chosen by {_name_choice(fitted)}" if fitted.chose_k else ""
    unit = fitted.unit if features != 1 else fitted.unit[:-1]
    target = quote_list(fitted.data.target.names) or quote(fitted.data.target.name)
    title = f"{fitted.task.model} of {target} with {selected} of {features} {unit}"
    return f"{title} (k = {fitted.k}{chosen}; {describe_ridges(fitted.model)})"


def find_ridges(model: Any) -> tuple[float, float]:
    """The ridge while selecting, and that of the coefficients."""
    alpha, refit_alpha = (getattr(model, f"{name}_", getattr(model, name)) for name in ("alpha", "refit_alpha"))
    return alpha, alpha if refit_alpha is None else refit_alpha


def describe_ridges(model: Any) -> str:
    """The ridge, or both ridges where they differ."""
    alpha, refit_alpha = find_ridges(model)
    if refit_alpha == alpha:
        return f"ridge penalty alpha = {alpha:g}"
    return f"ridge penalty {alpha:.3g} while selecting, {refit_alpha:.3g} for the coefficients"


def describe_coefficients(fitted: FittedModel) -> str:
    """What the coefficients mean."""
    target = quote(fitted.data.target.name)
    if fitted.task.has_several:
        return "Coefficients of each target are in its units per unit of the feature."
    if not fitted.task.has_classes:
        if fitted.task.effect == Task.effect:
            return f"Coefficients are in units of {target} per unit of the feature."
        column = fitted.data.row_columns.exposure
        exposure = None if column is None else quote(column)
        return f"Coefficients are for the {describe_effect(fitted.task, target, fitted.model, exposure)}."
    if fitted.task.has_order:
        return f"Coefficients are for the log-odds of a higher {target}; thresholds are what these must exceed."
    classes = fitted.model.classes_.tolist()
    what = "log-odds" if fitted.task.ratio else "margin"
    if len(classes) == 2:
        others, described = classes if fitted.sign > 0 else reversed(classes)
        can_turn = fitted.settings.positive is None and len(str(others)) <= LONGEST
        turn = f"; --positive {quote(others)} turns this round" if can_turn else ""
        return f"Coefficients are for the {what} of {quote(described)} versus {quote(others)}{turn}."
    return "A larger coefficient makes its class more likely as the feature grows."


def describe_effect(task: Task, target: str, model: Any, exposure: str | None = None) -> str:
    """What a coefficient is a change of, of a model of numbers."""
    said = task.effect.format(target, **find_parameters(model, task))
    return said if exposure is None else f"{said} per unit of {exposure}"


def describe_choice(fitted: FittedModel) -> str:
    """How k was chosen."""
    how = "smaller is better"
    if fitted.settings.criterion == "cv":
        score = "partial log-likelihood" if fitted.task.is_survival else "negative mean loss"
        how = f"{score} on held-out rows, {FOLDS} folds; larger is better"
        if fitted.settings.rule == "smooth":
            how += "; averages over neighbouring k and ridges are compared, and the smallest k near the best is chosen"
    return f"Choosing k by {_name_choice(fitted)} ({how})"


def _name_choice(fitted: FittedModel) -> str:
    if fitted.settings.criterion != "cv":
        return fitted.settings.criterion.upper()
    return "cross-validation" + RULE_NAMES[fitted.settings.rule]


def tabulate_path(fitted: FittedModel) -> pd.DataFrame:
    """Each k that was tried with its score and standard error, or its criterion."""
    model: Any = fitted.chosen
    index = [str(k) for k in model.ks_.tolist()]
    if fitted.settings.criterion != "cv":
        cells = {fitted.settings.criterion.upper(): [_format(value, digits=6) for value in model.criterion_]}
        return pd.DataFrame(cells, index=index).rename_axis(columns="k")
    errors = compute_standard_errors(model.scores_).tolist()
    columns = {"Score": model.scores_.mean(axis=1).tolist(), "Standard error": errors}
    if fitted.settings.rule == "smooth":
        columns["Average"] = model.compared_scores_.tolist()
    cells = {
        name: [_format_with_error(value, error) for value, error in zip(values, errors, strict=True)]
        for name, values in columns.items()
    }
    return pd.DataFrame(cells, index=index).rename_axis(columns="k")


def count_decimals(error: float) -> int | None:
    """Decimals of a number with this standard error, which has two digits; None if the error says nothing of them.

    Examples
    --------
    >>> from ksparse.cli.summary import count_decimals
    >>> count_decimals(0.01457), count_decimals(143.2), count_decimals(0.0)
    (3, -1, None)
    """
    if not np.isfinite(error) or error <= 0:
        return None
    decimals = 1 - int(f"{error:.1e}".partition("e")[2])
    return decimals if decimals <= MOST_DECIMALS else None


def _format_with_error(value: float, error: float) -> str:
    """A number with as many decimals as its standard error has with two digits."""
    decimals = count_decimals(error)
    if decimals is None or not np.isfinite(value):
        return _format(value, digits=6)
    rounded = round(value, decimals)
    return f"{rounded if rounded else 0.0:.{max(decimals, 0)}f}"


def describe_fitted_rows(fitted: FittedModel) -> str:
    """Which rows the model, and which the scores are of."""
    rows, training, test = fitted.row_count, fitted.training_count, len(fitted.test)
    if not test:
        which = "some of the rows" if fitted.is_sampled else "the rows"
        return f"Scores are those of {which} that the model was fitted to; on new rows they are lower."
    if fitted.final is fitted.training:
        return f"The model is fitted to {training} rows; test scores are those of the other {test}."
    chosen = f", with what was chosen on {training} of them" if hasattr(fitted.chosen, "ks_") else ""
    those = f"these {training}" if chosen else f"the {training} rows for training"
    return f"The model is fitted to all {rows} rows{chosen}; test scores are those of the model of {those}."


def tabulate_scores(fitted: FittedModel) -> pd.DataFrame:
    """Scores on training rows, and on test rows if there are any, with intervals."""
    scores = fitted.scores
    columns: dict[str, list[str]] = {"Training": [_format_score(name, found) for name, found in scores.train.items()]}
    if fitted.on_test is not None:
        columns["Test"] = [_format_score(name, scores.test[name]) for name in scores.train]
        columns["95 % interval"] = [_format_interval(name, scores.test[name]) for name in scores.train]
    if scores.nested is not None:
        nested = [scores.find_nested(name) for name in scores.train]
        columns["Nested folds"] = [
            "–" if found is None else format_score(name, found[0])
            for name, found in zip(scores.train, nested, strict=True)
        ]
        columns["95 % interval "] = [
            "–" if found is None else f"{format_score(name, found[1])} to {format_score(name, found[2])}"
            for name, found in zip(scores.train, nested, strict=True)
        ]
    table = pd.DataFrame(columns, index=list(scores.train)).rename_axis(columns="Score")
    return _add_each_target(table, fitted) if fitted.task.has_several else table


def describe_scores(fitted: FittedModel) -> str:
    """What the first score is a fraction of, where that is not the variation; empty otherwise."""
    said = fitted.task.misfit
    return f"{fitted.task.scores[0]} is the fraction of the deviance that is explained. {said}" if said else ""


def _add_each_target(table: pd.DataFrame, fitted: FittedModel) -> pd.DataFrame:
    """The scores of all targets together, then those of each."""
    parts = [fitted.predict_rows(fitted.train).split(), [] if fitted.on_test is None else fitted.on_test.split()]
    rows = {}
    for place, target in enumerate(fitted.data.target.names):
        for name in SCORES_OF_EACH:
            train, *test = (part[place].score(name) for part in parts if part)
            cells = [_format_score(name, train), *(_format_score(name, found) for found in test)]
            rows[f"{name} of {cut_text(target)}"] = [*cells, *(_format_interval(name, found) for found in test)]
    each = pd.DataFrame.from_dict(rows, orient="index", columns=table.columns[: 1 + 2 * (len(parts[1]) > 0)])
    whole = table.rename(index={name: f"{name}, mean over targets" for name in table.index})
    return pd.concat([whole, each]).fillna("").rename_axis(columns="Score")


def describe_skill(fitted: FittedModel) -> str:
    """How the model compares with an answer that is always the same; empty without test rows."""
    found = fitted.scores.comparison
    if found is None:
        return ""
    if fitted.task.is_survival:
        said = _describe_order(found) if fitted.nothing is None else _compare_on_test_rows(fitted, "C-index", found)
        return said + _compare_in_folds(fitted, "C-index", found.is_better)
    name = next(name for name in fitted.task.scores if SHOWN_SCORES[name].metric == found.score.metric)
    return _compare_on_test_rows(fitted, name, found) + _compare_in_folds(fitted, name, found.is_better)


def _compare_on_test_rows(fitted: FittedModel, name: str, found: BaselineComparison) -> str:
    other = f"always answering {_describe_answer(fitted, found.answer)}"
    if found.answer is None:
        other = f"{fitted.data.row_columns.describe_offset()} alone"
    value, baseline = format_score(name, found.score.value), format_score(name, found.baseline)
    name = name.lower() if fitted.task.has_classes else name
    value = f"{name} {value}"
    if found.is_better:
        return f"Better than {other}: {value} against {baseline} on the test rows."
    verdict = _judge(found.difference > 0 and value != f"{name} {baseline}")
    said = f"{verdict} than {other}: {value} against {baseline} on the test rows"
    if ranks := _describe_probabilities(fitted):
        return f"{said}. But {ranks}."
    return f"{said}, a difference that chance may explain." if verdict == UNCLEAR else f"{said}."


def _describe_probabilities(fitted: FittedModel) -> str:
    """What probabilities say that the most probable class does not; empty if that is not clear."""
    if fitted.on_test is None:
        return ""
    area = fitted.scores.test.get("ROC AUC")
    if area is not None:
        return f"it ranks rows better than chance: ROC AUC {area.value:.3f}" if area.low > 0.5 else ""
    found = compare_probabilities(fitted)
    if found is None or not found.is_better:
        return ""
    score, baseline = (format_score("Log loss", value) for value in (found.score.value, found.baseline))
    return f"its probabilities are better than the frequencies of the classes: log loss {score} against {baseline}"


def compare_probabilities(fitted: FittedModel) -> BaselineComparison | None:
    """The probabilities of classes beside their frequencies in the training rows; None where there are none."""
    predicted = fitted.on_test
    if predicted is None or predicted.probabilities is None or predicted.reference is not None:
        return None
    return predicted.compare(fitted.y[fitted.train], "Log loss", fitted.data.row_values.select(fitted.train).weights)


def _judge(is_above: bool) -> str:
    """What is said of a model whose score is not clearly above a constant's."""
    return UNCLEAR if is_above else "NO BETTER"


def _compare_in_folds(fitted: FittedModel, name: str, is_better: bool) -> str:
    """What nested folds say, where the few test rows say something else; empty otherwise."""
    nested = fitted.scores.compare_in_folds(name)
    if fitted.nothing is not None:  # folds know constants only, and no exposures
        return ""
    if nested is None or nested.is_better == is_better:
        return ""
    score, baseline = (format_score(name, value) for value in (nested.score, nested.baseline))
    verdict = "no better" if is_better else "better"
    return f" In nested folds, with more rows to judge by, it is {verdict}: {score} against {baseline}."


def _describe_order(found: BaselineComparison) -> str:
    """Whether a model orders rows better than chance."""
    value = format_score("C-index", found.score.value)
    if found.is_better:
        return f"Better than chance: C-index {value} against 0.5 on the test rows."
    chance = ", a difference that chance may explain" if found.difference > 0 else ""
    return f"{_judge(found.difference > 0)} than chance: C-index {value} against 0.5 on the test rows{chance}."


def _describe_answer(fitted: FittedModel, answer: Any) -> str:
    """What is always answered: a class, or a number with what it is."""
    if fitted.task.has_classes or answer is None:
        return quote(answer)
    if fitted.task.has_several:
        return "the mean of each target"
    return f"{_format(answer)}, the {fitted.task.constant.format(**find_parameters(fitted.chosen, fitted.task))}"


def list_meanings(fitted: FittedModel) -> list[str]:
    """What the columns of the table of features mean."""
    found = [note for note in fitted.summary.notes if not note.startswith(MEANINGS_OF_COEFFICIENTS)]
    notes = [f"- {note.replace('effort=', '--effort ')}" for note in found]  # as options of the command
    usual = choose_resamples(rows=1, features=1)
    if fitted.settings.resamples is None and fitted.resamples < usual and "frequency" in fitted.summary.units:
        notes.append(f"- {fitted.resamples} resamples, since the data are large: --resamples {usual} takes more time")
    return notes


def _format_score(name: str, found: ScoreInterval | None) -> str:
    return format_score(name, None if found is None else found.value)


def _format_interval(name: str, found: ScoreInterval | None) -> str:
    if found is None or np.isnan(found.low):
        return "–"
    return f"{format_score(name, found.low)} to {format_score(name, found.high)}"


def format_score(name: str, value: float | None) -> str:
    """A score: three decimals, or significant digits for errors in units of the target."""
    if value is None or np.isnan(value):
        return "–"
    if SHOWN_SCORES[name].in_units:
        return _format(value)
    return f"{0.0 if abs(value) < 0.0005 else value:.3f}"


def _format(value: float, sign: str = "", digits: int = 4) -> str:
    """A number with some significant digits; a dash for a score of −∞."""
    if np.isneginf(value):
        return "–"
    if WHOLE <= abs(value) < VERY_LARGE:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}#.{digits}g}".rstrip(".")
