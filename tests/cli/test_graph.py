"""``ksparse graph`` from end to end: what it reads, leaves out, prints and writes."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ksparse import SparsePrecision, StabilitySelection, load
from ksparse.cli import graph_command, main
from ksparse.cli.graph_command import GRAPH_FILES

from .graph_files import HOSTILE, VARIABLES, make_frame, write_csv, write_hostile_csv
from .helpers import accepted, refused

pd: Any = import_module("pandas")
nx: Any = import_module("networkx")
CHAIN = {frozenset(pair) for pair in pairwise(VARIABLES)}


def read_edges(folder: Path) -> Any:
    return pd.read_csv(folder / "edges.csv")


def pairs_of(edges: Any) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in zip(edges["source"], edges["target"], strict=True)}


def test_the_files_of_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    said = accepted(capsys, "graph", path, "--k", "5", "--out", tmp_path / "out")
    assert "chain.csv, 60 rows, 6 variables" in said
    assert "Graph with 5 edges between 6 of 6 variables" in said
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(GRAPH_FILES)
    assert all(f"Wrote {tmp_path / 'out' / name}" in said for name in GRAPH_FILES)
    expected = SparsePrecision(k=5, shrink_by="amount").fit(pd.read_csv(path))
    edges = read_edges(tmp_path / "out")
    assert pairs_of(edges) == CHAIN
    assert_allclose(edges["partial_correlation"], expected.edges_["partial_correlation"])
    model = load(tmp_path / "out" / "model.json")
    np.testing.assert_array_equal(model.precision_, expected.precision_)
    assert model.edges_.tolist() == expected.edges_.tolist()
    graph = nx.read_graphml(tmp_path / "out" / "graph.graphml")
    assert {frozenset(edge) for edge in graph.edges} == CHAIN
    one, other, strength = expected.edges_[0].tolist()
    assert graph.edges[one, other]["partial_correlation"] == strength
    assert graph.edges[one, other]["weight"] == abs(strength)
    assert {graph.nodes[node]["group"] for node in graph} == set(edges["source_group"]) | set(edges["target_group"])
    first = [(tmp_path / "out" / name).read_bytes() for name in GRAPH_FILES[1:]]  # models have times
    accepted(capsys, "graph", path, "--k", "5", "--out", tmp_path / "out")
    assert first == [(tmp_path / "out" / name).read_bytes() for name in GRAPH_FILES[1:]]


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = accepted(capsys, "graph", write_csv(tmp_path / "chain.csv", make_frame()))
    assert "k = 6, one edge for each variable; --k sets another number" in said
    strongest = SparsePrecision(k=6, shrink_by="amount").fit(make_frame()).edges_[0]
    assert f"{strongest['i']} – {strongest['j']}" in said
    assert f"{strongest['partial_correlation']:+.3f}" in said
    assert "strongest neighbours" in said
    assert "community" in said


def test_columns_that_are_no_variables_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = make_frame()
    frame.insert(0, "row", np.arange(1, 61))
    frame.insert(3, "city", ["Rome", "Oslo"] * 30)
    frame = frame.assign(
        patient_id=np.random.default_rng(0).permutation(60) + 1000,
        flat=7.5,
        day="2024-01-01",
        gaps=np.where(np.arange(60) % 3, np.nan, 1.0),
        huge=[*[1.0] * 59, 1e200],
    )
    path = write_csv(tmp_path / "all.csv", frame)
    said = accepted(capsys, "graph", path, "--k", "3", "--drop", "f", "--out", tmp_path / "out")
    assert "Left out (it numbers the rows from 1 to 60): 'row'" in said
    assert "Left out (text or dates): 'city'" in said
    assert "Left out (it has the same value in all rows): 'flat', 'day'" in said
    assert "Left out (by its name and its distinct whole numbers it is an identifier): 'patient_id'" in said
    assert "Left out (with more than half of the values missing): 'gaps'" in said
    assert "Left out (with infinite values or values beyond 1e+100): 'huge'" in said
    assert load(tmp_path / "out" / "model.json").feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([4, 7], "Left out 2 of 60 rows, which have missing values (in 'b', 'c')"),
        (range(20), "Filled 21 missing values by the medians of their columns (in 'b', 'c'; 20 of 60 rows have some)"),
    ],
)
def test_gaps(rows: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = make_frame()
    frame.loc[list(rows), "b"] = np.nan
    frame.loc[rows[0], "c"] = np.nan
    said = accepted(capsys, "graph", write_csv(tmp_path / "gaps.csv", frame), "--k", "4", "--out", tmp_path / "out")
    assert says in said
    whole = frame.dropna() if len(rows) == 2 else frame.fillna(frame.median())
    expected = SparsePrecision(k=4, shrink_by="amount").fit(whole)
    assert_allclose(load(tmp_path / "out" / "model.json").precision_, expected.precision_, rtol=1e-6)


def test_normal_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = np.exp(3 * make_frame(200))
    frame.loc[7, ["a", "f"]] = 1e9
    path = write_csv(tmp_path / "heavy.csv", frame)
    said = accepted(capsys, "graph", path, "--k", "5", "--transform", "rank", "--out", tmp_path / "out")
    assert "200 rows, 6 variables, as normal scores of their ranks" in said
    assert pairs_of(read_edges(tmp_path / "out")) == CHAIN
    accepted(capsys, "graph", path, "--k", "5", "--transform", "none", "--out", tmp_path / "out")
    assert pairs_of(read_edges(tmp_path / "out")) != CHAIN


@pytest.mark.slow
def test_k_and_shrinkage_are_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    said = accepted(capsys, "graph", path, "--ks", "3,5,9", "--out", tmp_path / "out")
    model = load(tmp_path / "out" / "model.json")
    assert model.ks_.tolist() == [3, 5, 9]
    assert f"k = {model.k_}, chosen among 3 numbers of edges from 3 to 9 by 5-fold cross-validation" in said
    assert "More edges" in accepted(capsys, "graph", path, "--ks", "2,3")
    said = accepted(capsys, "graph", path, "--k", "4", "--shrinkage", "auto")
    assert "k = 4; shrinkage 0" in said
    assert "chosen by 5-fold" in said
    assert "k = 4; shrinkage 0.2" in accepted(capsys, "graph", path, "--k", "4", "--shrinkage", "0.2")


@pytest.mark.slow
def test_a_choice_of_nearly_all_pairs_is_questioned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).standard_normal((500, 1)) + np.random.default_rng(1).standard_normal((500, 5))
    path = write_csv(tmp_path / "dense.csv", pd.DataFrame(X, columns=list("abcde")))
    said = accepted(capsys, "graph", path, "--k", "auto")
    assert "is most of the 10 pairs" in said
    assert "--stability" in said


def test_stability(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    said = accepted(capsys, "graph", path, "--k", "5", "--stability", "4", "--seed", "3", "--out", tmp_path / "out")
    halves = StabilitySelection(SparsePrecision(k=5, shrink_by="amount"), n_pairs=4, random_state=3).fit(make_frame())
    edges = read_edges(tmp_path / "out")
    for one, other, frequency in zip(edges["source"], edges["target"], edges["frequency"], strict=True):
        assert frequency == halves.frequencies_[VARIABLES.index(one), VARIABLES.index(other)]
    assert f"Stability: {len(halves.edges_)} edges in at least 75% of 8 random halves" in said


def test_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    groups = pd.DataFrame({"name": ["a", "b", "c", "d", "e", "z"], "sector": ["x", "x", "x", "y", "y", "y"]})
    said = accepted(
        capsys, "graph", path, "--k", "5", "--groups", write_csv(tmp_path / "g.csv", groups), "--out", tmp_path / "out"
    )
    assert "3 of 4 edges are within a group (75%)" in said
    assert "No group for 1 variable: 'f'" in said
    edges = read_edges(tmp_path / "out").set_index(["source", "target"])
    assert edges.loc[("c", "d")][["source_group", "target_group"]].tolist() == ["x", "y"]


def test_without_networkx(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    monkeypatch.setitem(sys.modules, "networkx", None)
    said = accepted(capsys, "graph", path, "--k", "5", "--out", tmp_path / "out")
    assert "networkx is not installed: with it, there are communities and a better layout" in said
    assert "Did not write graph.graphml, since networkx is not installed" in said
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["edges.csv", "graph.html", "model.json"]


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda frame: frame[["a"]], "has 1 variable, and a graph needs two at least"),
        (lambda frame: frame.astype(str) + "x", "two at least: Left out (it is an identifier or free text"),
        (lambda frame: frame[:3], "leaves 3 rows and 6 variables for a graph"),
        (
            lambda frame: frame * 0,
            "two at least: Left out (it has the same value in all rows): 'a', 'b', 'c', 'd', 'e', 'f'",
        ),
        (lambda frame: frame.corr().reset_index(), "is square and symmetric, as tables of covariances or correlations"),
    ],
)
def test_tables_without_a_graph(change: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert says in refused(capsys, "graph", write_csv(tmp_path / "t.csv", change(make_frame())))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--drop", "nothing"], "has no column 'nothing', which --drop names"),
        (["--groups", "{folder}/one.csv"], "has one column; expected the names of variables and their groups"),
        (["--groups", "{folder}/other.csv"], "has no group for any variable; its first column should have names such"),
        (["--groups", "{folder}/none.csv"], "there is no file"),
        (["--max-memory", "7KB"], "more with --max-memory"),
        (["--out", "{folder}/one.csv"], "cannot write to --out"),
    ],
)
def test_bad_arguments(arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    (tmp_path / "one.csv").write_text("name\na\n")
    (tmp_path / "other.csv").write_text("name,group\nq,1\n")
    given = [text.format(folder=tmp_path) for text in arguments]
    assert says in refused(capsys, "graph", path, *given)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--k", "many"], "expected a number of edges (an integer ≥ 0), or auto, got 'many'"),
        (["--k", "3", "--ks", "2,3"], "give one of them"),
        (["--shrinkage", "1"], "a number from 0 to below 1, or auto"),
        (["--stability", "0"], "a number of pairs of halves"),
        (["--transform", "log"], "invalid choice"),
        (["--target", "a"], "unrecognized arguments"),
    ],
)
def test_bad_options(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["graph", "x.csv", *arguments])
    assert stop.value.code == 2
    assert says in capsys.readouterr().err


def test_a_pattern_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is a pattern of several files" in refused(capsys, "graph", "data/*.parquet")


def test_features_without_names_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.svm.gz").write_text("1 1:2\n")
    assert "has no names of columns" in refused(capsys, "graph", tmp_path / "x.svm.gz")


@pytest.mark.parametrize("where", ["load_graph_data", "fit_graph", "_write_graph", "print_graph"])
def test_signals_end_it(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    monkeypatch.setattr(graph_command, where, lambda *_: signal.raise_signal(signal.SIGTERM))
    assert main(["graph", str(path), "--out", str(tmp_path / "out")]) == 143
    assert capsys.readouterr().err == "ksparse: terminated\n"
    assert (tmp_path / "out").exists() == (where == "print_graph")


@pytest.mark.slow
def test_a_closed_output_is_one_line(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    command = [sys.executable, "-m", "ksparse", "graph", str(path)]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard output: it is closed; give --out DIR" in done.stderr
    assert done.stderr.count("\n") == 1


def test_too_few_rows_to_choose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "few.csv", make_frame(9))
    assert "9 rows, too few for 5-fold cross-validation" in refused(capsys, "graph", path, "--k", "auto")


def test_all_files_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    accepted(capsys, "graph", path, "--k", "5", "--out", tmp_path / "out")
    before = {name: (tmp_path / "out" / name).read_bytes() for name in GRAPH_FILES}

    def fail(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    assert main(["graph", str(path), "--k", "3", "--out", str(tmp_path / "out")]) == 2
    monkeypatch.undo()
    captured = capsys.readouterr()
    assert captured.err == f"ksparse: cannot write to '{tmp_path / 'out'}': No space left on device\n"
    assert "Graph with 3 edges" in captured.out  # the result is not lost
    assert {name: (tmp_path / "out" / name).read_bytes() for name in GRAPH_FILES} == before
    assert len(list((tmp_path / "out").iterdir())) == len(GRAPH_FILES)


def test_hostile_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = write_csv(tmp_path / "g.csv", pd.DataFrame({"name": [HOSTILE, "c"], "group": ["=1+1", HOSTILE]}))
    path = write_hostile_csv(tmp_path / "evil.csv")
    said = accepted(capsys, "graph", path, "--k", "5", "--groups", groups, "--out", tmp_path / "out")
    assert all(line.isprintable() for line in said.split("\n"))
    text = (tmp_path / "out" / "edges.csv").read_text()
    cells = pd.read_csv(io.StringIO(text))
    names = {*cells["source"], *cells["target"]}
    assert {f"'{HOSTILE}", "'@SUM(1+1)", "c", "d", "e", "f"} == names
    assert "'=1+1" in {*cells["source_group"], *cells["target_group"]}
    graph = nx.read_graphml(tmp_path / "out" / "graph.graphml")
    assert all(node.isprintable() for node in graph)
    page = (tmp_path / "out" / "graph.html").read_text()
    assert "<img src=x" not in page
    assert not any(letter in page for letter in "\x1b\u202e\u2028")
    assert page.count("</script") == 3
    assert load(tmp_path / "out" / "model.json").feature_names_in_[0] == HOSTILE
