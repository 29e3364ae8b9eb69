"""The page of predictions is rendered from the committed results; verdicts follow from rows; options are checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import prediction
import pytest
from prediction_suite.page import render_page, write_page
from prediction_suite.rows import RealRow, SimulationRow, append_rows, read_rows, rewrite_rows
from prediction_suite.runs import run_simulation
from prediction_suite.summaries import Comparison, compare_real, compare_simulation

ROOT = Path(__file__).parents[2]


def test_the_page_is_rendered_from_the_results() -> None:
    assert (ROOT / "docs" / "prediction.md").read_text() == render_page(ROOT / "benchmarks" / "results")


def make_row(method: str, replication: int, error: float, failure: str = "") -> SimulationRow:
    return SimulationRow("low", 1, 0.0, 0.05, replication, method, error, 3, 1.0, 1.0, 0.1, failure)


def compare(**errors: list[float]) -> Comparison:
    """Compare methods; an error of 0 is a failure."""
    rows = [
        make_row(method, number, error or np.nan, "" if error else "ValueError")
        for method, found in errors.items()
        for number, error in enumerate(found)
    ]
    (comparison,) = compare_simulation(rows, ["low"], [0.05]).values()
    return comparison


def test_the_best_peer_has_the_lowest_geometric_mean_and_differences_are_paired() -> None:
    best = compare(ksparse=[1.1, 2.1, 3.3], lasso=[1.0, 2.0, 3.0], abess=[0.5, 4.0, 9.0]).best
    assert best is not None
    assert best.peer == "lasso"
    logs = np.log([1.1, 1.05, 1.1])
    assert best.mean == pytest.approx(logs.mean())
    assert best.error == pytest.approx(logs.std(ddof=1) / np.sqrt(3))
    assert not best.is_met


@pytest.mark.parametrize(
    ("ours", "met", "strict"),
    [([0.9, 1.0, 1.0], True, True), ([0.9, 1.2, 1.0], True, False), ([1.2] * 3, False, False)],
)
def test_verdicts(ours: list[float], met: bool, strict: bool) -> None:
    best = compare(ksparse=ours, lasso=[1.0, 1.0, 1.0]).best
    assert best is not None
    assert (best.is_met, best.is_met_strictly) == (met, strict)


def test_failures_are_counted_and_only_common_data_compared() -> None:
    comparison = compare(ksparse=[2.0, 2.0, 2.0], lasso=[1.0, 1.0, 0.0, 9.0], abess=[0.5, 0.0, 0.0])
    assert comparison.count == 3
    assert comparison.count_failures("lasso") == 1
    assert comparison.peers == ["lasso"]
    assert comparison.subtract("lasso").mean == pytest.approx(np.log(2))


def test_without_ksparse_its_former_default_is_compared() -> None:
    comparison = compare(**{"ksparse (k only)": [2.0, 2.0], "lasso": [1.0, 1.0]})
    assert comparison.ours == "ksparse (k only)"
    both = compare(**{"ksparse (k only)": [0.1, 0.1], "ksparse": [1.0, 1.0], "lasso": [1.0, 1.0]})
    assert both.ours == "ksparse"
    assert both.peers == ["lasso"]


def test_real_losses_are_compared_by_differences() -> None:
    rows = [RealRow("colon", split, name, loss) for split in (0, 1) for name, loss in (("ksparse", 0.4), ("L1", 0.5))]
    best = compare_real(rows, ["colon", "golub"])["colon"].best
    assert best is not None
    assert best.mean == pytest.approx(-0.1)


def test_later_rows_replace_earlier_ones(tmp_path: Path) -> None:
    append_rows(tmp_path, [make_row("lasso", 0, 1.0), make_row("abess", 0, np.nan, "a, b\nc")])
    append_rows(tmp_path, [make_row("lasso", 0, 2.0)])
    rewrite_rows(tmp_path, SimulationRow)
    assert len((tmp_path / "prediction_simulation.csv").read_text().splitlines()) == 3
    rows = {row.method: row for row in read_rows(tmp_path, SimulationRow)}
    assert rows["lasso"].relative_error == 2.0
    assert rows["abess"].failure == "a; b c"


def test_a_run_continues_and_keeps_other_methods(tmp_path: Path) -> None:
    append_rows(tmp_path, [make_row("lasso", 0, 9.0), make_row("abess", 0, 8.0)])
    replications = {"low": 1}
    run_simulation(("lasso", "F-test + ridge"), ("low",), replications, tmp_path, False, most=2)
    rows = {(row.snr, row.method): row.relative_error for row in read_rows(tmp_path, SimulationRow)}
    assert len(rows) == 5
    assert (rows[0.05, "lasso"], rows[0.05, "abess"]) == (9.0, 8.0)
    run_simulation(("lasso",), ("low",), replications, tmp_path, True, most=1)
    rows = {(row.snr, row.method): row.relative_error for row in read_rows(tmp_path, SimulationRow)}
    assert rows[0.05, "lasso"] < 2.0
    text = write_page(tmp_path, tmp_path)
    assert "**low**: n = 100, p = 10, s = 5" in text
    assert (tmp_path / "images" / "prediction_error.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "nosuch"], "invalid choice: 'nosuch'"),
        (["--replications", "0"], "--replications 0: expected 1, 2"),
        (["--report"], "contains no results"),
        (["--quick"], "--quick writes no files"),
    ],
)
def test_invalid_options_are_rejected(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        prediction.main([*arguments, "--output", str(tmp_path / "mine")])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()
