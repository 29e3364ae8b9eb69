"""What a file from anywhere may take: all limits on input are here.

A file is refused before its content takes more memory than a limit. Models may take `MAX_BYTES`, whatever their size;
data may take that too, or `SIZE_FACTOR` times the size of their file if that is more, so that only data which grow out
of proportion are refused. A caller sets another limit for a file; an environment variable, for all (`MEMORY_VARIABLE`).
"""

from __future__ import annotations

import os
import re

#: Memory that the content of a file may take. A model of a million features takes a hundredth of this.
MAX_BYTES = 2 * 2**30
#: A file of data may take this many times its size. Numbers in compressed text take about a quarter of it.
SIZE_FACTOR = 100
#: Environment variable with another limit in place of both, such as 8GB.
MEMORY_VARIABLE = "KSPARSE_MAX_MEMORY"

#: Bytes that are read at once.
CHUNK = 2**16
#: Bytes in a line of a text file. A line with a million numbers takes a third of this.
MAX_LINE = 64 * 2**20
#: Memory of the decoder of an xz file: xz -9 needs 65 MB of it.
XZ_MEMORY = 256 * 2**20
#: Memory of each element of the XML of an Excel file, in sheets and texts, and in other parts. Measured: up to 320 for
#: the cells of one row, and up to 730 for references.
CELL_ELEMENT_COST, ELEMENT_COST = 320, 800
#: Rows that a sheet of Excel may have.
MAX_SHEET_ROWS = 2**20
#: Measured memory of each byte of a text file, of each of its cells and of each of its columns while pandas reads them.
BYTE_COST, CELL_COST, COLUMN_COST = 3, 60, 3500
#: Measured memory of each byte of an svmlight file while scikit-learn reads it.
SVMLIGHT_COST = 8
#: Memory of each feature of a fit that chooses k, in vectors with a number for each: measured on an svmlight file with
#: a million features.
FEATURE_COST = 4500
#: Memory of each row of a fit: labels, weights, folds and predictions. Measured: 450 on a table with one feature.
ROW_COST = 400
#: Memory of each pair of variables of a graph, in some matrices of the size of its covariance: measured with 1500
#: variables: 320.
PAIR_COST = 350
#: The largest number in data: the squares of larger ones overflow.
LARGEST = 1e100
#: Memory of each cell of a table of predictions, with its text.
PREDICTION_COST = 100

#: Memory of the parsed text of a model at each of these characters.
PARSED_COST = {"{": 400, "[": 130, ",": 70}
#: Text in an array of a model counts so many times: it is padded to the longest, and unlike zeros fills its memory.
PADDING_COST = 32
#: Axes of an array in a model (NumPy's own limit), fields of its type, and letters of the name of a type.
MAX_AXES, MAX_FIELDS, MAX_TYPE_NAME = 32, 100, 16
#: Numbers in a range of a model, which a class may turn into a list: the k to choose from.
LARGEST_RANGE = 10**6

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_size(text: str) -> int:
    """A number of bytes such as 500MB, 8GB or 1.5 GiB; units are powers of 1024.

    Examples
    --------
    >>> from ksparse.limits import parse_size
    >>> parse_size("8GB") == 8 * 2**30
    True
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?\s*", text, flags=re.I | re.A)
    size = int(float(match[1]) * UNITS[match[2].upper()]) if match else 0
    if size < 1:
        raise ValueError(f"expected a size such as 500MB or 8GB, got {text[:60]!r}")
    return size


def describe_size(size: int, base: int = 1024) -> str:
    """A number of bytes for people; a unit is so many of the smaller one, as in what they have written.

    Examples
    --------
    >>> from ksparse.limits import describe_size
    >>> describe_size(2 * 2**30), describe_size(1000), describe_size(700_000_000, base=1000)
    ('2 GB', '1000 bytes', '700 MB')
    """
    for unit, power in (("T", 4), ("G", 3), ("M", 2)):
        if size >= base**power:
            return f"{size / base**power:.3g} {unit}B"
    return f"{size} bytes"


def find_limit(chosen: int | None = None, file_size: int = 0) -> int:
    """Memory that the content of a file may take: what the caller chose, or the environment, or the default."""
    if chosen is not None:
        return chosen
    if text := os.environ.get(MEMORY_VARIABLE):
        try:
            return parse_size(text)
        except ValueError as error:
            raise ValueError(f"the environment variable {MEMORY_VARIABLE}: {error}") from error
    return max(MAX_BYTES, SIZE_FACTOR * file_size)
