"""Small files that ask for much memory or time: each is refused, or read with memory in proportion to its size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ksparse.limits import MAX_BYTES
from ksparse.persistence import load, loads

from .bombs import DATA, MEGABYTE
from .limits import run_limited
from .models import make_labels, make_model

#: What a process may allocate.
MEMORY = 2500 * MEGABYTE

# --- models ---------------------------------------------------------------------------------------------------------


def fill(part: Any, size: int = MEGABYTE) -> list[Any]:
    """A list with so many parts that its JSON has about this size."""
    return [part] * (size // (len(json.dumps(part, separators=(",", ":"))) + 1))


#: An attribute of about a megabyte each, and what the error says; None where the file is harmless and may be read.
ATTRIBUTES: dict[str, tuple[Any, str | None]] = {
    "padded labels": (make_labels([f"{i:05}" for i in range(4000)] + ["z" * 120_000], "<U120000"), "more than"),
    "padded labels, short file": (make_labels(["a", "b"], "<U99999999"), "more than"),
    "lists": (fill([]), None),
    "deep lists": (fill([[[]]]), None),
    "objects": (fill({"tuple": []}), None),
    "dicts": (fill({"dict": []}), None),
    "classes": (fill({"GradientStep": {}}), None),
    "arrays": (fill({"array": {"dtype": "|O", "shape": [0], "values": []}}), None),
    "one-item arrays": (fill({"array": {"dtype": "<f8", "shape": [1], "values": [1.5]}}), None),
    "types": (fill({"dtype": "|V9999"}), None),
    "records": (fill({"dtype": [["a", "<f8"], ["b", "<i8"]]}), None),
    "numbers": (fill(0.5), None),
    "texts": (fill("ab"), None),
    "wide text": ("\U0001f600" + "a" * MEGABYTE, None),
    "history": ({"History": {"iterations": {"range": [0, 10**12, 1]}}}, "more than"),
    "tuple of a range": ({"tuple": {"range": [0, 10**12, 1]}}, "not written as a list"),
    "range": ({"range": [0, 10**40, 1]}, "more than"),
    "range backwards": ({"range": [10**12, 0, -1]}, "more than"),
    "sparse array of a range": ({"csr_array": {"range": [0, 10**12, 1]}}, "more than"),
    "text type": (make_labels(["a"], "f8," * 300_000), "an array is of"),
    "many fields": ({"dtype": fill(["a", "<f8"])}, "more than 100 fields"),
    "huge record": ({"array": {"dtype": [["a", "|V2000000000"]] * 2, "shape": [1], "values": ""}}, ""),
    "huge item": ({"array": {"dtype": "|V2147483647", "shape": [9], "values": ""}}, "more than"),
    "many axes": ({"array": {"dtype": "<f8", "shape": [10**18] * 50_000, "values": []}}, "up to 32 sizes"),
    "long axis": ({"array": {"dtype": "<f8", "shape": [0, 10**30], "values": []}}, ""),
    "zeros": ({"array": {"dtype": "<f8", "shape": [10**12], "values": [], "indices": []}}, "more than"),
    "long number": ({"float": "1" * MEGABYTE}, None),
    "history of a range": ({"History": {"iterations": {"range": [0, 50_000_000, 1]}}}, "a range has more than"),
    "wide sparse array": (
        {
            "csr_array": [
                [1, 10**12],
                *({"array": {"dtype": "<i8", "shape": [n], "values": [0] * n}} for n in (0, 0, 2)),
            ]
        },
        None,
    ),
    "tall sparse array": (
        {
            "csr_array": [
                [10**12, 1],
                *({"array": {"dtype": "<i8", "shape": [n], "values": [0] * n}} for n in (0, 0, 2)),
            ]
        },
        "",
    ),
}
TEXTS = {
    "nested": ('{"a":' * 200_000, "nested"),
    "nested lists": ("[" * 1_000_000, "nested"),
    "huge integer": ('{"format": ' + "9" * MEGABYTE + "}", ""),
    "no JSON": ("\0" * MEGABYTE, "not JSON"),
}

#: Loads each file of a folder; prints its error, and how much memory it took beyond what there was before.
LOAD = """
import gc, json, os, sys, time
from pathlib import Path
from ksparse import load

def read_peak(line):
    return 1024 * next(int(text.split()[1]) for text in open("/proc/self/status") if text.startswith(line))

