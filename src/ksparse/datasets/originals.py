"""The paper's two real data sets: from the files it had, where they are at hand, or from what stands in for them."""

from __future__ import annotations

import bz2
import os
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._types import AnyArray, Array, Matrix
from .real import REAL_DATA, load_feature_names, load_real

__all__ = [
    "ExpressionData",
    "SplitData",
    "has_original_hess",
    "has_original_rcv1",
    "load_hess",
    "load_rcv1",
    "missing_hess",
    "missing_rcv1",
]

#: LIBSVM's files of rcv1.binary, each as it is or compressed by bzip2.
RCV1_TRAIN = "text/rcv1_train.binary"
RCV1_TEST = "text/rcv1_test.binary"
RCV1_FEATURES = 47_236
#: The paper's training set is all of the first file; its testing subset has 20,000 of the second file's documents.
RCV1_TRAIN_SIZE, RCV1_TEST_SIZE = 20_242, 20_000
#: A table of all probes.
HESS_TABLE = "hess_mda133/mda133.csv"
HESS_PROBES = 22_283
RESPONSES = {"RD": 0, "pCR": 1}
#: Subjects with each response.
HESS_SUBJECTS = {"RD": 99, "pCR": 34}

RCV1_HOME = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
HESS_HOME = "https://doi.org/10.1200/JCO.2006.05.6861"

RCV1_HELP = (
    "rcv1.binary is not part of the package; set the environment variable KSPARSE_DATA (on the command line: --data) to"
    f" a folder that has {RCV1_TRAIN} and {RCV1_TEST}, each as it is or as .bz2, from LIBSVM's page of binary"
    f" classification data ({RCV1_HOME}; Lewis et al., RCV1, JMLR 5, 2004), or that has {REAL_DATA['rcv1']}, which"
    " stands in for them"
)
HESS_HELP = (
    "the breast cancer data are not part of the package; set the environment variable KSPARSE_DATA (on the command"
    f" line: --data) to a folder that has {HESS_TABLE}, the 133 subjects of Hess et al. (Journal of Clinical Oncology"
    f" 24, 2006, {HESS_HOME}) as rows: first a column with pCR or RD, then a column of expression levels for each"
    f" probe, under a line with their names; or that has {REAL_DATA['hess']}, which stands in for it"
)


class SplitData(NamedTuple):
    """Training and test parts of a data set with labels −1 and +1, and in words where they come from.

    ``original`` says whether they come from the files that the paper had.
    """

    X_train: Matrix
    y_train: Array
    X_test: Matrix
    y_test: Array
    original: bool
    source: str


class ExpressionData(NamedTuple):
    """Gene expressions, labels 1 (pCR) and 0 (RD), names of the probes, and in words where they come from.

    ``original`` says whether all probes are there.
    """

    X: Array
    y: AnyArray
    probes: AnyArray
    original: bool
    source: str


def has_original_rcv1() -> bool:
    """Whether the folder that KSPARSE_DATA names has LIBSVM's two files of rcv1.binary.

    Examples
    --------
    >>> from ksparse.datasets import has_original_rcv1
    >>> has_original_rcv1() in (True, False)
    True
    """
    return all(_found(name, name + ".bz2") is not None for name in (RCV1_TRAIN, RCV1_TEST))


def has_original_hess() -> bool:
    """Whether the folder that KSPARSE_DATA names has the table of all probes of the breast cancer data.

    Examples
    --------
    >>> from ksparse.datasets import has_original_hess
    >>> has_original_hess() in (True, False)
    True
    """
    return _found(HESS_TABLE) is not None


def missing_rcv1() -> str | None:
    """What to do if neither the original files of rcv1.binary nor what stands in for them are there; None if they are.

    Examples
    --------
    >>> from ksparse.datasets import missing_rcv1
    >>> "LIBSVM" in (missing_rcv1() or "LIBSVM")
    True
    """
    return (
        None
        if has_original_rcv1() or _found(REAL_DATA["rcv1"]) is not None
        else RCV1_HELP + _searched(RCV1_TRAIN, RCV1_TEST)
    )


