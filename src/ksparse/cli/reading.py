"""Tables of named columns: files of text, Excel and Parquet, and built-in data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer, load_diabetes

from .errors import InputError, choose_limit, explain_read_errors, quote_path
from .files.base import Table
from .files.excel import read_excel
from .files.joining import join_labels
from .files.options import ReadingOptions
from .files.parquet import read_parquet
from .files.sources import DASH, FileSource, find_source, find_suffix
from .files.text_files import TextFile
from .files.transposing import transpose

__all__ = ["BUILT_IN", "SVMLIGHT", "ReadingOptions", "Table", "find_suffix", "open_table"]

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", "")
EXCEL = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
#: Built-in data sets: the loader and the name of the target.
BUILT_IN: dict[str, tuple[Any, str]] = {
    "breast-cancer": (load_breast_cancer, "diagnosis"),
    "diabetes": (load_diabetes, "progression"),
}
#: What to do with files of other programs.
ADVICE_FOR = {
    ".xls": "save it as .xlsx or .csv",
    ".ods": "save it as .xlsx or .csv",
    ".feather": "save it as .parquet or .csv",
    ".arrow": "save it as .parquet or .csv",
    ".dta": "save it as .csv (in Stata: export delimited)",
    ".sav": "save it as .csv",
    ".sas7bdat": "save it as .csv",
    ".rds": "save it as .csv (in R: write.csv)",
    ".rda": "save it as .csv (in R: write.csv)",
    ".rdata": "save it as .csv (in R: write.csv)",
    ".json": "save it as .csv",
}


def open_table(name: str, options: ReadingOptions | None = None, max_memory: int | None = None) -> Table:
    """The table in a file, or a built-in data set; `InputError` if there is none.

    Parameters
    ----------
    name : str
        The file, ``-`` for standard input, or the name of the data set.
    options : ReadingOptions, optional
        What the user says about the file.
    max_memory : int, optional
        Memory in bytes that the table may take; see `ksparse.limits` for the default.
    """
    options = options or ReadingOptions()
    path, known = Path(name), name.replace("_", "-")
    if known in BUILT_IN and not path.exists():
        table = _load_built_in(known)
    elif name != DASH and not path.exists():
        raise InputError(_explain_missing(name))
    else:
        table = _open_file(find_source(name, max_memory), options, max_memory)
    if options.transpose:
        table = transpose(table, choose_limit(path, max_memory))
    if options.labels is not None:
        if options.labels == name:
            raise InputError(f"--labels {quote_path(name)} is the file with the data; give the file with their labels")
        labels = open_table(options.labels, ReadingOptions(na=options.na, encoding=options.encoding), max_memory)
        table = join_labels(table, labels)
    return table


def _explain_missing(name: str) -> str:
    if "://" in name:
        return f"{quote_path(name)} is an address; download the file, and give its name"
    return f"there is no file {quote_path(name)}; check the path, or try one of {', '.join(BUILT_IN)}"


def _open_file(source: FileSource, options: ReadingOptions, max_memory: int | None) -> Table:
    """The table in a file, by the format that its name says."""
    limit = choose_limit(source.path, max_memory)
    with explain_read_errors(source.name):
        suffix = source.suffix
    if suffix in TEXT:
        return TextFile(source, options, limit)
    if suffix in EXCEL:
        return read_excel(source, options, limit)
    if suffix in PARQUET:
        return read_parquet(source, options, limit)
    if suffix in ADVICE_FOR:
        raise InputError(f"{quote_path(source.name)} is of a kind that ksparse does not read; {ADVICE_FOR[suffix]}")
    raise InputError(
        f"the format of {quote_path(source.name)} is unknown; expected a name that ends with"
        f" {', '.join((*filter(None, TEXT), *EXCEL, *PARQUET, *SVMLIGHT))}, also with .gz, .bz2, .xz or .zip"
    )


def _load_built_in(name: str) -> Table:
    """A data set of scikit-learn, with its columns in their own units."""
    load, target = BUILT_IN[name]
    bunch = load(as_frame=True, **({"scaled": False} if load is load_diabetes else {}))
    frame = bunch.frame
    if "target_names" in bunch:
        frame = frame.assign(target=bunch.target_names[bunch.target])
    names = [*map(str, bunch.feature_names), target]
    return Table(name, names, frame.set_axis(names, axis=1), target)