found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins again
    before, start, problem = read_peak("VmRSS"), time.process_time(), None
    try:
        load(path)
    except ValueError as error:
        problem = str(error)
    found[path.stem] = [problem, read_peak("VmHWM") - before, time.process_time() - start]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str | None, int, float]]:
    """The error, the memory and the time of each model, all in one process."""
    folder = tmp_path_factory.mktemp("models")
    for name, (attribute, _) in ATTRIBUTES.items():
        (folder / f"{name}.json").write_text(make_model(extra_=attribute))
    for name, (text, _) in TEXTS.items():
        (folder / f"{name}.json").write_text(text)
    run = run_limited(["-c", LOAD, folder], memory=MEMORY, seconds=60)
    assert run.code == 0, run.err
    found: dict[str, tuple[str | None, int, float]] = json.loads(run.out)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ATTRIBUTES, *TEXTS])
def test_a_model_of_a_megabyte_takes_little(name: str, loaded: dict[str, tuple[str | None, int, float]]) -> None:
    problem, memory, seconds = loaded[name]
    expected = (ATTRIBUTES | TEXTS)[name][1]
    assert (problem is None) == (expected is None), problem
    assert (expected or "") in (problem or "")
    assert len(problem or "") < 500
    assert memory < 50 * MEGABYTE
    assert seconds < 2


