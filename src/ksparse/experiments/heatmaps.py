"""The paper's §5.2, simulation: how often each entry of a precision matrix is found (Figure 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._types import Array
from ..datasets import make_precision, sample_precision
from ..plots._heat import colours_of
from ..plots._style import INK
from .base import Experiment, Figures, Picture, Scale, Task
from .claims import Claim, compared, joined
from .graphs import GRAPH_METHODS, GREEDY, METHODS, GraphSettings, best_fit, found_pairs, graph_captions
from .methods import DEFAULT
from .precision import measured_fit, sample_covariances
from .tables import Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["HeatmapSettings", "Heatmaps", "as_text", "frequencies"]


@dataclass(frozen=True)
class HeatmapSettings(GraphSettings):
    """All numbers of the experiment, beside how matrices are fitted.

    Attributes
    ----------
    replications : int
        Pairs of samples, of one Ω̄; 100 in the paper.
    p, n, probability
        As in the paper: variables, samples for training and as many for tuning, chance of an edge.
    seed : int
        Of Ω̄.
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
        "The simulation of Figure 4 with p = 60, and for each pair the share of the replications in which its entry"
        " exceeds 1e-3. One Ω̄ serves all replications, of which each has samples of its own, since the paper's figure"
        " has one truth beside the frequencies."
    )

    def settings(self, scale: Scale) -> HeatmapSettings:
        return HeatmapSettings(replications={"quick": 2, "standard": 10, "full": 100}[scale])

    def tasks(self, settings: HeatmapSettings) -> list[Task]:
        return [Task({"replication": replication}) for replication in range(settings.replications)]

    def run(self, settings: HeatmapSettings, task: Task) -> list[Row]:
        truth = _precision(settings)
        covariance, held_out = sample_covariances(_samples(settings, task.place["replication"]), settings.n)
        rows = []
        for method in GRAPH_METHODS:
            fit, _, _ = best_fit(method, settings, covariance, [(covariance, held_out)])
            rows.append({**measured_fit(method, fit, covariance, truth), "found": as_text(fit.omega)})
        return rows

    def pictures(self, settings: HeatmapSettings, table: Table) -> Figures:
        truth = _precision(settings)

        def draw(figure: Figure) -> None:
            axes = figure.subplots(2, 3).ravel()
            _heat(axes[0], (truth != 0).astype(np.float64), "truth")
            for ax, method in zip(axes[1:], METHODS, strict=True):
                image = _heat(ax, frequencies(table, method, settings.p), method)
            figure.colorbar(image, ax=list(axes), shrink=0.6, label="share of the replications")

        caption = (
            f"{self.paper}: how often each entry is found, over {table.repeats()} of one Ω̄ with p ="
            f" {settings.p}; the diagonal always is. {graph_captions(settings)}"
        )
        return [Picture(self.name, caption, draw, (9.6, 6.2))]

    def claims(self, settings: HeatmapSettings, table: Table) -> list[Claim]:
        return [
            Claim(
                self.paper,
                "GraHTP, GraSP and FBS tend to be sparser than GLasso",
                joined({name: compared(table, "edges", "replication", name, ("GLasso",)) for name in GREEDY}),
                compared(table, "edges", "replication", DEFAULT, ("GLasso",)),
            )
        ]


def _precision(settings: HeatmapSettings) -> Array:
    """Ω̄ of all replications."""
    return make_precision(1, settings.p, settings.probability, random_state=settings.seed).precision


def _samples(settings: HeatmapSettings, replication: int) -> Array:
    """Those of a replication, to fit Ω to and to choose k by."""
    return sample_precision(_precision(settings), 2 * settings.n, [settings.seed, replication])


def as_text(omega: Array) -> str:
    """A 1 for each pair above the diagonal that is found and a 0 for each other, in the order of rows."""
    return "".join("1" if found else "0" for found in found_pairs(omega))


def frequencies(table: Table, method: str, p: int) -> Array:
    """The share of a method's results in which each entry is found; all zero but the diagonal if there are none."""
    texts = [row["found"] for row in table.where(method=method).rows]
    matrix = np.zeros((p, p))
    if texts:
        counts = np.sum([np.frombuffer(text.encode(), dtype=np.uint8) - ord("0") for text in texts], axis=0)
        matrix[np.triu_indices(p, 1)] = counts / len(texts)
    return matrix + matrix.T + np.eye(p)


def _heat(ax: Axes, shares: Array, title: str) -> AxesImage:
    image = ax.imshow(shares, cmap=colours_of("frequency"), vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set_title(title, fontsize=10, color=INK)
    ax.set_xticks([])
    ax.set_yticks([])
    return image
