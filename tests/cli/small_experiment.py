"""An experiment that takes no time, for tests of the command that runs experiments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ksparse.datasets import missing_rcv1
from ksparse.experiments import Claim, Experiment, Picture, Settings, Table, Task, TextTable
from ksparse.experiments.claims import falls, verdict

#: Why a claim does not hold.
WHY = "There are errors in all of them."


@dataclass(frozen=True)
class Few(Settings):
    sizes: tuple[int, ...] = (1, 2, 3)


class Small(Experiment):
    """An experiment that takes no time, and counts how often it is run."""

    name, title, paper, text = "small", "A <small> one", "Figure 0", "Nothing is done."
    runs: list[int]

    def __init__(self) -> None:
        self.runs = []
        self.fails_at: int | None = None
        self.error: type[BaseException] = KeyboardInterrupt

    def settings(self, scale: Any) -> Few:
        return Few((1, 2)) if scale == "quick" else Few()

    def tasks(self, settings: Few) -> list[Task]:
        return [Task({"n": n}) for n in settings.sizes]

    def run(self, settings: Few, task: Task) -> list[dict[str, Any]]:
        n = task.place["n"]
        if n == self.fails_at:
            raise self.error("no\nluck")
        self.runs.append(n)
        return [{"method": method, "error": 1.0 / n} for method in ("GraHTP", "FBS")]

    def pictures(self, settings: Few, table: Table) -> list[Picture]:
        return [Picture("small", "A line & its name.", lambda figure: figure.add_subplot().plot([1, 2]))]

    def text_tables(self, settings: Few, table: Table) -> list[TextTable]:
        return [TextTable("All of it", ("n", "error"), [[row["n"], row["error"]] for row in table.rows])]

    def claims(self, settings: Few, table: Table) -> list[Claim]:
        return [
            Claim("Figure 0", "errors fall", falls(table, "error", "n", ("GraHTP",)), verdict([False], "never")),
            Claim("Figure 0", "nobody knows", verdict([], "")),
            Claim("Figure 0", "errors are none", verdict([False], "some"), reason=WHY),
        ]


class WithData(Small):
    name, title = "with-data", "One with data"

    def unavailable(self) -> str | None:
        return missing_rcv1()


def with_data(folder: Path) -> Path:
    """A folder that looks as if it had the data."""
    data = folder / "data"
    (data / "text").mkdir(parents=True)
    (data / "text" / "rcv1_binary_subsets.npz").touch()
    return data


def command(folder: Path) -> str:
    """What the report says it was made with."""
    found = re.search(r"\| Command \| (.*) \|", (folder / "report.md").read_text())
    assert found
    return found[1]
