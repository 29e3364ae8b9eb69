"""The report of the full run in the documentation is what this code makes of the results beside it."""

from __future__ import annotations

import pytest

from ksparse.experiments import EXPERIMENTS
from ksparse.experiments.markdown import markdown_report
from ksparse.experiments.report import claims_table

from .reproduction import FOLDER, kept_report, kept_results


@pytest.mark.parametrize("name", [each.name for each in EXPERIMENTS])
def test_results_are_those_of_all_tasks_of_a_full_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    (experiment,) = (each for each in EXPERIMENTS if each.name == name)
    places = [task.place for task in experiment.tasks(experiment.settings("full"))]
    kept = {tuple(row.get(part) for part in places[0]) for row in kept_results(name).rows}
    assert kept == {tuple(place.get(part) for part in places[0]) for place in places}


def test_verdicts_and_report_are_computed_from_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    report = kept_report()
    assert claims_table(report.finished).csv() == (FOLDER / "claims.csv").read_text(encoding="utf-8")
    assert markdown_report(report) == (FOLDER / "report.md").read_text(encoding="utf-8")
    drawn = {f"{picture.name}.svg" for each in report.finished for picture in each.pictures}
    assert drawn == {path.name for path in FOLDER.glob("*.svg")}
