"""A loss of one's own that is not a sum over samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.diagnostics import check_objective
from ksparse.objectives import LeastSquares
from tests.designs.row_blocks import FORMS
from tests.objectives.joint import JointLeastSquares
from tests.problems import N, P, design, signal


@pytest.mark.parametrize("form", FORMS)
def test_a_joint_loss_with_an_intercept_is_centred_like_a_sum(form: str) -> None:
    X, y = design() + 3.0, signal(design()) + np.random.default_rng(5).standard_normal(N)
    options: dict[str, Any] = {"alpha": 0.05, "fit_intercept": True, "sample_weight": np.linspace(1.0, 2.0, N)}
    joint, plain = JointLeastSquares(FORMS[form](X), y, **options), LeastSquares(X, y, **options)
    assert check_objective(joint).ok
    support = np.isin(np.arange(P + 1), [2, 5, P])
    blocks = []
    for objective in (joint, plain):
        f: Any = objective.working_form().objective
        point = f.evaluate(np.where(support, 0.3, 0.0))
        blocks.append(f.cross_hessian(point, point.restrict(support), np.flatnonzero(support), np.array([7, 0])))
    for here, there in zip(*blocks, strict=True):
        assert_allclose(here, there, atol=1e-12)
    found, expected = ksparse.minimize(joint, k=3), ksparse.minimize(plain, k=3)
    assert_array_equal(found.support, expected.support)
    assert_allclose(found.x, expected.x, atol=1e-10)
