"""What a quick run gives, in short: means of each measure over replications.

    python -m tests.experiments.golden

writes `golden.csv` again, after a change that is meant to change results.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from ksparse.experiments import Experiment, Table, experiment_named
from ksparse.threads import one_thread

FILE = Path(__file__).with_name("golden.csv")
#: For each experiment that needs no data: which rows, what distinguishes settings, and which measures are compared.
SUMMARIES: dict[str, tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "logistic-n": ({"kind": "main"}, ("n", "method"), ("error", "loss", "recall")),
    "logistic-k": ({"kind": "main"}, ("k", "method"), ("error", "loss", "recall")),
    "precision": ({"kind": "main"}, ("p", "method"), ("error", "fscore", "edges", "held_out")),
    "heatmaps": ({}, ("method",), ("error", "fscore", "edges")),
    "compressed-sensing": ({"kind": "main"}, ("coefficients", "k", "method"), ("success",)),
    "theory": ({}, ("part", "method"), ("monotone", "ended", "error")),
}


def quick_results(experiment: Experiment) -> Table:
    """A quick run, as the command makes it."""
    settings = experiment.settings("quick")
    with one_thread():
        return Table(
            {**task.place, **row} for task in experiment.tasks(settings) for row in experiment.run(settings, task)
        )


def summary(name: str, table: Table) -> list[dict[str, Any]]:
    """Means, with their standard errors, of the measures in each setting."""
    chosen, names, measures = SUMMARIES[name]
    rows = table.where(**chosen).rows
    places = dict.fromkeys(tuple(row.get(part) for part in names) for row in rows)
    lines = []
    for place in places:
        here = Table(rows).where(**dict(zip(names, place, strict=True)))
        for measure in measures:
            if here.values(measure).size:
                words = ", ".join(str(part) for part in place)
                mean, error = here.mean(measure), here.error(measure)
                lines.append({"experiment": name, "place": words, "measure": measure, "mean": mean, "error": error})
    return lines


def known(name: str) -> list[dict[str, str]]:
    """The lines of an experiment in the file."""
    lines = csv.DictReader(FILE.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["experiment"] == name]


if __name__ == "__main__":
    everything = [line for name in SUMMARIES for line in summary(name, quick_results(experiment_named(name)))]
    FILE.write_text(Table(everything).csv(), encoding="utf-8")
    sys.stdout.write(f"{len(everything)} lines in {FILE}\n")
