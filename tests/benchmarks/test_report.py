"""The pages are rendered from the committed results, and verdicts follow from rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from suite import report
from suite.cases import CASES, make_quick
from suite.data import set_path, simulate_correlated, simulate_glm, simulate_graph
from suite.limit_page import render_limit_page
from suite.methods import METHODS
from suite.report import render, write_report
from suite.results import DONE, FAILED, TIMED_OUT, Row, append_row, keep_best_settings, read_rows
from suite.summaries import Comparison
from suite.targets import TARGETS
from suite.tasks import Task

ROOT = Path(__file__).parents[2]


def test_the_page_is_rendered_from_the_results() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text() == render(ROOT / "benchmarks" / "results")


def test_the_limit_page_is_rendered_from_its_tables() -> None:
    assert (ROOT / "docs" / "limit.md").read_text() == render_limit_page(ROOT / "benchmarks" / "results")


def test_the_limit_page_marks_missed_targets(tmp_path: Path) -> None:
    fit = "dense,linear,10,20,2,float64,C,1,5,8,0.01,1.5,3,0.1,{ratio},{memory}"
    names = "kind,model,n,p,k,dtype,order,threads,repeats,megabytes,pass_seconds,gigabytes_per_second,passes,seconds"
    rows = [f"{names},ratio,memory", fit.format(ratio=1.99, memory=1.31), fit.format(ratio=2.01, memory=1.29)]
    (tmp_path / "limit_fits.csv").write_text("\n".join(rows))
    page = render_limit_page(tmp_path)
    assert "| 1.99 | **1.31** |" in page
    assert "| **2.01** | 1.29 |" in page


def make_row(method: str, seed: int = 0, objective: float = 1.0, seconds: float = 1.0, **fields: object) -> Row:
    values = {"case": "paper_logistic", "variant": "n = 500", "setting": "", "threads": 1, "status": DONE} | fields
    return Row(method=method, seed=seed, objective=objective, seconds=seconds, **values)  # type: ignore[arg-type]


def compare(*rows: Row) -> Comparison:
    return Comparison(list(rows), "ksparse", 60.0)


def judge(case: str, *rows: Row) -> list[str]:
    return [str(target.judge(compare(*rows))) for target in TARGETS[case]]


def test_concordance_is_judged_by_paired_differences() -> None:
    """The standard error of three splits is that of the mean, times √(1 + 3·0.3/0.7)."""
    rows = []
    for seed, ours, ridge, peer, other in (
        (0, 0.30, 0.20, 0.28, 0.5),
        (1, 0.35, 0.2, 0.36, 0.5),
        (2, 0.4, 0.2, 0.37, 0.5),
    ):
        values = {"ksparse": ours, "ksparse, ridge by CV": ridge, "Coxnet": peer, "abess": other}
        rows += [make_row(name, seed, case="survival", test_error=error) for name, error in values.items()]
    _, plain, with_ridge, _, _ = (target.judge(compare(*rows)) for target in TARGETS["survival"])
    differences = np.array([-0.02, 0.01, -0.03])
    error = differences.std(ddof=1) * np.sqrt(1 / 3 + 3 / 7)
    assert str(plain) == f"{differences.mean():+.3f} ± {error:.3f} (Coxnet)"
    assert plain is not None
    assert plain.met is True
    assert with_ridge is not None
    assert with_ridge.met is True
    worse = [replace(row, test_error=row.test_error + 0.03) if row.method == "ksparse" else row for row in rows]
    verdict = TARGETS["survival"][1].judge(compare(*worse))
    assert verdict is not None
    assert verdict.met is False


def test_targets_met() -> None:
    ours = [make_row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    scope = [make_row("skscope Scope", seed, 1.05 if seed else 0.99, 3.0) for seed in range(5)]
    abess = [make_row("abess", seed, 1.2, 0.5) for seed in range(5)]
    assert judge("paper_logistic", *ours, *scope, *abess) == ["4 of 5 (skscope Scope)", "30×", "5.0×"]


def test_missed_targets_name_the_peer() -> None:
    ours = [make_row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    scope = [make_row("skscope Scope", seed, 1.05, 1.0) for seed in range(5)]
    abess = [make_row("abess", seed, 0.9 if seed < 2 else 1.2, 0.05) for seed in range(5)]
    assert judge("paper_logistic", *ours, *scope, *abess) == [
        "**3 of 5 (abess)**",
        "**10× (skscope Scope)**",
        "**0.5× (abess)**",
    ]


def test_a_target_is_met_if_no_peer_is_near() -> None:
    assert judge("paper_logistic", make_row("ksparse"), make_row("skscope OMP", objective=2.0))[1] == "none within 10 %"


def test_a_peer_that_times_out_gives_a_bound() -> None:
    timed_out = make_row("abess", status=TIMED_OUT, objective=np.nan, seconds=np.nan)
    assert judge("sparse_text", make_row("ksparse", seconds=0.5), timed_out)[3] == "> 120×"
    assert judge("sparse_text", make_row("ksparse", seconds=2.0), timed_out)[3] == "> 30× (time limit)"


def judge_time(*peers: Row) -> str:
    """Return the verdict on our time relative to L1; ksparse selects ten features in 0.5 s with objective 1."""
    return judge("sparse_text", *(make_row("ksparse", seed, seconds=0.5, features=10.0) for seed in range(2)), *peers)[
        2
    ]


def test_time_is_compared_with_l1_solvers_that_select_enough_features() -> None:
    """A solver with far fewer than k features may be fast; it counts only if it reaches our objective."""
    short = [make_row("L1 skglm", seed, 1.2, 0.25, features=7.0) for seed in range(2)]
    assert judge_time(*short) == "none has 95 % of k"
    assert judge_time(*short, make_row("L1 liblinear", 0, 1.2, 2.0, features=10.0)) == "4.0×"
    assert judge_time(short[0], replace(short[1], features=10.0)) == "**0.5× (L1 skglm)**"  # enough on one of two seeds
    assert judge_time(*(replace(one, objective=1.0) for one in short)) == "**0.5× (L1 skglm)**"


def test_a_failed_solver_does_not_decide_the_target() -> None:
    failed = make_row("L1 skglm", status=FAILED, objective=np.nan, seconds=np.nan)
    timed_out = replace(failed, method="L1 liblinear", status=TIMED_OUT)
    assert judge_time(failed) == "failed"
    assert judge_time(failed, timed_out) == "> 120×"
    assert judge_time(failed, make_row("L1 liblinear", 0, 1.2, 0.25, features=7.0)) == "none has 95 % of k"
    assert judge_time() == "None"


def test_a_target_that_is_not_measured_is_not_met(tmp_path: Path) -> None:
    assert judge("paper_logistic", make_row("ksparse")) == ["None"] * 3
    append_row(tmp_path, make_row("ksparse"))
    append_row(tmp_path, make_row("abess", objective=1.1, seconds=2.0))
    text = render(tmp_path)  # one of three variants
    assert "| faster than abess | ? 2.0× · — · — |" in text
    assert " 0 of 24 targets are met, " in text


def test_a_method_that_mostly_fails_has_no_median() -> None:
    """It may have done only the easy seeds."""
    ours = [make_row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    easy = [make_row("L1", seed, 0.5, 0.2) for seed in range(2)]
    crashed = [make_row("L1", seed, np.nan, np.nan, status=FAILED) for seed in range(2, 5)]
    timed_out = [replace(one, status=TIMED_OUT) for one in crashed]
    both = compare(*ours, *easy, *crashed)
    assert np.isnan(both.median("L1", "objective"))
    assert both.compute_ratio(["L1"]) is None
    assert both.format_done("L1") == "2 of 5"
    assert str(compare(*ours, *easy, *timed_out).compute_ratio(["L1"])) == "> 600×"
    most = compare(*ours, *easy, make_row("L1", 2, 0.7, 0.3), *crashed[1:])
    assert most.median("L1", "objective") == 0.5
    assert str(most.compute_ratio(["L1"])) == "2.0×"
    assert most.count_wins() == (2, "L1")  # wins are counted seed by seed


def test_a_target_for_all_peers_is_undecided_if_one_is_missing(tmp_path: Path) -> None:
    for threads in (1, 2):
        append_row(tmp_path, make_row("ksparse", threads=threads))
        append_row(tmp_path, make_row("abess", objective=1.1, seconds=2.0, threads=threads))
    append_row(tmp_path, make_row("L1 (skglm)", objective=1.2))
    assert "4 of 5 seeds | ? 1 of 1 · — · — | ? 1 of 1 · — · — |" in render(tmp_path)
    wins = TARGETS["paper_logistic"][0]
    comparisons = report._compare(tmp_path, CASES[0])
    verdicts = [report._judge_variant(wins, "n = 500", comparisons, threads) for threads in (1, 2)]
    assert [verdict.met for verdict in verdicts if verdict is not None] == [True, None]


def test_the_best_setting_is_kept() -> None:
    rows = [
        make_row("skscope HTP", setting="4", objective=0.3),
        make_row("skscope HTP", setting="16", objective=0.2, seconds=9.0),
        make_row("skscope HTP", setting="64", status=FAILED, objective=np.nan),
    ]
    assert [kept.setting for kept in keep_best_settings(rows)] == ["16"]


def test_rows_round_trip_and_the_last_one_is_kept(tmp_path: Path) -> None:
    first = make_row("ksparse", detail="a | b,\n c", recall=0.5, cpu_seconds=0.75)
    append_row(tmp_path, first)
    append_row(tmp_path, make_row("abess", status=FAILED))
    append_row(tmp_path, replace(first, objective=0.25))
    kept = {found.method: found for found in read_rows(tmp_path, "paper_logistic")}
    assert (kept["ksparse"].objective, kept["ksparse"].detail, kept["ksparse"].recall) == (0.25, "a | b, c", 0.5)
    assert kept["ksparse"].cpu_seconds == 0.75
    assert np.isnan(kept["ksparse"].test_error)
    assert kept["abess"].status == FAILED
    assert read_rows(tmp_path, "paths") == []


def test_failures_are_shown_in_the_tables(tmp_path: Path) -> None:
    append_row(tmp_path, make_row("ksparse"))
    append_row(tmp_path, make_row("skscope OMP", status=FAILED, detail="ValueError: nothing | here", objective=np.nan))
    append_row(tmp_path, make_row("abess", status=TIMED_OUT, detail="> 60 s", objective=np.nan))
    text = render(tmp_path)
    assert "failed: ValueError: nothing \\| here" in text
    assert "timed out: > 60 s" in text
    assert "not measured" in text  # the other cases


def test_the_page_warns_of_a_busy_machine(tmp_path: Path) -> None:
    append_row(tmp_path, make_row("ksparse", seconds=1.0, cpu_seconds=0.95))
    assert "busy" not in render(tmp_path)
    append_row(tmp_path, make_row("ksparse", seconds=3.0, cpu_seconds=1.0))
    assert "wall-clock time was 3.0 times the CPU time" in render(tmp_path)


def test_differences_of_test_errors_are_averaged_over_tables(tmp_path: Path) -> None:
    """Seeds without a peer's result do not count, nor do tables where the peer mostly failed."""
    for table, ours, theirs in (
        ("rossi, k = 3", (0.30, 0.32, 0.9), (0.31, 0.35, None)),
        ("pbc, k = 6", (0.2, 0.2, 0.2), (0.19, 0.2, 0.18)),
        ("gbsg2, k = 4", (0.1, 0.1, 0.1), (0.5, None, None)),
    ):
        for seed, errors in enumerate(zip(ours, theirs, strict=True)):
            for name, error in zip(("ksparse", "abess"), errors, strict=True):
                status = DONE if error is not None else TIMED_OUT
                row = make_row(name, seed, case="survival", variant=table, test_error=error or np.nan, status=status)
                append_row(tmp_path, row)
    means = np.array([0.02, -0.01])
    error = means.std(ddof=1) / np.sqrt(2)
    assert f"| abess | {means.mean():+.4f} ± {error:.4f} (2 of 3) |" in render(tmp_path)


