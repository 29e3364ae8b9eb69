"""docs/benchmarks.md is what the committed results say, and verdicts follow from rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from suite import report
from suite.cases import CASES, quick
from suite.data import glm, graph, high_correlation, on_path
from suite.limits import limit_page
from suite.methods import METHODS
from suite.report import render, write_report
from suite.results import DONE, FAILED, LATE, Row, append, best_settings, read
from suite.summaries import Comparison
from suite.targets import TARGETS
from suite.tasks import Task

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_results_say() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text() == render(ROOT / "benchmarks" / "results")


def test_the_page_about_the_limit_is_what_its_tables_say() -> None:
    assert (ROOT / "docs" / "limit.md").read_text() == limit_page(ROOT / "benchmarks" / "results")


def test_the_page_about_the_limit_shows_what_is_missed(tmp_path: Path) -> None:
    fit = "dense,linear,10,20,2,float64,C,1,5,8,0.01,1.5,3,0.1,{ratio},{memory}"
    names = "kind,model,n,p,k,dtype,order,threads,repeats,megabytes,pass_seconds,gigabytes_per_second,passes,seconds"
    rows = [f"{names},ratio,memory", fit.format(ratio=1.99, memory=1.31), fit.format(ratio=2.01, memory=1.29)]
    (tmp_path / "limit_fits.csv").write_text("\n".join(rows))
    page = limit_page(tmp_path)
    assert "| 1.99 | **1.31** |" in page
    assert "| **2.01** | 1.29 |" in page


def row(method: str, seed: int = 0, objective: float = 1.0, seconds: float = 1.0, **others: object) -> Row:
    given = {"case": "paper_logistic", "variant": "n = 500", "setting": "", "threads": 1, "status": DONE} | others
    return Row(method=method, seed=seed, objective=objective, seconds=seconds, **given)  # type: ignore[arg-type]


def compared(*rows: Row) -> Comparison:
    return Comparison(list(rows), "ksparse", 60.0)


def verdicts(case: str, *rows: Row) -> list[str]:
    return [str(target.judge(compared(*rows))) for target in TARGETS[case]]


def test_targets_that_are_met() -> None:
    ours = [row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    scope = [row("skscope Scope", seed, 1.05 if seed else 0.99, 3.0) for seed in range(5)]
    abess = [row("abess", seed, 1.2, 0.5) for seed in range(5)]
    assert verdicts("paper_logistic", *ours, *scope, *abess) == ["4 of 5 (skscope Scope)", "30×", "5.0×"]


def test_targets_that_are_missed_name_the_peer() -> None:
    ours = [row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    scope = [row("skscope Scope", seed, 1.05, 1.0) for seed in range(5)]
    abess = [row("abess", seed, 0.9 if seed < 2 else 1.2, 0.05) for seed in range(5)]
    assert verdicts("paper_logistic", *ours, *scope, *abess) == [
        "**3 of 5 (abess)**",
        "**10× (skscope Scope)**",
        "**0.5× (abess)**",
    ]


def test_no_peer_near_is_said() -> None:
    assert verdicts("paper_logistic", row("ksparse"), row("skscope OMP", objective=2.0))[1] == "none within 10 %"


def test_a_peer_that_runs_out_of_time_gives_a_bound() -> None:
    late = row("abess", status=LATE, objective=np.nan, seconds=np.nan)
    assert verdicts("sparse_text", row("ksparse", seconds=0.5), late)[3] == "> 120×"
    assert verdicts("sparse_text", row("ksparse", seconds=2.0), late)[3] == "> 30×, given up"


def time_beside_l1(*rivals: Row) -> str:
    """The verdict on our time beside L1, where we find ten features in half a second with objective 1."""
    return verdicts("sparse_text", *(row("ksparse", seed, seconds=0.5, features=10.0) for seed in range(2)), *rivals)[2]


def test_l1_is_a_rival_where_it_finds_enough_features() -> None:
    """An L1 that stops short of k may be fast; it is no rival unless it has our objective."""
    short = [row("L1 skglm", seed, 1.2, 0.25, features=7.0) for seed in range(2)]
    assert time_beside_l1(*short) == "none has 95 % of k"
    assert time_beside_l1(*short, row("L1 liblinear", 0, 1.2, 2.0, features=10.0)) == "4.0×"
    assert time_beside_l1(short[0], replace(short[1], features=10.0)) == "**0.5× (L1 skglm)**"  # in one of two seeds
    assert time_beside_l1(*(replace(one, objective=1.0) for one in short)) == "**0.5× (L1 skglm)**"


def test_an_l1_that_fails_is_no_victory_over_one_that_does_not() -> None:
    failed = row("L1 skglm", status=FAILED, objective=np.nan, seconds=np.nan)
    late = replace(failed, method="L1 liblinear", status=LATE)
    assert time_beside_l1(failed) == "it fails"
    assert time_beside_l1(failed, late) == "> 120×"
    assert time_beside_l1(failed, row("L1 liblinear", 0, 1.2, 0.25, features=7.0)) == "none has 95 % of k"
    assert time_beside_l1() == "None"


def test_what_is_not_measured_does_not_count_as_met(tmp_path: Path) -> None:
    assert verdicts("paper_logistic", row("ksparse")) == ["None"] * 3
    append(tmp_path, row("ksparse"))
    append(tmp_path, row("abess", objective=1.1, seconds=2.0))
    text = render(tmp_path)  # one of three variants
    assert "| faster than abess | ? 2.0× · — · — |" in text
    assert "targets 0 are met, " in text


def test_medians_of_a_method_that_mostly_fails_do_not_count() -> None:
    """It may be done with the easy seeds alone."""
    ours = [row("ksparse", seed, 1.0, 0.1) for seed in range(5)]
    easy = [row("L1", seed, 0.5, 0.2) for seed in range(2)]
    crashed = [row("L1", seed, np.nan, np.nan, status=FAILED) for seed in range(2, 5)]
    late = [replace(one, status=LATE) for one in crashed]
    both = compared(*ours, *easy, *crashed)
    assert np.isnan(both.median("L1", "objective"))
    assert both.ratio(["L1"]) is None
    assert both.share_done("L1") == "2 of 5"
    assert str(compared(*ours, *easy, *late).ratio(["L1"])) == "> 600×"
    most = compared(*ours, *easy, row("L1", 2, 0.7, 0.3), *crashed[1:])
    assert most.median("L1", "objective") == 0.5
    assert str(most.ratio(["L1"])) == "2.0×"
    assert most.wins() == (2, "L1")  # on the same data, a lower objective is a lower objective


def test_a_target_among_all_peers_is_open_if_one_is_missing(tmp_path: Path) -> None:
    for threads in (1, 2):
        append(tmp_path, row("ksparse", threads=threads))
        append(tmp_path, row("abess", objective=1.1, seconds=2.0, threads=threads))
    append(tmp_path, row("L1 (skglm)", objective=1.2))
    assert "4 of 5 seeds | ? 1 of 1 · — · — | ? 1 of 1 · — · — |" in render(tmp_path)
    wins = TARGETS["paper_logistic"][0]
    comparisons = report._comparisons(tmp_path, CASES[0])
    verdicts = [report._verdict(wins, "n = 500", comparisons, threads) for threads in (1, 2)]
    assert [verdict.met for verdict in verdicts if verdict is not None] == [True, None]


def test_the_best_setting_counts() -> None:
    rows = [
        row("skscope HTP", setting="4", objective=0.3),
        row("skscope HTP", setting="16", objective=0.2, seconds=9.0),
        row("skscope HTP", setting="64", status=FAILED, objective=np.nan),
    ]
    assert [kept.setting for kept in best_settings(rows)] == ["16"]


def test_rows_survive_a_file_and_the_last_one_counts(tmp_path: Path) -> None:
    first = row("ksparse", detail="a | b,\n c", recall=0.5)
    append(tmp_path, first)
    append(tmp_path, row("abess", status=FAILED))
    append(tmp_path, replace(first, objective=0.25))
    kept = {found.method: found for found in read(tmp_path, "paper_logistic")}
    assert (kept["ksparse"].objective, kept["ksparse"].detail, kept["ksparse"].recall) == (0.25, "a | b, c", 0.5)
    assert np.isnan(kept["ksparse"].test_error)
    assert kept["abess"].status == FAILED
    assert read(tmp_path, "paths") == []


def test_failures_are_shown_in_the_tables(tmp_path: Path) -> None:
    append(tmp_path, row("ksparse"))
    append(tmp_path, row("skscope OMP", status=FAILED, detail="ValueError: nothing | here", objective=np.nan))
    append(tmp_path, row("abess", status=LATE, detail="> 60 s", objective=np.nan))
    text = render(tmp_path)
    assert "failed: ValueError: nothing \\| here" in text
    assert "out of time: > 60 s" in text
    assert "not measured" in text  # the other cases


def test_a_busy_machine_is_said(tmp_path: Path) -> None:
    append(tmp_path, row("ksparse", seconds=1.0, processors=0.95))
    assert "busy" not in render(tmp_path)
    append(tmp_path, row("ksparse", seconds=3.0, processors=1.0))
    assert "the clock showed 3.0 times the seconds of the processor" in render(tmp_path)


def test_figures_and_page_are_written(tmp_path: Path) -> None:
    append(tmp_path, row("ksparse"))
    append(tmp_path, row("abess", objective=1.1))
    docs = tmp_path / "docs"
    docs.mkdir()
    assert write_report(tmp_path, docs) == (docs / "benchmarks.md").read_text()
    assert (docs / "images" / "benchmark_paper_logistic.png").stat().st_size > 1000


def test_every_case_names_methods_that_exist_and_has_targets() -> None:
    assert set(TARGETS) == {case.name for case in CASES}
    for case in CASES:
        for variant in (*case.variants, *quick(case).variants):
            assert set(variant.methods) <= set(METHODS)
            assert variant.methods[0].startswith("ksparse")


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_simulations_are_reproducible_and_know_their_truth(kind: str, tmp_path: Path) -> None:
    for make in (glm, high_correlation):
        one, two, other = (make(kind, 50, 30, 3, seed) for seed in (0, 0, 1))
        np.testing.assert_array_equal(one.task.X, two.task.X)
        assert not np.array_equal(one.task.y, other.task.y)
        assert len(one.truth) == one.task.k == 3
        one.task.save(tmp_path / make.__name__)
        again = Task.load(tmp_path / make.__name__)
        np.testing.assert_array_equal(again.X, one.task.X)
        assert (again.kind, again.k, again.alpha, again.penalty) == (kind, 3, one.task.alpha, None)
    assert on_path(one, (1, 2, 5)).task.k == 5


def test_a_graph_has_a_penalty_only_if_asked() -> None:
    assert graph(40, 20, 0, penalized=False).task.penalty is None
    assert graph(40, 20, 0).task.penalty is not None