def missing_hess() -> str | None:
    """The same for the breast cancer data.

    Examples
    --------
    >>> from ksparse.datasets import missing_hess
    >>> "KSPARSE_DATA" in (missing_hess() or "KSPARSE_DATA")
    True
    """
    return None if has_original_hess() or _found(REAL_DATA["hess"]) is not None else HESS_HELP + _searched()


def load_rcv1(random_state: int = 0) -> SplitData:
    """Load the texts of the paper's Figures 2 and 3, rcv1.binary, split for training and testing.

    If the folder that KSPARSE_DATA names has LIBSVM's files ``text/rcv1_train.binary`` and ``text/rcv1_test.binary``,
    as they are or as ``.bz2``, the first is the training part (20,242 documents) and the first 20,000 documents of the
    second are the test part: the paper does not say which 20,000 it took.

    Otherwise ``load_real("rcv1")`` stands in for them: 23,727 documents of RCV1-v2 in the same space of features and
    with the same rule for labels, but other documents, in which 19,054 features never occur. They are shuffled and
    split in the paper's ratio, into 11,935 and 11,792.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the shuffle; the original files are not shuffled.

    Returns
    -------
    SplitData
        ``X_train, y_train, X_test, y_test``, sparse, with rows of length 1, and where they come from.

    Raises
    ------
    FileNotFoundError
        If neither is there; the message says where the files are from and what to set.
    ValueError
        If the files are not LIBSVM's: of another format, or with another number of documents.

    Examples
    --------
    >>> from ksparse.datasets import load_rcv1
    >>> load_rcv1().X_train.shape  # doctest: +SKIP
    (11935, 47236)
    """
    train, test = (_found(name, name + ".bz2") for name in (RCV1_TRAIN, RCV1_TEST))
    if train is not None and test is not None:
        X_train, y_train = _documents(train, None)
        _check_documents(train, len(y_train), RCV1_TRAIN_SIZE)
        X_test, y_test = _documents(test, RCV1_TEST_SIZE)
        _check_documents(test, len(y_test), RCV1_TEST_SIZE)
        source = (
            f"LIBSVM's rcv1.binary: all {len(y_train):,} documents of its training file, and the first {len(y_test):,}"
            " of its test file"
        )
        return SplitData(X_train, y_train, X_test, y_test, True, source)
    missing = missing_rcv1()
    if missing is not None:
        raise FileNotFoundError(missing)
    return _split(*load_real("rcv1"), random_state)


def load_hess() -> ExpressionData:
    """Load the paper's breast cancer data: gene expressions of 133 subjects, and how they responded to chemotherapy.

    If the folder that KSPARSE_DATA names has ``hess_mda133/mda133.csv``, it is read: a line of names, then a line for
    each subject, with ``pCR`` (a pathologic complete response) or ``RD`` (residual disease) in the first column and the
    raw expression levels of all 22,283 probes in the others. Otherwise ``load_real("hess")`` stands in for it: the same
    subjects with 1400 probes, preselected with all labels, so that accuracies are mildly optimistic.

    Returns
    -------
    ExpressionData
        ``X``, as log₂(expression + 1), ``y`` (1: pCR), ``probes``, and where they come from.

    Raises
    ------
    FileNotFoundError
        If neither is there; the message says where the data are from and what to set.
    ValueError
        If the table is not as described.

    Examples
    --------
    >>> from ksparse.datasets import load_hess
    >>> load_hess().X.shape  # doctest: +SKIP
    (133, 1400)
    """
    table = _found(HESS_TABLE)
    if table is not None:
        return _expressions(table)
    missing = missing_hess()
    if missing is not None:
        raise FileNotFoundError(missing)
    X, y = load_real("hess")
    source = f"{len(y)} subjects with {X.shape[1]:,} of the 22,283 probes, preselected with all labels"
    return ExpressionData(np.asarray(X), y, load_feature_names("hess"), False, source)


def _searched(*originals: str) -> str:
    """Where nothing was found, if anywhere was looked, and what is there of files that are needed together."""
    folder = os.environ.get("KSPARSE_DATA")
    if not folder:
        return ""
    if not Path(folder).is_dir():
        return f"; there is no folder {folder}"
    there = [name for name in originals if _found(name, name + ".bz2") is not None]
    return f"; the folder {folder} has {f'only {there[0]}' if there else 'none of them'}"


