"""The committed report is what this code makes of the committed results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from reproduction.command import load_report
from reproduction.experiments import EXPERIMENTS
from reproduction.frames import read_csv, unique
from reproduction.report import Report, tabulate_claims

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.fixture(scope="module")
def report() -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("KSPARSE_DATA", raising=False)  # the run used substitutes for the paper's data
        return load_report(FOLDER, "full")


@pytest.mark.parametrize("name", [each.name for each in EXPERIMENTS])
def test_results_are_those_of_all_tasks_of_a_full_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    (experiment,) = (each for each in EXPERIMENTS if each.name == name)
    keys = pd.DataFrame(task.key for task in experiment.list_tasks(experiment.make_settings("full")))
    kept = read_csv(FOLDER / f"{name}.csv")[list(keys)].drop_duplicates()
    assert kept.merge(keys).shape == keys.shape == kept.shape


def test_table_1_has_equal_priors_for_all_fits() -> None:
    kept = read_csv(FOLDER / "breast-cancer.csv")
    counts = kept["kind"].value_counts()
    assert counts["main, equal priors"] == counts["main"] == 500
    assert counts["by all, equal priors"] == counts["by all"] == 200
    assert set(unique(kept, "replication")) == set(range(100))


@pytest.mark.slow
def test_claims_are_computed_from_the_results(report: Report) -> None:
    committed = pd.read_csv(FOLDER / "claims.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(tabulate_claims(report.results), committed)


@pytest.mark.slow
def test_the_markdown_report_is_made_from_the_results(report: Report) -> None:
    assert report.render("report.md").splitlines() == (FOLDER / "report.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_figures_are_those_of_the_report(report: Report) -> None:
    names = {f"{name}.svg" for result in report.results for name in result.svgs}
    assert names == {path.name for path in FOLDER.glob("*.svg")}
