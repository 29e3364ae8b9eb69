"""The paper's §5.2, simulation: how often each entry of a precision matrix is found (Figure 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ksparse.datasets import make_precision, sample_precision

from ..base import Array, Experiment, Picture, Row, Scale, Task
from ..claims import Claim, combine, judge_better
from ..drawing import INK
from ..frames import count_runs, select_rows
from ..graphs import (
    GRAPH_METHOD_NAMES,
    GRAPH_METHODS,
    GREEDY,
    GraphSettings,
    describe_graph_steps,
    find_edges,
    fit_tuned,
)
from ..methods import DEFAULT
from .precision import compute_covariances, measure_fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["HeatmapSettings", "Heatmaps", "compute_frequencies", "encode_edges"]


@dataclass(frozen=True)
class HeatmapSettings(GraphSettings):
    """Settings of the experiment, beyond how matrices are fitted.

    Attributes
    ----------
    replications : int
        Pairs of samples, all of one Ω̄; 100 in the paper.
    p, n, probability
        As in the paper: variables, samples for training and as many for tuning, probability of an edge.
    seed : int
        Seed of Ω̄.
    """

    replications: int = 100
    p: int = 60
    n: int = 100
    probability: float = 0.1
    seed: int = 0


class Heatmaps(Experiment):
    """Figure 5."""

    name = "heatmaps"
    title = "Which entries of a precision matrix are found"
    paper = "Figure 5"
    text = (
        "The simulation of Figure 4 with p = 60, and for each pair the fraction of the replications in which its entry"
        " exceeds 1e-3. All replications have the same Ω̄ and samples of their own, since the paper's figure shows one"
        " truth beside the frequencies."
    )

    def make_settings(self, scale: Scale) -> HeatmapSettings:
        return HeatmapSettings(replications={"quick": 2, "standard": 10, "full": 100}[scale])

    def list_tasks(self, settings: HeatmapSettings) -> list[Task]:
        return [Task({"replication": replication}) for replication in range(settings.replications)]

    def run(self, settings: HeatmapSettings, task: Task) -> list[Row]:
        truth = _make_truth(settings)
        covariance, held_out = compute_covariances(_sample(settings, task.key["replication"]), settings.n)
        rows = []
        for method in GRAPH_METHODS:
            fit = fit_tuned(method, settings, covariance, [(covariance, held_out)]).fit
            rows.append({**measure_fit(method, fit, covariance, truth), "found": encode_edges(fit.omega)})
        return rows

    def draw_pictures(self, settings: HeatmapSettings, frame: pd.DataFrame) -> list[Picture]:
        truth = _make_truth(settings)

        def draw(figure: Figure) -> None:
            axes = figure.subplots(2, 3).ravel()
            _draw_matrix(axes[0], (truth != 0).astype(np.float64), "truth")
            for ax, method in zip(axes[1:], GRAPH_METHOD_NAMES, strict=True):
                image = _draw_matrix(ax, compute_frequencies(frame, method, settings.p), method)
            figure.colorbar(image, ax=list(axes), shrink=0.6, label="fraction of the replications")

        caption = (
            f"Over {count_runs(frame)} of one Ω̄ with p = {settings.p}; the diagonal is always nonzero."
            f" {describe_graph_steps(settings)}"
        )
        title = f"{self.paper}: how often each entry of the precision matrix is found"
        return [Picture(self.name, title, caption, draw, (9.6, 6.2), opening=True)]

    def judge_claims(self, settings: HeatmapSettings, frame: pd.DataFrame) -> list[Claim]:
        sparser = {name: judge_better(frame, "edges", "replication", name, ("GLasso",)) for name in (*GREEDY, DEFAULT)}
        default = sparser.pop(DEFAULT)
        return [Claim(self.paper, "GraHTP, GraSP and FBS tend to be sparser than GLasso", combine(sparser), default)]


def _make_truth(settings: HeatmapSettings) -> Array:
    """Ω̄ of all replications."""
    return make_precision(1, settings.p, settings.probability, random_state=settings.seed).precision


def _sample(settings: HeatmapSettings, replication: int) -> Array:
    """Samples of a replication, to fit Ω and to choose k."""
    return sample_precision(_make_truth(settings), 2 * settings.n, [settings.seed, replication])


def encode_edges(omega: Array) -> str:
    """A 1 for each pair above the diagonal that is found and a 0 for each other pair, row by row."""
    return "".join("1" if found else "0" for found in find_edges(omega))


def compute_frequencies(frame: pd.DataFrame, method: str, p: int) -> Array:
    """The fraction of a method's results in which each entry is found; the identity if there are no results."""
    rows = select_rows(frame, method=method)
    matrix = np.zeros((p, p))
    if len(rows):
        flags = np.array([list(text) for text in rows["found"]]) == "1"
        matrix[np.triu_indices(p, 1)] = flags.mean(axis=0)
    return matrix + matrix.T + np.eye(p)


def _draw_matrix(ax: Axes, frequencies: Array, title: str) -> AxesImage:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("frequency", [(0.0, "white"), (0.6, "#2166ac"), (1.0, "#053061")])
    image = ax.imshow(frequencies, cmap=colours, vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set_title(title, fontsize=10, color=INK)
    ax.set_xticks([])
    ax.set_yticks([])
    return image
