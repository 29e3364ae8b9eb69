"""The parameter `effort` of the estimators, of paths and of the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import ksparse
from ksparse.cli import main
from ksparse.datasets import make_logistic

X, y, _ = make_logistic(100, 120, 15, random_state=0)


def test_estimators_pass_it_on() -> None:
    model = ksparse.SparseLogisticRegression(15, alpha=1e-3, fit_intercept=False, effort=1).fit(X, y)
    objective = ksparse.objectives.Logistic(X, y, alpha=1e-3)
    assert model.result_.value == ksparse.minimize(objective, 15, effort=1).value
    assert model.result_.value < ksparse.minimize(objective, 15).value * 0.99
    assert clone(model).get_params()["effort"] == 1


def test_graphs_pass_it_on() -> None:
    sample = X[:, :12]
    none, some = (ksparse.SparsePrecision(10, effort=level).fit(sample) for level in (0, 1))
    assert some.result_.n_iter > none.result_.n_iter
    assert some.result_.value <= none.result_.value


def test_it_is_refused_beside_another_solver() -> None:
    with pytest.raises(ValueError, match="effort=2 is for the default solver, but solver='grahtp' is given"):
        ksparse.SparseLogisticRegression(3, solver="grahtp", effort=2).fit(X, y)
    solver = ksparse.SwapGraHTP(effort=1)
    with pytest.raises(ValueError, match="leave one of them out"):
        ksparse.SparseLogisticRegression(3, solver=solver, effort=2).fit(X, y)
    assert ksparse.SparseLogisticRegression(3, alpha=1e-3, solver=solver).fit(X, y).result_.success


def test_a_chosen_k_gets_it() -> None:
    none, some = (ksparse.SparseLogisticRegressionIC(ks=[15], alpha=1e-3, effort=level).fit(X, y) for level in (0, 2))
    assert some.result_.value < none.result_.value * 0.999


def test_each_k_of_a_path_gets_it() -> None:
    paths = [
        ksparse.path(X, y, [5, 10, 15], ksparse.SparseLogisticRegression(alpha=1e-3, effort=level)) for level in (0, 2)
    ]
    none, some = (np.array([result.value for result in path.results]) for path in paths)
    assert (some <= none * (1 + 1e-6)).all()
    assert some[-1] < none[-1] * 0.999


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data.csv"
    np.savetxt(
        file, np.column_stack([X[:, :30], y]), delimiter=",", header=",".join([*map(str, range(30)), "y"]), comments=""
    )
    options = ["fit", str(file), "--target", "y", "--k", "5"]
    assert main([*options, "--effort", "1", "--out", str(tmp_path / "out")]) == 0
    assert "perturbations were tried" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    for bad in ("6", "-1", "high"):
        with pytest.raises(SystemExit):
            main([*options, "--effort", bad])
        assert f"expected an integer from 0 to 5, got '{bad}'" in capsys.readouterr().err
