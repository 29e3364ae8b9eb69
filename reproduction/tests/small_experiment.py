"""An experiment that takes no time, for tests of the command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.base import Experiment, Picture, Row, Settings, Task, TextTable
from reproduction.claims import Claim, judge, judge_trend
from reproduction.data import find_missing_rcv1

#: Why a claim does not hold.
REASON = "There are errors in all of them."


@dataclass(frozen=True)
class Few(Settings):
    sizes: tuple[int, ...] = (1, 2, 3)


class Small(Experiment):
    """An experiment that counts how often it is run."""

    name, title, paper, text = "small", "A <small> one", "Figure 0", "Nothing is done."

    def __init__(self) -> None:
        self.runs: list[int] = []
        self.fails_at: int | None = None
        self.error: type[BaseException] = KeyboardInterrupt

    def make_settings(self, scale: Any) -> Few:
        return Few((1, 2)) if scale == "quick" else Few()

    def list_tasks(self, settings: Few) -> list[Task]:
        return [Task({"n": n}) for n in settings.sizes]

    def run(self, settings: Few, task: Task) -> list[Row]:
        n = task.key["n"]
        if n == self.fails_at:
            raise self.error("no luck")
        self.runs.append(n)
        return [{"method": method, "error": 1.0 / n} for method in ("GraHTP", "FBS")]

    def draw_pictures(self, settings: Few, frame: pd.DataFrame) -> list[Picture]:
        def draw(figure: Any) -> None:
            figure.add_subplot().plot([1, 2])

        return [
            Picture("small", "A line & its name", "It rises.", draw, opening=True),
            Picture("detail", "A detail", "It rises too.", draw),
        ]

    def make_tables(self, settings: Few, frame: pd.DataFrame) -> list[TextTable]:
        rows = [[n, f"{error:.3g}"] for n, error in zip(frame["n"], frame["error"], strict=True)]
        return [TextTable("All of it", "Each error.", ("n", "error"), rows)]

    def judge_claims(self, settings: Few, frame: pd.DataFrame) -> list[Claim]:
        falling = judge_trend(frame, "error", "n", ("GraHTP",), -1.0)
        return [
            Claim("Figure 0", "errors fall", falling, judge([False], "never")),
            Claim("Figure 0", "it is unknown", judge([], "")),
            Claim("Figure 0", "there are no errors", judge([False], "some | many"), reason=REASON),
        ]


class WithData(Small):
    name, title = "with-data", "One with data"

    def find_missing_data(self) -> str | None:
        return find_missing_rcv1()


def make_data_folder(folder: Path) -> Path:
    """A folder that seems to have the data."""
    data = folder / "data"
    (data / "text").mkdir(parents=True)
    (data / "text" / "rcv1_binary_subsets.npz").touch()
    return data
