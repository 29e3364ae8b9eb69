"""The means of a quick run, which tests compare with those in `golden.csv`.

    python -m reproduction.tests.golden

writes the file again, after a change that should change results.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from reproduction.frames import read_csv, select_rows, to_csv

from .helpers import experiment_named, results

FILE = Path(__file__).with_name("golden.csv")
#: For each experiment that needs no data: which rows, which columns distinguish settings, and what is compared.
#: Replications of matrices, of which there are two, are separate settings.
SUMMARIES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "logistic-n": ({"kind": "main"}, ["n", "method"], ["error", "loss", "recall", "iterations"]),
    "logistic-k": ({"kind": "main"}, ["k", "method"], ["error", "loss", "recall", "iterations"]),
    "precision": (
        {},
        ["kind", "p", "replication", "multiple", "method"],
        ["error", "loss", "fscore", "edges", "held_out", "iterations"],
    ),
    "heatmaps": ({}, ["replication", "method"], ["error", "loss", "fscore", "edges", "iterations"]),
    "compressed-sensing": ({"kind": "main"}, ["coefficients", "k", "method"], ["success", "iterations"]),
    "theory": (
        {},
        ["part", "loss", "n", "k", "p", "noise", "multiple", "method"],
        ["error", "monotone", "ended", "iterations", "bound", "gradient"],
    ),
}


#: What is less than in a quick run: rows that are not compared, and repetitions, which would add no settings.
LESS: dict[str, dict[str, Any]] = {
    "logistic-n": {"steps_at": ()},
    "theory": {"replications": 1, "floor_replications": 2},
}


def run_quickly(name: str) -> pd.DataFrame:
    """The results of a quick run, or of less."""
    experiment = experiment_named(name)
    return results(experiment, replace(experiment.make_settings("quick"), **LESS.get(name, {})))


def summarize_golden(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Mean of each measure in each setting."""
    chosen, columns, measures = SUMMARIES[name]
    means = select_rows(frame, **chosen).groupby(columns, sort=False, dropna=False)[measures].mean()
    settings = [", ".join(_words(value) for value in key if not pd.isna(value)) for key in means.index]
    lines = means.set_axis(pd.Index(settings, name="setting")).reset_index()
    lines = lines.melt("setting", var_name="measure", value_name="mean").dropna()
    return lines.assign(experiment=name)[["experiment", "setting", "measure", "mean"]]


def _words(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def read_golden(name: str) -> pd.DataFrame:
    """The lines of an experiment in the file."""
    return select_rows(read_csv(FILE), experiment=name)


if __name__ == "__main__":
    everything = pd.concat([summarize_golden(name, run_quickly(name)) for name in SUMMARIES])
    FILE.write_text(to_csv(everything), encoding="utf-8")
    sys.stdout.write(f"{len(everything)} lines in {FILE}\n")
