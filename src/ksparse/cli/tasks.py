"""The kinds of models that ``ksparse fit`` fits: their estimators, options, scores, and what their numbers mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .. import estimators, selection


@dataclass(frozen=True)
class ShownScore:
    """A score as people see it: its name in `ksparse.inference.score_interval`, and how it is written."""

    metric: str
    #: Smaller is better.
    is_loss: bool = False
    #: In units of the target.
    in_units: bool = False
    #: From 0 to 1.
    is_fraction: bool = False
    #: It depends on which of two classes is which, and is not defined for more.
    of_two_classes: bool = False
    #: Of the positions of classes in their order.
    of_positions: bool = False


#: Scores by their names for people.
SHOWN_SCORES = {
    "Accuracy": ShownScore("accuracy", is_fraction=True),
    "Balanced accuracy": ShownScore("balanced_accuracy", is_fraction=True),
    "Log loss": ShownScore("log_loss", is_loss=True),
    "ROC AUC": ShownScore("roc_auc", is_fraction=True, of_two_classes=True),
    "Mean error in classes": ShownScore("mean_absolute_error", is_loss=True, of_positions=True),
    "C-index": ShownScore("concordance", is_fraction=True),
    "R²": ShownScore("r2"),
    "D² (deviance)": ShownScore("d2_poisson"),
    "D² (gamma)": ShownScore("d2_gamma"),
    "D² (Tweedie)": ShownScore("d2_tweedie"),
    "D² (negative binomial)": ShownScore("d2_negative_binomial"),
    "D² (check loss)": ShownScore("d2_pinball"),
    "RMSE": ShownScore("rmse", is_loss=True, in_units=True),
    "Check loss": ShownScore("pinball", is_loss=True, in_units=True),
    "Median |error|": ShownScore("median_absolute_error", is_loss=True, in_units=True),
}


@dataclass(frozen=True)
class Task:
    """A kind of model; the estimators that choose k have CV or IC after their name."""

    name: str
    model: str
    estimator: str
    #: Names of scores. For numbers, the first is the fraction that is explained, the second a typical error.
    scores: tuple[str, ...]
    #: Whether the target has classes, and whether these have an order.
    has_classes: bool = False
    has_order: bool = False
    #: Options that are parameters of the estimator.
    parameters: tuple[str, ...] = ()
    #: What a coefficient is a change of, with the target in the place of {}; classes have words of their own.
    effect: str = "predicted {}"
    #: The smallest target that is possible, and whether that itself is.
    least: float | None = None
    allows_least: bool = True
    #: Whether the target has times until an event.
    is_survival: bool = False
    #: Whether there are several targets, each with coefficients of its own.
    has_several: bool = False
    #: What the number is called that is the best answer if it is always the same.
    constant: str = "mean"
    #: What a parameter of the loss means that the fit estimates or the user gives, with its value in braces.
    meaning: str = ""
    #: Whether an offset is of use: numbers, and probabilities of classes.
    takes_offset: bool = True

    def find_class(self, suffix: str = "") -> type[Any]:
        """The estimator, or the one with ``CV`` or ``IC``."""
        return getattr(selection if suffix else estimators, self.estimator + suffix)

    @property
    def has_log_link(self) -> bool:
        """Whether the expected response is an exponential, so that an exposure multiplies it."""
        return self.effect == LOG_OF_MEAN

    @property
    def misfit(self) -> str:
        """What the deviance is whose explained fraction is the first score; empty for other scores."""
        if not self.has_log_link:
            return ""
        model = self.model if self.model.startswith(NAMED_AFTER) else self.model.lower()
        return (
            f"The deviance is the misfit that {model} makes small, in which an error counts for less where more is"
            " expected."
        )

    @property
    def error(self) -> str:
        """The name of the typical error of predicted numbers."""
        return self.scores[1]

    @property
    def ratio(self) -> str:
        """What the exponential of a coefficient is called; empty if it means nothing."""
        return str(self.find_class().ratio_name).replace("_", " ").capitalize()


CLASS_SCORES = ("Accuracy", "Balanced accuracy", "Log loss", "ROC AUC")
#: How models begin that are named after people.
NAMED_AFTER = ("Poisson", "Tweedie")
LOG_OF_MEAN = "logarithm of the expected {}"
TASKS = {
    task.name: task
    for task in (
        Task("classification", "Logistic regression", "SparseLogisticRegression", CLASS_SCORES, has_classes=True),
        Task(
            "ordinal",
            "Ordinal regression",
            "SparseOrdinalRegression",
            ("Accuracy", "Balanced accuracy", "Mean error in classes", "Log loss", "ROC AUC"),
            has_classes=True,
            has_order=True,
        ),
        Task("regression", "Least squares", "SparseLinearRegression", ("R²", "RMSE")),
        Task(
            "poisson",
            "Poisson regression",
            "SparsePoissonRegression",
            ("D² (deviance)", "RMSE"),
            effect=LOG_OF_MEAN,
            least=0.0,
        ),
        Task(
            "negative-binomial",
            "Negative binomial regression",
            "SparseNegativeBinomialRegression",
            ("D² (negative binomial)", "RMSE"),
            parameters=("dispersion",),
            effect=LOG_OF_MEAN,
            meaning="the variance of a count with the mean m is m + {dispersion:.4g}·m²",
            least=0.0,
        ),
        Task(
            "gamma",
            "Gamma regression",
            "SparseGammaRegression",
            ("D² (gamma)", "RMSE"),
            effect=LOG_OF_MEAN,
            least=0.0,
            allows_least=False,
        ),
        Task(
            "tweedie",
            "Tweedie regression",
            "SparseTweedieRegression",
            ("D² (Tweedie)", "RMSE"),
            parameters=("power",),
            effect=LOG_OF_MEAN,
            least=0.0,
        ),
        Task("huber", "Huber regression", "SparseHuberRegression", ("R²", "RMSE", "Median |error|")),
        Task(
            "quantile",
            "Quantile regression",
            "SparseQuantileRegression",
            ("D² (check loss)", "Check loss"),
            parameters=("quantile",),
            effect="predicted {quantile:g}-quantile of {}",
            constant="{quantile:g}-quantile",
        ),
        Task(
            "cox",
            "Cox regression",
            "SparseCoxRegression",
            ("C-index",),
            effect="logarithm of the hazard of an event at {}",
            is_survival=True,
        ),
        Task(
            "svm",
            "Support vector machine",
            "SparseLinearSVC",
            ("Accuracy", "Balanced accuracy", "ROC AUC"),
            has_classes=True,
            takes_offset=False,
        ),
    )
}
#: Least squares of several targets. Errors in units of a target are given for each of them.
SEVERAL = replace(TASKS["regression"], scores=("R²",), has_several=True)
#: Scores of each of several targets.
SCORES_OF_EACH = TASKS["regression"].scores