def test_the_limit_of_models_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.json"
    zeros = {"array": {"dtype": "<f8", "shape": [10**6], "values": [], "indices": []}}
    path.write_text(make_model(extra_=zeros))
    assert load(path).extra_.shape == (10**6,)
    for small in (1000, 5 * 10**6):
        with pytest.raises(ValueError, match=f"more than {small} bytes"):
            load(path, max_bytes=small)
    monkeypatch.setenv("KSPARSE_MAX_MEMORY", "5MB")
    with pytest.raises(ValueError, match=r"more than 5242880 bytes; .*KSPARSE_MAX_MEMORY"):
        load(path)
    assert load(path, max_bytes=10**7).extra_.shape == (10**6,)
    monkeypatch.setenv("KSPARSE_MAX_MEMORY", "much")
    with pytest.raises(ValueError, match="KSPARSE_MAX_MEMORY: expected a size such as 500MB or 8GB, got 'much'"):
        load(path)
    monkeypatch.setenv("KSPARSE_MAX_MEMORY", "8GB")
    many = json.loads(path.read_text().replace("1000000", str(MAX_BYTES // 8 + 1)))
    assert loads(json.dumps(many)).extra_.nbytes > MAX_BYTES


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "m.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ValueError, match=f"it has more than {MAX_BYTES} bytes"):
        load(tmp_path / "m.json")


LOAD_WITHOUT_LIMIT = """
import sys, ksparse
try:
    ksparse.load(sys.argv[1], max_bytes=10**12)
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_lack_of_memory_is_a_value_error(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(make_model(extra_=make_labels(["a" * 10**6] * 150)))
    run = run_limited(["-c", LOAD_WITHOUT_LIMIT, tmp_path / "m.json"], memory=600 * MEGABYTE, seconds=20)
    assert run.code == 0, run.err[-500:]
    assert "not enough memory" in run.out


# --- data -----------------------------------------------------------------------------------------------------------

#: Runs commands in one process; prints what each returned and wrote, and how much memory it took beyond that before.
COMMANDS = """
import contextlib, gc, io, json, sys, time
from ksparse.cli import main

def read_memory(line):
    return 1024 * next(int(text.split()[1]) for text in open("/proc/self/status") if text.startswith(line))

found = {}
main(["fit", "--k", "1", "--alpha", "0.1", "--resamples", "0"])  # imports
for name, arguments in json.load(open(sys.argv[1])).items():
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins again
    before, start = read_memory("VmRSS"), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(arguments)
    spent = [read_memory("VmHWM") - before, time.process_time() - start]
    found[name] = [code, out.getvalue(), err.getvalue(), *spent]
open(sys.argv[2], "w").write(json.dumps(found))
"""


def run_commands(folder: Path, commands: dict[str, list[str]]) -> dict[str, tuple[int, str, str, int, float]]:
    (folder / "commands").write_text(json.dumps(commands))
    run = run_limited(["-c", COMMANDS, folder / "commands", folder / "results"], memory=MEMORY, seconds=120)
    assert run.code == 0, run.err
    found: dict[str, tuple[int, str, str, int, float]] = json.loads((folder / "results").read_text())
    return found


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str, int, float]]:
    """What `ksparse fit` says of each file, all in one process."""
    folder = tmp_path_factory.mktemp("data")
    commands = {}
    for name, (write, options, _, _) in DATA.items():
        write(folder / name)
        commands[name] = ["fit", str(folder / name), *options]
    return run_commands(folder, commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_data_take_no_more_than_the_limit(name: str, fitted: dict[str, tuple[int, str, str, int, float]]) -> None:
    code, out, err, memory, seconds = fitted[name]
    _, options, expected, words = DATA[name]
    assert code == expected, err
    assert words in (err if code else out)
    # Within a limit of 500 MB, blocks and whole columns may take about as much.
    limit = 600 if "--max-memory" in options else 400
    assert err.count("\n") == bool(code)
    assert len(out) < 8000  # two tables have the labels of classes, cut to 200 letters, in their heads
    assert len(err) < 1000
    assert memory < limit * MEGABYTE
    assert seconds < 30


# --- predictions ----------------------------------------------------------------------------------------------------

NAMED = {"feature_names_in_": make_labels(["a", "b", "c"])}
#: Attributes of a classifier from a stranger, and what `ksparse predict` says.
MODELS: dict[str, tuple[dict[str, Any], str]] = {
    "features": ({"n_features_in_": 10**12}, "not one coefficient for each of its 1000000000000 features"),
    "no features": ({"n_features_in_": -3}, "its number of features is '-3'"),
    "text": ({"n_features_in_": "\x1b[31m" + "9" * 10**6}, "its number of features is '\\x1b[31m9"),
    "names": ({"feature_names_in_": make_labels(["a"])}, "not one name for each of its 3 features"),
    "numbers as names": ({"feature_names_in_": make_labels([1, 2, 3])}, "are not text"),
    "long labels": (NAMED | {"classes_": make_labels(["n", "y" * 10**6])}, "memory, more than 2 GB"),
    "no labels": (NAMED | {"classes_": make_labels(["n"])}, "fit and save it again"),
    "coefficients": (NAMED | {"coef_": {"tuple": [1.0, 2.0, 3.0]}}, "not one coefficient for each"),
    "intercept": (NAMED | {"intercept_": "x"}, "cannot predict with the model"),
    "infinite intercept": (NAMED | {"intercept_": {"float": "nan"}}, "coefficients that are not finite"),
    "pipeline": ({"model": {"Pipeline": {"steps": [], "memory": None, "verbose": False}}}, ""),
}


def write_model(path: Path, attributes: dict[str, Any]) -> None:
    text = make_model(**attributes)
    if "model" in attributes:
        text = json.dumps(json.loads(text) | attributes)
    path.write_text(text)


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str, int, float]]:
    """What `ksparse predict` says of each model, all in one process."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "a.csv").write_text("a,b,c\n" + "1,2,3\n" * 4000)
    commands = {}
    for name, (attributes, _) in MODELS.items():
        write_model(folder / f"{name}.json", attributes)
        commands[name] = ["predict", str(folder / f"{name}.json"), str(folder / "a.csv")]
    return run_commands(folder, commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_predictions_of_hostile_models(name: str, predicted: dict[str, tuple[int, str, str, int, float]]) -> None:
    code, out, err, memory, seconds = predicted[name]
    assert (code, out) == (2, ""), err
    assert MODELS[name][1] in err
    assert err.count("\n") == 1
    assert err.isprintable() or err[:-1].isprintable()
    assert len(err) < 600
    assert memory < 100 * MEGABYTE
    assert seconds < 5


@pytest.mark.slow
def test_a_larger_limit_of_data(tmp_path: Path) -> None:
    """The same file is refused or read."""
    (tmp_path / "a.svm").write_text("1 1:1\n0 20000:1\n" * 10)
    arguments = ["-m", "ksparse", "fit", str(tmp_path / "a.svm"), "--k", "1", "--alpha", "0.1", "--max-memory"]
    refused = run_limited([*arguments, "10MB"], memory=MEMORY, seconds=30)
    assert refused.code == 2
    assert "would take about 85.8 MB of memory, more than 10 MB" in refused.err
    assert run_limited([*arguments, "100 MB"], memory=MEMORY, seconds=30).code == 0


@pytest.mark.slow
def test_numbers_of_features_that_a_model_does_not_have(tmp_path: Path) -> None:
    """The largest number in new rows takes no memory."""
    train, new = tmp_path / "a.svm", tmp_path / "b.svm"
    train.write_text("".join(f"{i % 2} 1:{i % 2 + 0.1 * (i % 7)} 2:{i % 5}\n" for i in range(40)))
    new.write_text("1 1:1\n0 2:1 2147483646:1\n")
    fit = ["-m", "ksparse", "fit", str(train), "--k", "1", "--alpha", "0.1", "--out", str(tmp_path / "o")]
    assert run_limited(fit, memory=MEMORY, seconds=30).code == 0
    predict = ["-m", "ksparse", "predict", str(tmp_path / "o" / "model.json"), str(new)]
    run = run_limited(predict, memory=MEMORY, seconds=30)
    assert run.code == 0, run.err
    assert len(run.out.splitlines()) == 3
