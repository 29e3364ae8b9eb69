"""Features in rows, and labels in a second file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions, Table, open_table

from .helpers import accepted, refused

GENES, SAMPLES = 30, 24
rng = np.random.default_rng(0)
X = pd.DataFrame(
    rng.standard_normal((SAMPLES, GENES)).round(4),
    index=[f"GSM{row}" for row in range(SAMPLES)],
    columns=[f"gene {place}" for place in range(GENES)],
)
LABELS = pd.Series(np.where(X["gene 3"] > 0, "ill", "well"), index=X.index)


def read(path: Path, table: pd.DataFrame | str, labels: pd.DataFrame | str | None = None, **options: Any) -> Table:
    """Write tables and read them."""
    for name, content in (("a.csv", table), ("labels.csv", labels)):
        if isinstance(content, pd.DataFrame):
            content.to_csv(path / name, index=False)
        elif content is not None:
            (path / name).write_text(content)
    given: dict[str, Any] = {} if labels is None else {"labels": str(path / "labels.csv")}
    return open_table(str(path / "a.csv"), ReadingOptions(**given, **options))


def turn(frame: pd.DataFrame) -> pd.DataFrame:
    """Features in rows, their names in the first column."""
    return frame.T.rename_axis("gene").reset_index()


@pytest.mark.parametrize("form", ["named", "nameless", "R", "xlsx", "parquet"])
def test_features_in_rows(form: str, tmp_path: Path) -> None:
    file = {"xlsx": "a.xlsx", "parquet": "a.parquet"}.get(form, "a.csv")
    if form == "named":
        turn(X).to_csv(tmp_path / file, index=False)
    elif form == "nameless":
        X.T.to_csv(tmp_path / file)
    elif form == "R":
        (tmp_path / file).write_text(",".join(X.index) + "\n" + X.T.to_csv(header=False))
    elif form == "xlsx":
        turn(X).to_excel(tmp_path / file, index=False)
    else:
        X.T.to_parquet(tmp_path / file)
    table = open_table(str(tmp_path / file), ReadingOptions(transpose=True))
    pd.testing.assert_frame_equal(table.read(), X.reset_index(drop=True))
    assert table.identifiers is not None
    assert table.identifiers["sample"].tolist() == list(X.index)
    assert table.locate(3) == "column 'GSM3'"


def test_rows_of_several_kinds(tmp_path: Path) -> None:
    text = "name,1,2,3\nage,50,NA,61\nsex,m,f,f\nwell,True,False,True\nday,x,,1\n,5,5,5\n"
    table = read(tmp_path, text, transpose=True)
    frame = table.read()
    np.testing.assert_equal(frame["age"].to_numpy(), [50.0, np.nan, 61.0])
    assert frame["sex"].tolist() == ["m", "f", "f"]
    assert frame["day"].fillna("gap").tolist() == ["x", "gap", "1"]
    assert table.notes == ("1 row without a name was left out",)
    assert table.names == ["age", "sex", "well", "day"]


def test_names_of_rows_that_occur_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has two rows called 'g'; rename one of them"):
        read(tmp_path, "name,a,b\ng,1,2\ng,3,4\n", transpose=True)


def test_labels_by_name(tmp_path: Path) -> None:
    """In another order; samples without a label and labels without a sample are counted."""
    labels = LABELS.iloc[2:].sample(frac=1, random_state=0).rename("group").rename_axis("id").reset_index()
    labels = pd.concat([labels, pd.DataFrame({"id": ["GSM99"], "group": ["ill"]})])
    table = read(tmp_path, turn(X), labels, transpose=True)
    frame = table.read()
    pd.testing.assert_frame_equal(frame[list(X.columns)], X.iloc[2:].reset_index(drop=True))
    assert frame["group"].tolist() == LABELS.iloc[2:].tolist()
    assert table.target == "group"
    assert table.locate(0) == "column 'GSM2'"
    assert table.identifiers is not None
    assert table.identifiers["sample"].tolist() == list(X.index[2:])
    first, lost, spare = table.notes
    assert first == f"Labels of 22 of 24 samples are in '{tmp_path / 'labels.csv'}', by 'id'"
    assert lost == f"Samples of '{tmp_path / 'a.csv'}' without a label were left out (2): 'GSM0', 'GSM1'"
    assert spare == f"Labels of no sample of '{tmp_path / 'a.csv'}' (1): 'GSM99'"


def test_labels_by_a_column_that_is_not_the_first(tmp_path: Path) -> None:
    labels = pd.DataFrame({"batch": 1, "age": range(SAMPLES), "geo": X.index[::-1], "group": LABELS[::-1].to_numpy()})
    table = read(tmp_path, turn(X), labels, transpose=True)
    assert table.read()["group"].tolist() == LABELS.tolist()
    assert table.read()["age"].tolist() == list(range(SAMPLES))[::-1]
    assert table.target is None


def test_labels_of_samples_in_rows(tmp_path: Path) -> None:
    """By a column of the same name, whole numbers or text, several rows for a sample; it is no feature."""
    data = pd.DataFrame({"dose": [1, 2, 3, 4], "patient": [3, 1, 3, 2], "age": [1, 2, 3, 4]})
    labels = pd.DataFrame({"group": ["a", "b", "c"], "patient": [1.0, 2.0, 3.0]})
    table = read(tmp_path, data, labels)
    assert table.names == ["dose", "age", "group"]
    assert table.read()["group"].tolist() == ["c", "a", "c", "b"]
    assert table.identifiers is not None
    assert table.identifiers["patient"].tolist() == [3, 1, 3, 2]


def test_labels_by_position(tmp_path: Path) -> None:
    """Also if measurements occur among the numbers of the labels."""
    data = X.reset_index(drop=True).assign(count=range(SAMPLES))[["count", "gene 1"]]
    for labels in (LABELS.to_frame("group"), LABELS.rename_axis("id").reset_index(name="group")):
        table = read(tmp_path, data, labels)
        assert (table.target, table.read()["group"].tolist()) == ("group", LABELS.tolist())
        assert table.read()["count"].tolist() == list(range(SAMPLES))
        assert "were taken in their order" in table.notes[-1]
    ages = pd.DataFrame({"age": range(5, 5 + SAMPLES), "group": LABELS.to_numpy()})
    table = read(tmp_path, data, ages)
    assert table.names == ["count", "gene 1", "age", "group"]
    assert table.read()["age"].tolist() == list(range(5, 5 + SAMPLES))


BAD = {
    "numbers of rows": (turn(X), "id,group\na,1\nb,2\n", "no sample of .* 24 rows .'GSM0', .* 2 rows .'a', 'b'"),
    "twice": (turn(X), "id,group\nGSM0,1\nGSM0,2\n", "names 1 samples more than once in the column 'id' .'GSM0'"),
    "no labels": (turn(X), "id\nGSM0\nGSM1\n", "has names of samples but no labels"),
    "clash": (turn(X), "id,gene 3\nGSM0,1\nGSM1,2\n", "both have 'gene 3'; rename"),
}


@pytest.mark.parametrize("name", BAD)
def test_labels_that_cannot_be_joined(name: str, tmp_path: Path) -> None:
    table, labels, words = BAD[name]
    with pytest.raises(InputError, match=words):
        read(tmp_path, table, labels, transpose=True)


def test_the_same_file_twice(tmp_path: Path) -> None:
    turn(X).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(InputError, match="is the file with the data"):
        open_table(str(tmp_path / "a.csv"), ReadingOptions(labels=str(tmp_path / "a.csv")))


def test_a_fit_and_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turn(X).to_csv(tmp_path / "a.csv", index=False)
    LABELS.rename_axis("id").to_csv(tmp_path / "b.csv", header=["group"])
    fit: list[str | Path] = [
        "fit",
        tmp_path / "a.csv",
        "--transpose",
        "--labels",
        tmp_path / "b.csv",
        "--k",
        "1",
        "--alpha",
        "0.1",
    ]
    out = accepted(capsys, *fit, "--test", "0", "--out", tmp_path / "o")
    assert "24 rows, 30 columns, target 'group'" in out
    assert "gene 3" in out
    assert "Labels of 24 of 24 samples" in out
    out = accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / "a.csv", "--transpose")
    head, *rows = [line.split(",") for line in out.splitlines()]
    assert head[1] == "prediction"
    assert [row[0] for row in rows] == LABELS.index.tolist()  # the names of samples come first
    assert np.mean([row[1] for row in rows] == LABELS) > 0.8


def test_a_hint_that_features_are_in_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tall = turn(pd.concat([X] * 4, axis=1).set_axis([f"g{place}" for place in range(4 * GENES)], axis=1))
    tall.to_csv(tmp_path / "a.csv", index=False)
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "tumour")
    assert "if features are in rows, and samples in columns, give --transpose and --labels FILE" in line
    line = refused(capsys, "fit", tmp_path / "a.csv", "--target", "g7")
    assert "it is the name of a row, so give --transpose" in line
    X.to_csv(tmp_path / "a.csv", index=False)
    assert "transpose" not in refused(capsys, "fit", tmp_path / "a.csv", "--target", "tumour")