def _found(*names: str) -> Path | None:
    """The first of these files that the folder of real data has."""
    folder = os.environ.get("KSPARSE_DATA")
    paths = [Path(folder) / name for name in names] if folder else []
    return next((path for path in paths if path.is_file()), None)


def _documents(path: Path, most: int | None) -> tuple[Matrix, Array]:
    """The first documents of a file in svmlight's format, whose features count from 1."""
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        lines = BytesIO(b"".join(islice(file, most)))
    try:
        X, y = load_svmlight_file(lines, n_features=RCV1_FEATURES, zero_based=False)
    except ValueError as error:
        raise ValueError(
            f"{path} is not in svmlight's format ({error}); expected a label and index:value pairs with indices from 1"
            f" to {RCV1_FEATURES} on each line, as in LIBSVM's rcv1.binary"
        ) from error
    return sparse.csr_array(X), y


def _check_documents(path: Path, found: int, expected: int) -> None:
    """A file that was cut off, or another one, would give results that are not those of rcv1.binary."""
    if found != expected:
        raise ValueError(
            f"{path} has {found:,} documents where {expected:,} are expected; was it cut off, or is it another file?"
            f" Get LIBSVM's again, or take it away, so that {REAL_DATA['rcv1']} stands in, if it is there"
        )


def _split(X: Matrix, y: AnyArray, random_state: int) -> SplitData:
    """A seeded shuffle, split in the paper's ratio."""
    order = np.random.default_rng(random_state).permutation(len(y))
    size = round(len(y) * RCV1_TRAIN_SIZE / (RCV1_TRAIN_SIZE + RCV1_TEST_SIZE))
    train, test = order[:size], order[size:]
    source = (
        f"{len(y):,} documents of RCV1-v2 in the feature space and with the label rule of LIBSVM's rcv1.binary, but not"
        f" the same documents, shuffled and split into {train.size:,} for training and {test.size:,} for testing"
    )
    labels = np.asarray(y, dtype=np.float64)
    return SplitData(X[train], labels[train], X[test], labels[test], False, source)


def _expressions(path: Path) -> ExpressionData:
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines and lines[0].partition(",")[0].strip(' "') in RESPONSES:
        raise ValueError(f"{path} begins with a subject; expected a line with the names of the probes before it")
    probes = [name.strip(' "') for name in lines[0].split(",")[1:]] if lines else []
    y, levels = [], []
    for number, line in enumerate(lines[1:], 2):
        label, _, rest = line.partition(",")
        y.append(_response(label.strip(' "'), path, number))
        levels.append(_levels(rest, len(probes), path, number))
    if not y or not probes:
        raise ValueError(f"{path} has no subjects or no probes; expected a line of names, then one for each subject")
    for response, code in RESPONSES.items():
        if y.count(code) != HESS_SUBJECTS[response]:
            raise ValueError(
                f"{path} has {y.count(code)} subjects with {response}, but the data of Hess et al. have"
                f" {HESS_SUBJECTS[response]}; give all subjects, a line each"
            )
    if len(probes) != HESS_PROBES:
        raise ValueError(
            f"{path} has {len(probes):,} probes, but the data of Hess et al. have {HESS_PROBES:,}; give all of them,"
            " since the genes are to be chosen among them by each training set"
        )
    source = f"{len(y)} subjects with {len(probes):,} probes, from {path.name}"
    return ExpressionData(np.log2(np.array(levels) + 1.0), np.array(y), np.array(probes), True, source)


def _response(label: str, path: Path, number: int) -> int:
    if label not in RESPONSES:
        raise ValueError(f"{path}, line {number}: the first column must be pCR or RD, got {label!r}")
    return RESPONSES[label]


def _levels(text: str, count: int, path: Path, number: int) -> Array:
    try:
        levels = np.array(text.split(","), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: an expression level is not a number ({error})") from None
    if levels.size != count:
        raise ValueError(f"{path}, line {number}: {levels.size} expression levels, but the first line names {count}")
    if not np.isfinite(levels).all() or levels.min(initial=0.0) < 0:
        raise ValueError(
            f"{path}, line {number}: expression levels must be finite and not negative, before any logarithm"
        )
    return levels
