"""check_objective finds what is wrong with a user's derivatives, and says it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ksparse.diagnostics import check_objective
from ksparse.objectives import Function
from tests.problems import OBJECTIVES

A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 3.0]])


def quartic(**wrong: Any) -> Function:
    """¼Σx⁴ + ½xᵀAx, with derivatives replaced by wrong ones."""
    right: dict[str, Any] = {
        "value": lambda x: float(np.sum(x**4) / 4 + x @ A @ x / 2),
        "gradient": lambda x: x**3 + A @ x,
        "hessian": lambda x: np.diag(3 * x**2) + A,
    }
    return Function(**{**right, **wrong}, shape=3)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_our_own_objectives_pass(name: str) -> None:
    report = check_objective(OBJECTIVES[name]())
    assert report.ok, str(report)
    assert report.gradient_error < 1e-6


def test_a_correct_function() -> None:
    report = check_objective(quartic())
    assert report.ok
    assert report.checked == 3
    assert str(report).startswith("the objective is consistent at 3 coordinates: gradient to")
    assert "no Hessian given" in str(check_objective(quartic(hessian=None)))


WRONG = {
    "sign": ({"gradient": lambda x: -(x**3) - A @ x}, "wrong sign in every coordinate"),
    "factor": ({"gradient": lambda x: 2 * (x**3 + A @ x)}, "2 times what it should be.*multiply it by 0.5"),
    "one entry": ({"gradient": lambda x: x**3 + A @ x + np.array([0, 0.1, 0])}, "wrong in 1 of 3.*coordinate 1"),
    "missing term": ({"gradient": lambda x: A @ x}, "wrong in 3 of 3|wrong in 2 of 3"),
    "shape": ({"gradient": lambda x: np.ones(4)}, r"returned shape \(4,\)"),
    "NaN gradient": ({"gradient": lambda x: np.array([np.nan, 0, 0])}, "1 NaN or infinite entries"),
    "NaN value": ({"value": lambda x: np.nan}, "f is nan at the point of the check"),
    "hessian": ({"hessian": lambda x: np.diag(2 * x**2) + A}, r"the Hessian is wrong: entry \(\d, \d\)"),
    "asymmetric": ({"hessian": lambda x: np.diag(3 * x**2) + np.triu(A)}, "not symmetric"),
    "hessian shape": ({"hessian": lambda x: np.eye(2)}, r"hessian\(x\) returned shape \(2, 2\)"),
    "NaN hessian": ({"hessian": lambda x: np.full((3, 3), np.nan)}, "Hessian has NaN"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    wrong, message = WRONG[case]
    report = check_objective(quartic(**wrong))
    assert not report.ok
    assert len(report.problems) == 1
    import re

    assert re.search(message, str(report)), str(report)


def test_large_functions_are_sampled() -> None:
    objective = Function(lambda x: 0.5 * x @ x, gradient=lambda x: x, shape=10_000)
    report = check_objective(objective, coordinates=50)
    assert report.ok
    assert report.checked == 50


def test_a_chosen_point() -> None:
    logarithm = Function(lambda x: float(np.sum(x - np.log(x))), gradient=lambda x: 1 - 1 / x, shape=2)
    assert check_objective(logarithm, x=[0.5, 3.0]).ok
