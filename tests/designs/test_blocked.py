"""Designs in blocks that leave nothing but sums: every model fits as on one array, with few round trips."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.designs.blocked import BlockedDesign, LocalRunner
from tests.designs.test_row_blocks import CASES
from tests.problems import N, design, linear

EDGES = {1: [], 3: [7, 25], 17: sorted(np.random.default_rng(3).choice(np.arange(1, N), 16, replace=False).tolist())}


def in_blocks(X: Any, count: int = 3) -> BlockedDesign:
    edges = [0, *EDGES[count], X.shape[0]]
    blocks = [X[a:b] for a, b in pairwise(edges)]
    return BlockedDesign.of_blocks(LocalRunner(), blocks)


@pytest.mark.slow
@pytest.mark.parametrize("count", EDGES)
@pytest.mark.parametrize("case", CASES)
def test_fits_are_those_of_the_dense_design(case: str, count: int) -> None:
    kind, options = CASES[case]
    here = ksparse.minimize(linear(kind, in_blocks(design(), count), **options), k=3)
    there = ksparse.minimize(linear(kind, **options), k=3)
    np.testing.assert_array_equal(here.support, there.support)
    np.testing.assert_allclose(here.x, there.x, rtol=0, atol=1e-8)
    assert here.status is there.status