def test_figures_and_page_are_written(tmp_path: Path) -> None:
    append_row(tmp_path, make_row("ksparse"))
    append_row(tmp_path, make_row("abess", objective=1.1))
    docs = tmp_path / "docs"
    docs.mkdir()
    assert write_report(tmp_path, docs) == (docs / "benchmarks.md").read_text()
    assert (docs / "images" / "benchmark_paper_logistic.png").stat().st_size > 1000


def test_cases_have_known_methods_and_targets() -> None:
    assert set(TARGETS) == {case.name for case in CASES}
    for case in CASES:
        for variant in (*case.variants, *make_quick(case).variants):
            assert set(variant.methods) <= set(METHODS)
            assert variant.methods[0].startswith("ksparse")


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_simulations_are_reproducible_and_tasks_round_trip(kind: str, tmp_path: Path) -> None:
    for make in (simulate_glm, simulate_correlated):
        one, two, other = (make(kind, 50, 30, 3, seed) for seed in (0, 0, 1))
        np.testing.assert_array_equal(one.task.X, two.task.X)
        assert not np.array_equal(one.task.y, other.task.y)
        assert len(one.truth) == one.task.k == 3
        one.task.save(tmp_path / make.__name__)
        again = Task.load(tmp_path / make.__name__)
        np.testing.assert_array_equal(again.X, one.task.X)
        assert (again.kind, again.k, again.alpha, again.penalty) == (kind, 3, one.task.alpha, None)
    assert set_path(one, (1, 2, 5)).task.k == 5


def test_a_graph_has_a_penalty_only_if_requested() -> None:
    assert simulate_graph(40, 20, 0, with_lasso_penalty=False).task.penalty is None
    assert simulate_graph(40, 20, 0).task.penalty is not None
