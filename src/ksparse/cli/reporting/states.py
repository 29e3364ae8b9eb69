"""What a page shows of the model of each k: its scores, and how its predictions agree with what was true."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.metrics import confusion_matrix, roc_auc_score

from ..._types import AnyArray, Array, IntArray
from ...inference import Summary
from ...inference.number_scores import find_quantile
from ...inference.score_intervals import find_wilson_interval
from ..scoring import Predicted
from ..tasks import SHOWN_SCORES
from .captions import caption_numbers, caption_survival
from .curves import LEVEL, Curves, trace_curves
from .feature_table import FeatureTable, tabulate_features
from .inferred import FeatureWorth, find_score_interval, find_spreads, list_worth
from .numbers import NO_NUMBER, make_label, round_numbers, write_number, write_percent, write_with_error
from .risk_groups import SurvivalCurve, trace_survival
from .source import Source, ignore_overflow, is_usable

#: Classes with curves of their own, and in the table of confusions.
MOST_CURVED_CLASSES, MOST_CONFUSED_CLASSES = 10, 30
#: Curves and tables of confusions of all models of a page; beyond, only those of the chosen model are there.
MOST_CURVES, MOST_CONFUSIONS = 240, 20_000
#: Rows whose predictions are drawn and can be downloaded, and numbers of all models of a page.
MOST_PREDICTED_ROWS, MOST_PREDICTIONS = 2000, 120_000


@dataclass(frozen=True)
class Card:
    """A number that stands out, what it is, and how sure it is."""

    value: str
    label: str
    note: str


@dataclass(frozen=True)
class State:
    """What the page shows when the reader looks at the model of this k."""

    k: int
    cards: list[Card]
    table: FeatureTable
    scores: dict[str, float | None]
    score_texts: list[str]  # a row of the table of all models
    confusion: list[list[int]] | None
    curves: list[Curves] | None  # one for each class
    predictions: list[list[float | None]]  # for each class its probabilities, or for each target the predicted numbers
    predicted: list[int]  # positions of the predicted classes
    drawn: list[int]  # features whose values are drawn
    worth: list[FeatureWorth]  # of the selected features; empty if it is not known
    survival: list[SurvivalCurve] = field(default_factory=list)  # of times until an event: a curve for each risk group
    captions: list[str] = field(default_factory=list)  # of charts of predicted numbers, or of these curves


def choose_predicted_rows(source: Source) -> IntArray:
    """Positions in `source.rows` of those whose predictions are in the page: all, or some at random."""
    numbers = max(1, len(source.responses), len(source.classes) if len(source.classes) > 2 else 1)
    most = min(MOST_PREDICTED_ROWS, max(50, MOST_PREDICTIONS // (numbers * len(source.models))))
    count = len(source.rows)
    if numbers > MOST_CONFUSED_CLASSES:
        return np.arange(0)
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(source.seed).permutation(count)[:most])


def describe_state(source: Source, k: int, shown: IntArray, drawn: list[int], summary: Summary | None) -> State:
    """All that a page shows of the model with k features.

    Parameters
    ----------
    source : Source
        The fit.
    k : int
        Which model.
    shown : ndarray of int
        Positions in ``source.rows`` of the rows whose predictions are given.
    drawn : list of int
        Features whose values are drawn.
    summary : Summary, optional
        What is known about the model.
    """
    scores = source.compute_scores(k)
    table, worth = tabulate_features(source, k, find_spreads(summary)), list_worth(source, summary)
    texts = list_score_texts(source, k, scores)
    rounded = {name: value if np.isfinite(value) else None for name, value in scores.items()}
    cards = make_cards(source, k, scores)
    y = source.y[source.rows]
    if source.task.is_survival:
        risks = source.find_predicted(k).prediction[shown]
        curves, known = trace_survival(source, k), [round_numbers(risks, 5)]
        said = caption_survival(curves)
        return State(k, cards, table, rounded, texts, None, None, known, [], [], worth, curves, said)
    if not source.task.has_classes:
        predicted = source.find_predicted(k).prediction[shown].reshape(len(shown), -1)
        values = [round_numbers(np.where(is_usable(column), column, np.nan), 5) for column in predicted.T]
        points = [] if source.responses else drawn
        said = caption_numbers(source, k)
        return State(k, cards, table, rounded, texts, None, None, values, [], points, worth, captions=said)
    classes, found = source.models[k].classes_, source.find_predicted(k)
    probabilities = found.probabilities
    values = []
    if probabilities is not None and len(shown):
        columns = probabilities.T[1:] if len(classes) == 2 else probabilities.T
        values = [round_numbers(column[shown]) for column in columns]
    confusion = parts = None
    if is_detailed(source, k, len(classes) ** 2, MOST_CONFUSIONS) and len(classes) <= MOST_CONFUSED_CLASSES:
        confusion = confusion_matrix(y, found.prediction, labels=classes).tolist()
    if probabilities is not None and is_detailed(source, k, len(classes), MOST_CURVES):
        parts = trace_all_curves(classes, y, probabilities)
    positions = find_positions(classes, found.prediction[shown])
    return State(k, cards, table, rounded, texts, confusion, parts, values, positions, drawn, worth)


def find_positions(classes: AnyArray, labels: AnyArray) -> list[int]:
    """Where labels are among the classes, in whatever order these are."""
    codes = {label: position for position, label in enumerate(classes.tolist())}
    return [codes[label] for label in labels.tolist()]


def is_detailed(source: Source, k: int, size: int, most: int) -> bool:
    """Whether a part of the page that takes some room for each model is there for this one."""
    return k == source.k or size * len(source.models) <= most


def trace_all_curves(classes: AnyArray, y: AnyArray, probabilities: Array) -> list[Curves]:
    """The curves of the first classes, each against all others."""
    pairs = list(zip(classes.tolist(), probabilities.T, strict=True))[:MOST_CURVED_CLASSES]
    return [trace_curves(y == label, probability) for label, probability in pairs]


def make_cards(source: Source, k: int, scores: dict[str, float]) -> list[Card]:
    """The numbers that stand out."""
    rows, count = len(source.rows), len(source.rank_units(k))
    where = f"{rows:,} held-out rows" if len(source.held_out) else source.fitted_rows
    chosen = "the chosen model" if k == source.k else "not the chosen model"
    chosen = chosen if source.chose_k else "as asked for"
    cards = [Card(str(count), f"of {source.unit_count:,} {source.unit_name}", chosen)]
    if source.task.has_classes:
        accuracy, baseline = scores["Accuracy"], scores["Baseline accuracy (majority class)"]
        low, high = find_wilson_interval(accuracy, source.size, LEVEL)
        interval = f"95% interval {write_percent(low, rows)} to {write_percent(high, rows)}"
        cards.append(Card(write_percent(accuracy, rows), f"predicted right in {where}", interval))
        cards.append(make_area_card(source, k, scores))
        cards.append(Card(write_percent(baseline, rows), "right when always answering the most frequent class", ""))
        return cards
    if source.task.is_survival:
        return [*cards, *make_survival_cards(source, k, scores, where)]
    if source.responses:
        return [*cards, *make_response_cards(source, k, scores, where)]
    name, explained = next(iter(scores.items()))
    constant, error = name_constant(source), source.task.error
    interval = describe_interval(source, k, name, scores) or f"1 is perfect, 0 is no better than the {constant}"
    what = f"deviance explained, {name}," if source.task.misfit else name
    cards.append(Card(write_score(name, explained), f"{what} on {where}", interval))
    typical = "typical error (root mean square)" if error == "RMSE" else f"mean {error.lower()}"
    cards.append(Card(write_number(scores[error]), typical, describe_interval(source, k, error, scores)))
    constant_error = write_number(find_constant_error(source))
    said = typical.partition(" (")[0]
    other = name_reference(source)
    how = f"when always answering the {constant}" if other is None else f"of {other}"
    cards.append(Card(constant_error, f"{said} {how}", ""))
    return cards


def make_response_cards(source: Source, k: int, scores: dict[str, float], where: str) -> list[Card]:
    """The mean R² over several targets, and the targets that are predicted best and worst."""
    note = describe_interval(source, k, "R²", scores) or "1 is perfect, 0 is no better than the means"
    cards = [Card(write_score("R²", scores["R²"]), f"R² on {where}, mean over {len(source.responses)} targets", note)]
    found = score_responses(source, k)
    ranked = sorted(found, key=lambda name: -found[name])
    for name, which in ((ranked[0], "best"), (ranked[-1], "least")):
        label = f"R² of {make_label(name).text}, which is predicted {which}"
        cards.append(Card(write_score("R²", found[name]), label, ""))
    return cards


def score_responses(source: Source, k: int) -> dict[str, float]:
    """R² of each of several targets, −∞ where it is not defined."""
    scores = [each.score("R²", resamples=0) for each in source.find_predicted(k).split()]
    values = [-np.inf if score is None or np.isnan(score.value) else score.value for score in scores]
    return dict(zip(source.responses, values, strict=True))


def make_survival_cards(source: Source, k: int, scores: dict[str, float], where: str) -> list[Card]:
    """The concordance index, and how many rows have an event."""
    index, events = scores["C-index"], int(source.y[source.rows]["event"].sum())
    note = describe_interval(source, k, "C-index", scores) or "0.5 is chance, 1 is perfect"
    cards = [
        Card(write_score("C-index", index), f"C-index on {where}: pairs in the right order; 0.5 is chance", note),
        Card(f"{events:,}", "of these rows have an event", "the times of the others were cut off"),
    ]
    other = name_reference(source)
    if other is not None:
        cards.append(Card(write_score("C-index", find_chance(source)), f"C-index of {other}", ""))
    return cards


def make_area_card(source: Source, k: int, scores: dict[str, float]) -> Card:
    """The area under the ROC curve, of several classes the mean over them; the log loss if it is not defined."""
    chance = "0.5 is chance, 1 is perfect"
    if np.isfinite(scores.get("ROC AUC", np.nan)):
        note = describe_interval(source, k, "ROC AUC", scores) or chance
        return Card(f"{scores['ROC AUC']:.3f}", "area under the ROC curve", note)
    if not source.has_probabilities:
        score = describe_interval(source, k, "Balanced accuracy", scores)
        return Card(f"{scores['Balanced accuracy']:.3f}", "balanced accuracy, the mean over the classes", score)
    y = source.y[source.rows]
    if 2 < len(source.classes) <= MOST_CURVED_CLASSES and len(np.unique(y)) == len(source.classes):
        area = find_mean_area(source.find_predicted(k))
        return Card(f"{area:.3f}", "area under the ROC curve, mean over the classes", chance)
    return Card(f"{scores['Log loss']:.3f}", "log loss", "0 is perfect; smaller is better")


def describe_interval(source: Source, k: int, name: str, scores: dict[str, float]) -> str:
    """The 95% interval of a score; empty if it is not known."""
    found = find_score_interval(source, k, name, scores[name])
    return f"95% interval {write_score(name, found.low)} to {write_score(name, found.high)}" if found else ""


def find_mean_area(predicted: Predicted) -> float:
    """The area under the ROC curve of each class against all others, in the mean."""
    assert predicted.probabilities is not None
    columns = zip(predicted.classes, predicted.probabilities.T, strict=True)
    weights = predicted.weights
    areas = [roc_auc_score(predicted.y == label, column, sample_weight=weights) for label, column in columns]
    return float(np.mean(areas))


def find_constant_error(source: Source) -> float:
    """The typical error of the constant that is best on the training rows, or of offsets alone."""
    predicted, error = source.find_predicted(source.k), source.task.error
    answers = predicted.reference
    if answers is None:
        answers = np.full(len(predicted.y), choose_constant(source))
    with ignore_overflow():
        found = replace(predicted, prediction=answers).score(error, resamples=0)
    return np.nan if found is None else found.value


def find_chance(source: Source) -> float:
    """The concordance index without features: ½, or that of offsets alone."""
    predicted = source.find_predicted(source.k)
    if predicted.reference is None:
        return 0.5
    found = replace(predicted, prediction=predicted.reference).score("C-index", resamples=0)
    return 0.5 if found is None else found.value


def name_reference(source: Source) -> str | None:
    """What the model is compared with where rows have exposures or offsets; None if that is a constant."""
    if source.fit.nothing is None:
        return None
    columns = source.fit.data.row_columns
    return f"the {'exposure' if columns.offset is None else 'offset'} {make_label(columns.offset_column).text} alone"


def name_constant(source: Source) -> str:
    """What that constant is called."""
    return source.task.constant.format(**source.find_predicted(source.k).parameters)


def choose_constant(source: Source) -> float:
    """The number that is the best answer if it is always the same."""
    y, parameters = source.y[source.train], source.find_predicted(source.k).parameters
    if "quantile" in parameters:
        counts = np.ones(len(y)) if source.train_weights is None else source.train_weights
        return find_quantile(y, counts, parameters["quantile"])
    return float(np.average(y, weights=source.train_weights))


def write_score(name: str, value: float) -> str:
    """A score: three decimals, or significant digits for errors in units of the target."""
    if not np.isfinite(value):
        return NO_NUMBER
    return write_number(value) if SHOWN_SCORES[name].in_units else f"{value:.3f}".replace("-", "−")


def list_score_texts(source: Source, k: int, scores: dict[str, float]) -> list[str]:
    """A row of the table of all models, after k."""
    chosen_by = []
    if source.folds is not None:
        mean, error = source.folds[k]
        # People read losses: what the choice maximizes is minus a loss.
        chosen_by = list(write_with_error(-mean, error)) if source.criterion == "cv" else [write_number(mean, 5)]
    return [*chosen_by, *(write_score(name, scores[name]) for name in list_varying(scores))]


def list_varying(scores: dict[str, float]) -> list[str]:
    """Names of the scores that depend on the model."""
    return [name for name in scores if not name.startswith("Baseline")]


def list_score_heads(source: Source, scores: dict[str, float]) -> list[str]:
    """Headings of the table of all models, after k."""
    chosen_by = []
    if source.folds is not None:
        chosen_by = ["Average loss", "± std. error"] if source.criterion == "cv" else [source.criterion.upper()]
    return [*chosen_by, *list_varying(scores)]
