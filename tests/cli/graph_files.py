"""Tables for the tests of graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ksparse._types import Array

#: A name that would be markup, a script, a formula, or an escape sequence of a terminal.
HOSTILE = '=HYPERLINK("x")</script><img src=x onerror=alert(1)>\x1b[31m\u202e\u2028&amp;'
VARIABLES = list("abcdef")


def make_chain(rows: int = 60) -> Array:
    """Each variable depends on the one before it."""
    X = np.random.default_rng(0).standard_normal((rows, len(VARIABLES)))
    for j in range(1, X.shape[1]):
        X[:, j] += 0.9 * X[:, j - 1]
    return X


def make_frame(rows: int = 60) -> pd.DataFrame:
    return pd.DataFrame(make_chain(rows), columns=VARIABLES)


def write_csv(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


def write_hostile_csv(path: Path) -> Path:
    """A chain whose first two variables have hostile names, and a group of one is hostile too."""
    frame = make_frame().rename(columns={"a": HOSTILE, "b": "@SUM(1+1)"})
    return write_csv(path, frame)
