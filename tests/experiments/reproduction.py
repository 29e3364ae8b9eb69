"""The report of the full run that the documentation holds, made again from its results.

    python -m tests.experiments.reproduction

writes it, after a change of words, figures or verdicts; the results stay what they are.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any

from ksparse.experiments import EXPERIMENTS, Table
from ksparse.experiments.files import report_files
from ksparse.experiments.report import Finished, Report

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
#: Columns whose digits are no number.
WORDS = ("found",)


def kept_results(name: str) -> Table:
    """All rows of an experiment."""
    return Table(
        {column: text if column in WORDS else _value(text) for column, text in line.items() if text}
        for line in _lines(f"{name}.csv")
    )


def kept_report() -> Report:
    """What the results of the full run show, if KSPARSE_DATA does not name a folder with the paper's own data."""
    made_with = {line["name"]: line["value"] for line in _lines("made-with.csv")}
    return Report(
        [Finished(each, each.settings("full"), kept_results(each.name)) for each in EXPERIMENTS], {}, made_with
    )


def _lines(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / file).read_text(encoding="utf-8").splitlines()))


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    # The run had the data that stand in for the paper's.
    os.environ.pop("KSPARSE_DATA", None)
    files = report_files(kept_report())
    for name, content in files.items():
        (FOLDER / name).write_text(content, encoding="utf-8")
    sys.stdout.write(f"{len(files)} files in {FOLDER}\n")
