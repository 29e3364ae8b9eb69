"""Files of models from elsewhere: damaged and hostile ones are refused."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import InconsistentVersionWarning

from ksparse.persistence import MAX_BYTES, dumps, load, loads

from .saved_cases import fitted

#: A change of the content of a file.
Change = Callable[[dict[str, Any]], Any]


def changed(**fields: Any) -> Change:
    """Other fields at the top."""
    return lambda content: content.update(fields)


def with_attribute(name: str, value: Any) -> Change:
    """Another attribute or parameter."""
    return lambda content: content["model"]["SparseLinearRegression"].update({name: value})


def with_array(**fields: Any) -> Change:
    return with_attribute("coef_", {"array": {"dtype": "<f8", "shape": [3], "values": [1.0, 2.0, 3.0]} | fields})


def without(name: str) -> Change:
    return lambda content: content["model"]["SparseLinearRegression"].pop(name)


def write(change: Change) -> str:
    """The file of a model, after a change."""
    content = json.loads(dumps(fitted("linear")))
    change(content)
    return json.dumps(content)


HOSTILE: dict[str | Change, str] = {
    "": "not JSON",
    "[1, 2]": "format",
    "{}": "format",
    '{"format": "ksparse-model"': "not JSON",
    '{"format": "ksparse-model"}': "lacks the field 'version'",
    "[" * 100_000: "nested",
    '{"format": ' + "9" * 5000 + "}": "",
    changed(format="pickle"): "format",
    changed(version=1): "version 1, and this ksparse reads version 2; fit and save the model again",
    changed(version=3): "install ksparse '0.1.0' or newer",
    changed(version=True): "version",
    changed(version="2"): "version",
    changed(about={"a": {"b": 1}}): "about",
    changed(model=3): "not an estimator",
    changed(model={"os.system": {}}): "'os.system' is not a class",
    changed(model={"Status": {"value": "converged"}}): "not an estimator",
    changed(model={"Solver": {}}): "",
    changed(model={"SparseLinearRegression": {}}): "lacks the parameter",
    changed(model={"SparseLinearRegression": [1]}): "",
    changed(model={"SparseLinearRegression": {}, "Pipeline": {}}): "2 keys",
    changed(model=[{"SparseLinearRegression": {}}]): "lacks the parameter",
    without("k"): "lacks the parameter k",
    with_attribute("__class__", 1): "cannot have the attribute '__class__'",
    with_attribute("predict", 1): "cannot have the attribute 'predict'",
    with_attribute("a b", 1): "cannot have the attribute 'a b'",
    with_attribute("solver", {"eval": "1"}): "'eval' is not a class",
    with_attribute("solver", {"GraHTP": {"run": 1}}): "run",
    with_attribute("solver", {"Decoder": {}}): "not a class",
    with_attribute("result_", {"Status": {"value": "nonsense"}}): "nonsense",
    with_attribute("intercept_", {"float": "one"}): "one",
    with_attribute("intercept_", {"range": [1, 2, 3, 4]}): "",
    with_attribute("intercept_", {"dict": [[[1], 2]]}): "unhashable",
    with_array(dtype="O", values="AAAA"): "",
    with_array(dtype="|O", values=[{"eval": 1}] * 3): "not a class",
    with_array(dtype="<M8[s]"): "<M8[s]",
    with_array(dtype="nonsense"): "nonsense",
    with_array(dtype=[["a", "O"]]): "",
    with_array(shape=[4]): "3 values instead of 4",
    with_array(shape=[-3]): "below 0",
    with_array(shape=[3.0]): "below 0",
    with_array(shape=[10**15]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[10**15], indices=[0, 1, 2]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[3], dtype="<U400000000", values=["a", "b", "c"]): f"more than {MAX_BYTES} bytes",
    with_array(shape=[3], dtype="<U1", values=["a", "bb", "c"]): "not <U1",
    with_array(values="AAAA"): "0.375 values instead of 3",
    with_array(values="####"): "",
    with_array(values=[1.0, "x", 3.0]): "",
    with_array(values=[1.0, None, 3.0]): "",
    with_array(values={"a": 1}): "",
    with_array(dtype="|i1", values=[1, 2, 1000]): "",
    with_array(dtype="<i8", values=[1, 2, 2.5]): "not int64",
    with_array(indices=[0, 1, 3]): "increase",
    with_array(indices=[-1, 1, 2]): "increase",
    with_array(indices=[1, 1, 2]): "increase",
    with_array(indices=[0, 1]): "values instead of",
    with_array(surprise=1): "surprise",
    with_attribute("coef_", {"csr_array": [[2, 2], 1, 2, 3]}): "",
}


@pytest.mark.filterwarnings("ignore:NumPy will stop allowing conversion of out-of-bound")  # NumPy 1
@pytest.mark.parametrize(("text", "message"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_hostile_files_are_refused(text: str | Change, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text if isinstance(text, str) else write(text))
    with pytest.raises(ValueError, match="not a model saved by ksparse, or it is damaged") as caught:
        load(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


def test_memory_is_counted_over_all_arrays() -> None:
    half = {"array": {"dtype": "<f8", "shape": [MAX_BYTES // 16], "values": [], "indices": []}}
    content = json.loads(write(changed()))
    content["model"]["SparseLinearRegression"] |= {"coef_": half}
    loads(json.dumps(content))
    content["model"]["SparseLinearRegression"] |= {"a_": half, "b_": half}
    with pytest.raises(ValueError, match="bytes"):
        loads(json.dumps(content))


def test_indices_of_sparse_arrays_are_checked() -> None:
    content = dumps(fitted("precision CV"))
    node = json.loads(content)["model"]["SparsePrecisionCV"]["path_"]["PrecisionPath"]["precision"]["tuple"][0]
    node["csr_array"][2]["array"]["values"][0] = 10**6
    damaged = json.loads(content)
    damaged["model"]["SparsePrecisionCV"]["path_"]["PrecisionPath"]["precision"]["tuple"][0] = node
    with pytest.raises(ValueError, match="damaged"):
        loads(json.dumps(damaged))


def test_other_versions_of_scikit_learn_give_its_warning() -> None:
    text = dumps(fitted("pipeline"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(text)
    content = json.loads(text)
    content["model"]["Pipeline"]["_sklearn_version"] = "1.0"
    with pytest.warns(InconsistentVersionWarning, match=r"version 1\.0"):
        loads(json.dumps(content))


def test_the_unchanged_files_are_accepted() -> None:
    for change in (changed(), with_array(), with_attribute("extra_", {"float": "nan"})):
        loads(write(change))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(ValueError, match="not a text file"):
        load(tmp_path / "model.json")
