"""The paper's two real data sets: the original files if they are available, or substitutes."""

from __future__ import annotations

import bz2
import os
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from ksparse.datasets import load_real

from .base import Array

__all__ = [
    "ExpressionData",
    "SplitData",
    "find_missing_hess",
    "find_missing_rcv1",
    "has_original_hess",
    "has_original_rcv1",
    "load_hess",
    "load_rcv1",
]

#: LIBSVM's files of rcv1.binary, plain or compressed by bzip2, and the file of `load_real` used without them.
RCV1_TRAIN = "text/rcv1_train.binary"
RCV1_TEST = "text/rcv1_test.binary"
RCV1_SUBSTITUTE = "text/rcv1_binary_subsets.npz"
RCV1_FEATURES = 47_236
#: The paper trains on the whole first file and tests on 20,000 documents of the second.
RCV1_TRAIN_SIZE, RCV1_TEST_SIZE = 20_242, 20_000
#: A table of all probes, and the file of `load_real` used without it.
HESS_TABLE = "hess_mda133/mda133.csv"
HESS_SUBSTITUTE = "hess_mda133/mda133_top1400.npz"
HESS_PROBES = 22_283
RESPONSES = {"RD": 0, "pCR": 1}
#: Subjects with each response.
HESS_SUBJECTS = {"RD": 99, "pCR": 34}

RCV1_HOME = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
HESS_HOME = "https://doi.org/10.1200/JCO.2006.05.6861"

RCV1_HELP = (
    "rcv1.binary is not part of ksparse; set the environment variable KSPARSE_DATA or the option --data to a folder"
    f" with {RCV1_TRAIN} and {RCV1_TEST}, each plain or as .bz2, from LIBSVM's page of binary classification data"
    f" ({RCV1_HOME}; Lewis et al., RCV1, JMLR 5, 2004), or with {RCV1_SUBSTITUTE}, which replaces them"
)
HESS_HELP = (
    "the breast cancer data are not part of ksparse; set the environment variable KSPARSE_DATA or the option --data to"
    f" a folder with {HESS_TABLE}: the 133 subjects of Hess et al. (Journal of Clinical Oncology 24, 2006, {HESS_HOME})"
    " as rows, with pCR or RD in the first column and then an expression level for each probe, below a line with the"
    f" names of the columns; or with {HESS_SUBSTITUTE}, which replaces it"
)


class SplitData(NamedTuple):
    """Training and test parts of a data set with labels −1 and +1, and a description of their source.

    ``original`` says whether they come from the files of the paper.
    """

    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array
    original: bool
    source: str


class ExpressionData(NamedTuple):
    """Gene expressions and labels 1 (pCR) or 0 (RD), and a description of their source.

    ``original`` says whether all probes are included.
    """

    X: Array
    y: Any
    original: bool
    source: str


def has_original_rcv1() -> bool:
    """Whether the data folder has LIBSVM's two files of rcv1.binary."""
    return all(_find(name, name + ".bz2") is not None for name in (RCV1_TRAIN, RCV1_TEST))


def has_original_hess() -> bool:
    """Whether the data folder has the table of all probes of the breast cancer data."""
    return _find(HESS_TABLE) is not None


def find_missing_rcv1() -> str | None:
    """What to do if neither the original files of rcv1.binary nor the substitute are found; None if they are."""
    if has_original_rcv1() or _find(RCV1_SUBSTITUTE) is not None:
        return None
    return RCV1_HELP + _describe_search(RCV1_TRAIN, RCV1_TEST)


def find_missing_hess() -> str | None:
    """The same for the breast cancer data."""
    return None if has_original_hess() or _find(HESS_SUBSTITUTE) is not None else HESS_HELP + _describe_search()


def load_rcv1(random_state: int = 0) -> SplitData:
    """Load rcv1.binary, the texts of the paper's Figures 2 and 3, split for training and testing.

    With LIBSVM's files in the folder that KSPARSE_DATA names, the training part is the first file (20,242 documents)
    and the test part the first 20,000 documents of the second: the paper does not say which 20,000 it used. Otherwise
    ``load_real("rcv1")`` replaces them: 23,727 documents of RCV1-v2 with the same features and the same rule for
    labels, but other documents, in which 19,054 features never occur. They are shuffled and split in the paper's ratio
    into 11,935 and 11,792.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the shuffle; the original files are not shuffled.

    Returns
    -------
    SplitData
        Sparse X with rows of length 1, and labels.

    Raises
    ------
    FileNotFoundError
        If neither is found; the message says where to get the files and what to set.
    ValueError
        If the files are not LIBSVM's: another format or another number of documents.
    """
    train, test = (_find(name, name + ".bz2") for name in (RCV1_TRAIN, RCV1_TEST))
    if train is not None and test is not None:
        X_train, y_train = _read_documents(train, None)
        _check_documents(train, len(y_train), RCV1_TRAIN_SIZE)
        X_test, y_test = _read_documents(test, RCV1_TEST_SIZE)
        _check_documents(test, len(y_test), RCV1_TEST_SIZE)
        source = (
            f"LIBSVM's rcv1.binary: all {len(y_train):,} documents of its training file and the first {len(y_test):,}"
            " of its test file"
        )
        return SplitData(X_train, y_train, X_test, y_test, True, source)
    missing = find_missing_rcv1()
    if missing is not None:
        raise FileNotFoundError(missing)
    return _split(*load_real("rcv1"), random_state)


