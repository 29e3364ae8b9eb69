"""Labels that would collapse into one, or into none, are refused; all others stay distinct."""

from __future__ import annotations

import base64
import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ksparse import SparseLogisticRegression
from ksparse.decoding import READERS
from ksparse.persistence import KINDS, dumps, load, loads
from tests.cli.helpers import accepted

from .models import make_labels, make_model


def encode(labels: Any) -> dict[str, Any]:
    """Labels of numbers as JSON, byte by byte."""
    text = base64.b64encode(labels.tobytes()).decode()
    return {"array": {"dtype": labels.dtype.str, "shape": [len(labels)], "values": text}}


BAD = {
    "float16 equal": make_labels([1.0, 1.0000001], "<f2"),
    "float16 infinite": make_labels([1.0, 1e300], "<f2"),
    "text ends with NUL": make_labels(["a", "a\0"], "<U2"),
    "equal text": make_labels(["a", "a"], "<U1"),
    "equal objects": make_labels(["a", "a"]),
    "equal numbers of two types": make_labels([1, True]),
    "descending": make_labels(["b", "a"]),
    "mixed": make_labels([1, "a"]),
    "nothing": make_labels([None, "a"]),
    "lists": make_labels([[1], [2]]),
    "two axes": {"array": {"dtype": "<i8", "shape": [2, 1], "values": [1, 2]}},
    "a list": ["a", "b"],
    "NaN": encode(np.array([1.0, np.nan])),
    "infinite": encode(np.array([1.0, np.inf])),
    "float32 equal": encode(np.array([1.0, 1.0 + 1e-10], dtype=np.float32)),
    "records": {"array": {"dtype": "|V2", "shape": [2], "values": base64.b64encode(b"abcd").decode()}},
}
GOOD: dict[str, Any] = {
    "NUL in objects": make_labels(["a", "a\0"]),
    "numbers": make_labels([1, 2], "<i8"),
    "floats": make_labels([-1.5, 1.0], "<f2"),
    "booleans": make_labels([False, True], "|b1"),
    "text": make_labels(["", "a", "aa"], "<U2"),
}


@pytest.mark.parametrize("name", BAD)
def test_labels_that_collapse_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"classes_|values that are not|an array"):
        loads(make_model(classes_=BAD[name]))


@pytest.mark.parametrize("name", GOOD)
def test_labels_that_are_distinct_are_read(name: str) -> None:
    assert loads(make_model(classes_=GOOD[name])).classes_.tolist() == GOOD[name]["array"]["values"]


def test_labels_in_python_stay_distinct() -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.array(["a", "a\0", "b"], dtype=object)[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = SparseLogisticRegression(k=1).fit(X, y)
    assert model.classes_.tolist() == ["a", "a\0", "b"]
    assert set(model.predict(X).tolist()) == {"a", "a\0", "b"}
    assert loads(dumps(model)).classes_.tolist() == ["a", "a\0", "b"]


@pytest.mark.slow
def test_labels_of_a_table_stay_distinct(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["a", "A", "a.", "1.50", "1.5"]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x", "z", "y"], *([i % 5, i * i % 7, labels[i % 5]] for i in range(100))])
    accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--k", "1", "--out", tmp_path / "o")
    assert load(tmp_path / "o" / "model.json").classes_.tolist() == sorted(labels)
    out = accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / "a.csv")
    assert out.splitlines()[0] == "prediction," + ",".join(f"probability_{label}" for label in sorted(labels))


def test_every_kind_that_is_written_can_be_read() -> None:
    assert KINDS.keys() == READERS.keys()
