"""Files of models with one part that a stranger wrote."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

from ksparse import SparseLogisticRegression
from ksparse.persistence import dumps


@cache
def _write_classifier() -> str:
    X = np.random.default_rng(0).standard_normal((40, 3))
    return dumps(SparseLogisticRegression(k=2).fit(X, np.where(X[:, 0] > 0, "yes", "no")))


def make_model(**attributes: Any) -> str:
    """The file of a classifier with three features and the labels no and yes, with other attributes as JSON."""
    content = json.loads(_write_classifier())
    content["model"]["SparseLogisticRegression"] |= attributes
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def make_labels(labels: list[Any], dtype: str = "|O") -> dict[str, Any]:
    """An array of labels as JSON."""
    return {"array": {"dtype": dtype, "shape": [len(labels)], "values": labels}}