def load_hess() -> ExpressionData:
    """Load the paper's breast cancer data: gene expressions of 133 subjects and their response to chemotherapy.

    If the folder that KSPARSE_DATA names has ``hess_mda133/mda133.csv``, that table is read: a line of names, then a
    line for each subject, with ``pCR`` (pathologic complete response) or ``RD`` (residual disease) in the first column
    and the raw expression levels of all 22,283 probes in the others. Otherwise ``load_real("hess")`` replaces it: the
    same subjects with 1400 probes that were preselected with all labels, so that accuracies are slightly optimistic.

    Returns
    -------
    ExpressionData
        ``X`` as log₂(expression + 1), and ``y`` (1: pCR).

    Raises
    ------
    FileNotFoundError
        If neither is found; the message says where the data are from and what to set.
    ValueError
        If the table is not as described.
    """
    table = _find(HESS_TABLE)
    if table is not None:
        return _read_expressions(table)
    missing = find_missing_hess()
    if missing is not None:
        raise FileNotFoundError(missing)
    X, y = load_real("hess")
    source = f"{len(y)} subjects with {X.shape[1]:,} of the 22,283 probes, preselected with all labels"
    return ExpressionData(np.asarray(X), y, False, source)


def _describe_search(*originals: str) -> str:
    """Which folder was searched, and which of the files needed together it has."""
    folder = os.environ.get("KSPARSE_DATA")
    if not folder:
        return ""
    if not Path(folder).is_dir():
        return f"; the folder {folder} does not exist"
    found = [name for name in originals if _find(name, name + ".bz2") is not None]
    return f"; the folder {folder} has {f'only {found[0]}' if found else 'none of them'}"


def _find(*names: str) -> Path | None:
    """The first of these files that the data folder has."""
    folder = os.environ.get("KSPARSE_DATA")
    paths = [Path(folder) / name for name in names] if folder else []
    return next((path for path in paths if path.is_file()), None)


def _read_documents(path: Path, most: int | None) -> tuple[Any, Array]:
    """The first documents of a file in svmlight format, whose indices start at 1."""
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        lines = BytesIO(b"".join(islice(file, most)))
    try:
        X, y = load_svmlight_file(lines, n_features=RCV1_FEATURES, zero_based=False)
    except ValueError as error:
        raise ValueError(
            f"{path} is not in svmlight format ({error}); expected a label and index:value pairs with indices from 1"
            f" to {RCV1_FEATURES} on each line, as in LIBSVM's rcv1.binary"
        ) from error
    return sparse.csr_array(X), y


def _check_documents(path: Path, found: int, expected: int) -> None:
    """A truncated or different file would give results that are not those of rcv1.binary."""
    if found != expected:
        raise ValueError(
            f"{path} has {found:,} documents where {expected:,} are expected; it may be truncated or a different file."
            f" Download LIBSVM's file again, or remove it to use {RCV1_SUBSTITUTE} instead"
        )


def _split(X: Any, y: Any, random_state: int) -> SplitData:
    """A seeded shuffle, split in the paper's ratio."""
    order = np.random.default_rng(random_state).permutation(len(y))
    size = round(len(y) * RCV1_TRAIN_SIZE / (RCV1_TRAIN_SIZE + RCV1_TEST_SIZE))
    train, test = order[:size], order[size:]
    source = (
        f"{len(y):,} documents of RCV1-v2 with the features and the rule for labels of LIBSVM's rcv1.binary, but other"
        f" documents, shuffled and split into {train.size:,} for training and {test.size:,} for testing"
    )
    labels = np.asarray(y, dtype=np.float64)
    return SplitData(X[train], labels[train], X[test], labels[test], False, source)


def _read_expressions(path: Path) -> ExpressionData:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = [name.strip(' "') for name in lines[0].split(",")] if lines else []
    if header and header[0] in RESPONSES:
        raise ValueError(f"{path} starts with a subject; expected a line with the names of the columns first")
    probes = max(len(header) - 1, 0)
    y, levels = [], []
    for number, line in enumerate(lines[1:], 2):
        label, _, rest = line.partition(",")
        y.append(_read_response(label.strip(' "'), path, number))
        levels.append(_read_levels(rest, probes, path, number))
    if not y or not probes:
        raise ValueError(f"{path} has no subjects or no probes; expected a line of names, then a line for each subject")
    for response, code in RESPONSES.items():
        if y.count(code) != HESS_SUBJECTS[response]:
            raise ValueError(
                f"{path} has {y.count(code)} subjects with {response}, but the data of Hess et al. have"
                f" {HESS_SUBJECTS[response]}; give all subjects, one on each line"
            )
    if probes != HESS_PROBES:
        raise ValueError(
            f"{path} has {probes:,} probes, but the data of Hess et al. have {HESS_PROBES:,}; give all of them, since"
            " each training set selects its genes among them"
        )
    source = f"{len(y)} subjects with {probes:,} probes, from {path.name}"
    return ExpressionData(np.log2(np.array(levels) + 1.0), np.array(y), True, source)


def _read_response(label: str, path: Path, number: int) -> int:
    if label not in RESPONSES:
        raise ValueError(f"{path}, line {number}: the first column must be pCR or RD, got {label!r}")
    return RESPONSES[label]


def _read_levels(text: str, count: int, path: Path, number: int) -> Array:
    try:
        levels = np.array(text.split(","), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: an expression level is not a number ({error})") from None
    if levels.size != count:
        raise ValueError(f"{path}, line {number}: {levels.size} expression levels, but the first line names {count}")
    if not np.isfinite(levels).all() or levels.min(initial=0.0) < 0:
        raise ValueError(
            f"{path}, line {number}: expression levels must be finite and nonnegative, before any logarithm"
        )
    return levels
