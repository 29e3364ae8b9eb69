"""The fit in plain sentences, for people who know the data and not the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...wording import cut_text
from ..fitting import find_smaller_k
from ..scoring import count_by_weight
from ..summary import compare_probabilities
from .captions import find_fraction_below
from .inferred import compare_with_constant
from .numbers import make_label, write_number, write_percent
from .source import Source
from .states import choose_constant, find_chance, find_constant_error, name_constant, name_reference, score_responses

#: Features that a sentence names.
MOST_NAMED = 4
#: Letters of a name in a sentence.
LONGEST_IN_SENTENCE = 40


@dataclass(frozen=True)
class Conclusion:
    """What the page says first."""

    title: str
    result: str
    more: list[str]
    verdict: str  # that the model is no better than a constant; empty if it is
    hint: str  # a milder warning; empty if there is none


def conclude(source: Source, scores: dict[int, dict[str, float]]) -> Conclusion:
    """The summary of the chosen model, from the scores of all.

    Parameters
    ----------
    source : Source
        The fit.
    scores : dict of int to dict of str to float
        Scores on ``source.rows`` by k and name.
    """
    target = name_in_sentence(source.target)
    count = len(source.rank_units(source.k))
    of = f"{count} of {source.unit_count:,} {source.unit_name}"
    near = find_smaller_k(source.fit.chosen)
    title = source.title or f"Predicting {target} with {of}"
    say = _summarize_classes if source.task.has_classes else _summarize_numbers
    if source.task.is_survival:
        say, title = _summarize_survival, source.title or f"Survival by {target} with {of}"
    if source.responses:
        say, title = _summarize_responses, source.title or f"Predicting {len(source.responses)} targets with {of}"
    result, more, verdict, hint = say(source, scores)
    if near is not None:
        more.append(
            f"With {count_units(source, near)}, the loss in cross-validation is within one standard error of the least."
        )
    if not len(source.held_out):
        hint = "No rows were held out: a model looks better on the rows it was fitted to than on new ones."
    return Conclusion(title, result, more, verdict, hint)


def name_in_sentence(name: Any) -> str:
    """A name from the data within a sentence."""
    return cut_text(name, LONGEST_IN_SENTENCE) or "the target"


def count_units(source: Source, count: int) -> str:
    """A number of features in words."""
    noun = source.unit_name if count != 1 else source.unit_name[:-1]
    return f"{count if count else 'no'} {noun}"


def name_units(source: Source, k: int) -> str:
    """The most important features of a model."""
    names = [name_in_sentence(name) for name in source.rank_units(k)]
    if source.fit.data.first_index is not None:
        names = [f"number {name}" for name in names]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED + 1 else []
    listed = (names[:MOST_NAMED] if more else names) + more
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def name_features(source: Source, k: int) -> str:
    """The features of a model, with their names."""
    count = len(source.rank_units(k))
    if not count:
        return f"Without any {source.unit_name[:-1]}"
    return f"With {count_units(source, count)} ({name_units(source, k)})"


def describe_rows(source: Source) -> str:
    """The rows that scores are about."""
    held_out = len(source.held_out)
    return f"{held_out:,} rows that the model has not seen" if held_out else source.fitted_rows


def find_smaller(source: Source) -> int | None:
    """A model that was tried with at most half as many features."""
    smaller = [k for k in source.models if 1 <= k <= source.k / 2]
    return max(smaller, default=None)


def find_answer(source: Source) -> Any:
    """What a constant answers: the most frequent class of the training rows."""
    labels, counts = count_by_weight(source.y[source.train], source.train_weights)
    return labels.tolist()[int(np.argmax(counts))]


def _summarize_classes(source: Source, scores: dict[int, dict[str, float]]) -> tuple[str, list[str], str, str]:
    chosen, rows = scores[source.k], len(source.rows)
    accuracy, baseline = chosen["Accuracy"], chosen["Baseline accuracy (majority class)"]
    comparison = compare_with_constant(source)
    assert comparison is not None  # there is an accuracy in any case
    score = comparison.score
    right, limits = (
        write_percent(accuracy, rows),
        f"{write_percent(score.low, rows)} to {write_percent(score.high, rows)}",
    )
    result = (
        f"{name_features(source, source.k)}, {name_in_sentence(source.target)} is predicted right in {right} of"
        f" {describe_rows(source)} (95% interval: {limits})."
    )
    answer = make_label(find_answer(source)).text
    constant = f"always answering “{cut_text(answer, LONGEST_IN_SENTENCE)}”"
    more = [f"{constant[0].upper()}{constant[1:]} would be right in {write_percent(baseline, rows)}."]
    smaller = find_smaller(source)
    if smaller is not None:
        share = write_percent(scores[smaller]["Accuracy"], rows)
        more.append(f"With {count_units(source, smaller)} it would be {share}.")
    more += _describe_unanswered(source)
    verdict = hint = ""
    if accuracy <= baseline:
        verdict = f"No better than {constant}."
        if chosen.get("ROC AUC", 0.5) >= 0.6:
            hint = (
                "Its probabilities still tell the classes apart to some degree (area under the ROC curve"
                f" {chosen['ROC AUC']:.2f}): another threshold may serve better than one half."
            )
        hint = hint or _describe_probabilities(source)
    elif not comparison.is_better:
        hint = f"On these rows, this is not clearly better than {name_reference(source) or constant}."
    return result, more, verdict, hint


def _describe_probabilities(source: Source) -> str:
    """What probabilities tell where the most probable class tells nothing; empty if they do not clearly."""
    found = compare_probabilities(source.fit)
    if found is None or not found.is_better or len(source.classes) == 2:
        return ""
    return (
        "Its probabilities are better than the frequencies of the classes: their log loss is"
        f" {write_number(found.score.value)} against {write_number(found.baseline)} (smaller is better)."
    )


def _describe_unanswered(source: Source) -> list[str]:
    """Classes of some rows that are never predicted."""
    true, counts = np.unique(source.y[source.rows], return_counts=True)
    answers = set(source.find_predicted(source.k).prediction.tolist())
    missed = [(name, count) for name, count in zip(true.tolist(), counts.tolist(), strict=True) if name not in answers]
    if not missed or len(missed) > MOST_NAMED:
        return []
    said = [f"“{name_in_sentence(name)}”, which is true of {count}" for name, count in missed]
    return [f"It never answers {' nor '.join(said)} row{'s' * (missed[-1][1] != 1)}."]


def _summarize_numbers(source: Source, scores: dict[int, dict[str, float]]) -> tuple[str, list[str], str, str]:
    chosen, constant = scores[source.k], find_constant_error(source)
    explained, error = chosen[source.task.scores[0]], chosen[source.task.error]
    result = f"{name_features(source, source.k)}, {_describe_error(source, error)}"
    if np.isfinite(explained) and explained > 0:
        fraction = f"{100 * explained:.0f}%" if explained < 0.995 else "more than 99%"
        said = f"{fraction} of its {'deviance' if source.task.misfit else 'variation'} is explained"
        result += f"; {said}" if source.task.constant == "mean" else f", {fraction} less than that of the best constant"
    best, other = name_constant(source), name_reference(source)
    always = f"Always answering the {best} of the training rows, {write_number(choose_constant(source))},"
    if other is not None:
        always = f"{other[0].upper()}{other[1:]}, without features,"
    more = [f"{always} would {_name_error(source)} {write_number(constant)}."]
    smaller = find_smaller(source)
    if smaller is not None:
        with_fewer = write_number(scores[smaller][source.task.error])
        more.append(f"With {count_units(source, smaller)} it would {'be' if best == 'mean' else 'have'} {with_fewer}.")
    if source.task.misfit and explained > 0:
        more.append(source.task.misfit)
    worse, versus = not error < constant or not explained > 0, other or f"always answering the {best}"
    verdict = f"No better than {versus}." if worse else ""
    comparison = compare_with_constant(source)
    unsure = not worse and comparison is not None and not comparison.is_better
    hint = f"On these rows, this is not clearly better than {versus}." if unsure else ""
    return f"{result}.", more, verdict, hint


def _summarize_responses(source: Source, scores: dict[int, dict[str, float]]) -> tuple[str, list[str], str, str]:
    explained, each = scores[source.k]["R²"], score_responses(source, source.k)
    rows = describe_rows(source)
    if not np.isfinite(explained):
        return f"{name_features(source, source.k)}, the scores are not defined in {rows}.", [], "", ""
    said = [f"{name_in_sentence(name)} {100 * max(value, 0.0):.0f}%" for name, value in each.items()]
    listed = said if len(said) <= MOST_NAMED else [*said[:MOST_NAMED], f"{len(said) - MOST_NAMED} more"]
    result = (
        f"{name_features(source, source.k)}, {100 * max(explained, 0.0):.0f}% of the variation of the"
        f" {len(each)} targets is explained in the mean, in {rows}: {', '.join(listed)}."
    )
    more = ["Always answering the means of the training rows would explain nothing."]
    smaller = find_smaller(source)
    if smaller is not None and np.isfinite(scores[smaller]["R²"]):
        more.append(f"With {count_units(source, smaller)} it would be {100 * max(scores[smaller]['R²'], 0.0):.0f}%.")
    constant = "always answering the means"
    if explained <= 0:
        return result, more, f"No better than {constant}.", ""
    comparison = compare_with_constant(source)
    unsure = comparison is not None and not comparison.is_better
    return result, more, "", f"On these rows, this is not clearly better than {constant}." if unsure else ""


def _summarize_survival(source: Source, scores: dict[int, dict[str, float]]) -> tuple[str, list[str], str, str]:
    index, comparison = scores[source.k]["C-index"], compare_with_constant(source)
    if not np.isfinite(index):
        return f"{name_features(source, source.k)}, no pair of rows can be compared.", [], "", ""
    pairs, rows = f"{100 * index:.0f}%", describe_rows(source)
    result = (
        f"{name_features(source, source.k)}, {pairs} of the pairs of rows whose order is known are put in the right"
        f" one: the row with the earlier event has the higher predicted risk, in {rows}."
    )
    chance, other = find_chance(source), name_reference(source)
    more = ["By chance it would be 50%."]
    if other is not None:
        more = [f"{other[0].upper()}{other[1:]}, without features, would put {100 * chance:.0f}% in the right order."]
    smaller = find_smaller(source)
    if smaller is not None and np.isfinite(scores[smaller]["C-index"]):
        more.append(f"With {count_units(source, smaller)} it would be {100 * scores[smaller]['C-index']:.0f}%.")
    versus = other or "chance"
    if index <= chance:
        return result, more, f"No better than {versus}.", ""
    unsure = comparison is not None and not comparison.is_better
    return result, more, "", f"On these rows, this is not clearly better than {versus}." if unsure else ""


def _describe_error(source: Source, error: float) -> str:
    """How far predictions are off; for a quantile, how many rows are below it too."""
    target = name_in_sentence(source.target)
    if source.task.constant == "mean":
        return f"the predicted {target} is typically off by {write_number(error)} in {describe_rows(source)}"
    found = source.find_predicted(source.k)
    below = write_percent(find_fraction_below(source, source.k), len(found.y))
    return (
        f"{below} of {describe_rows(source)} are not above the predicted {found.parameters['quantile']:g}-quantile of"
        f" {target}, whose mean {source.task.error.lower()} is {write_number(error)}"
    )


def _name_error(source: Source) -> str:
    """What is said before the typical error of a constant."""
    return "be off by" if source.task.constant == "mean" else f"have a {source.task.error.lower()} of"
