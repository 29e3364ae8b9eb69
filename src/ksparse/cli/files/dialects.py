"""How a text file is written: what is before its header, what separates its cells, and its decimal mark."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TextIO

from ..errors import InputError, quote_path
from .base import count_titles, describe_titles, describe_unnamed
from .cells import find_decimal, is_number
from .options import ReadingOptions

#: Tried in this order.
SEPARATORS = "\t;,|"
#: Runs of spaces and tabs.
SPACES = " "
#: What a blank line may have: to pandas, other white space is a cell.
BLANK = " \t\r\n"
COMMENT = "#"
#: Blank lines and comments in which the header is looked for.
MOST_LINES_BEFORE = 10_000
#: Lines from which the dialect is found out, unless they have more letters than this; then fewer lines.
SAMPLE_LINES, SAMPLE_LETTERS, LEAST_LINES = 1000, 2**20, 10
#: The first line of some files of Excel.
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', flags=re.I)
#: Fraction of rows that have as many cells as the header, if the separator is right.
MOST_ALIKE = 0.9


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Parameters
    ----------
    separator : str
        What separates cells; a space stands for runs of spaces and tabs.
    before : int
        Lines before the header.
    columns : list of str
        The names of all columns; empty for one without a name.
    decimal : {".", ","}
        The decimal mark.
    notes : tuple of str
        What was assumed, for the user.
    """

    separator: str
    before: int
    columns: list[str]
    decimal: str
    notes: tuple[str, ...]


def split_rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank: the line on which each starts, counted from 1, and its cells."""
    if separator == SPACES:
        lines = (re.sub(r"[ \t]+", SPACES, text.strip(BLANK)) + "\n" for text in lines)
    reader, line = csv.reader(lines, delimiter=separator, skipinitialspace=True), 1
    for cells in reader:
        if len(cells) > 1 or "".join(cells).strip(BLANK):
            yield line, cells
        line = reader.line_num + 1


def find_dialect(file: TextIO, name: str, options: ReadingOptions) -> Dialect:
    """Find out how a text file is written.

    Parameters
    ----------
    file : text file
        The file, with its own line ends.
    name : str
        What messages call it.
    options : ReadingOptions
        What the user says.
    """
    before = sum(1 for _ in islice(file, options.skip))
    count, comments, said, first = _skip_start(file)
    if not first.strip(BLANK):
        raise _explain_empty(name)
    before += count
    sample, whole = _take_sample(file, first)
    separator = options.sep or said or _find_separator(sample, whole=whole)
    lines, rows = _sample_rows(sample, separator, whole=whole)
    if len(rows) < 2 and not whole:  # a header of very many lines
        lines, rows = map(list, zip(*islice(split_rows(chain(sample, file), separator), 2), strict=True))
    if not rows:
        raise _explain_empty(name)
    titles = count_titles(rows)
    rows, lines = rows[titles:], lines[titles:]
    before += lines[0] - 1
    if comments and not titles and (header := _find_commented_header(comments[-1], rows, separator)):
        rows, before = [header, *rows], before - lines[0]
        comments.pop()
    decimal, doubt = find_decimal((cell.strip() for cells in rows[1:] for cell in cells), semicolons=separator == ";")
    if options.decimal:
        decimal, doubt = options.decimal, ""
    columns, note = _find_columns(rows)
    spaced = separator == SPACES and not options.sep
    notes = (
        _describe_comments(len(comments)),
        describe_titles(titles),
        "Cells are separated by spaces (--sep sets another separator)" if spaced else "",
        doubt,
        note,
    )
    # A separator at the end of each row makes a column of nothing.
    ended = not columns[-1] and not any(any(map(str.strip, cells[len(columns) - 1 :])) for cells in rows)
    unnamed = () if note else describe_unnamed(columns[:-1] if ended else columns)
    return Dialect(separator, before, columns, decimal, (*filter(None, notes), *unnamed))


def _describe_comments(count: int) -> str:
    if not count:
        return ""
    return (
        f"{count} comment lines before the header were skipped"
        if count > 1
        else "A comment before the header was skipped"
    )


def _explain_empty(name: str) -> InputError:
    return InputError(f"{quote_path(name)} is empty; expected a line of column names, then rows of cells")


def _skip_start(file: TextIO) -> tuple[int, list[str], str, str]:
    """Skip what is before the header: the number of lines, comments, the separator if one says it, the next line."""
    comments, said, count = [], "", 0
    for text in file:
        found = SEPARATOR_LINE.fullmatch(text)
        if found:
            said = found[1]
        elif text.startswith(COMMENT):
            comments.append(text)
        elif text.strip(BLANK):
            return count, comments, said, text
        count += 1
        if count > MOST_LINES_BEFORE:
            break
    if comments:  # the header may be a comment, if there are no rows
        return count - 1, comments[:-1], said, comments[-1].lstrip(COMMENT)
    return count, [], said, ""


def _take_sample(file: TextIO, first: str) -> tuple[list[str], bool]:
    """Lines from the header on, and whether they are all there are."""
    lines, letters = [first], len(first)
    for text in file:
        if len(lines) >= SAMPLE_LINES or (letters > SAMPLE_LETTERS and len(lines) >= LEAST_LINES):
            return lines, False
        lines.append(text)
        letters += len(text)
    return lines, True


def _sample_rows(sample: list[str], separator: str, *, whole: bool) -> tuple[list[int], list[list[str]]]:
    """The rows of a sample, and on which of its lines they start; the last row may not be whole."""
    found = list(split_rows(sample, separator))
    found = found if whole or len(found) < 2 else found[:-1]
    return [line for line, _ in found], [cells for _, cells in found]


def _find_separator(lines: list[str], *, whole: bool) -> str:
    """The most frequent separator of the header among those that are as frequent in the other rows, if any is."""
    samples, problems = {}, []
    for mark in SEPARATORS + SPACES:
        try:
            samples[mark] = _sample_rows(lines, mark, whole=whole)[1]
        except csv.Error as error:
            problems.append(error)
    if problems and all(len(cells) == 1 for rows in samples.values() for cells in rows):
        raise problems[-1]
    spaced = samples.get(SPACES, [])
    alike = [mark for mark in samples if mark != SPACES and _are_alike(samples[mark])]
    if len(spaced) > 1 and _are_alike(spaced):  # only if no other is: text has spaces, too
        alike.append(SPACES)
    alike = [mark for mark in alike if len(samples[mark][0]) > 1] or alike
    if not alike:  # the first line may be a title
        alike = [mark for mark, rows in samples.items() if mark != SPACES and _are_alike(rows[1:])]

    def rank(mark: str) -> tuple[int, bool, int, bool]:
        rows = samples[mark]
        # A quote inside a cell is more probably one of a text that was cut at the wrong mark.
        quotes = sum('"' in cell for cells in rows[:2] for cell in cells)
        return -quotes, mark != SPACES, len(rows[0]) if rows else 0, mark != ","

    return max(alike or SEPARATORS, key=rank)


def _are_alike(rows: list[list[str]]) -> bool:
    """Whether rows have several cells, and most have as many as the first, or all have one more."""
    widths = [len(cells) for cells in rows]
    if not widths:
        return False
    others = widths[1:] or widths
    same = widths[0] > 1 and sum(width == widths[0] for width in others) >= MOST_ALIKE * len(others)
    return same or (len(widths) > 1 and all(width == widths[0] + 1 > 1 for width in others))


def _find_commented_header(comment: str, rows: list[list[str]], separator: str) -> list[str]:
    """The names of columns in a comment, if it has as many as the first row, and that row has numbers."""
    _, header = next(split_rows([comment.lstrip(COMMENT)], separator), (1, []))
    numeric = any(map(is_number, rows[0]))
    return header if numeric and len(header) == len(rows[0]) > 1 and not any(map(is_number, header)) else []


def _find_columns(rows: list[list[str]]) -> tuple[list[str], str]:
    """The names of all columns, and a note; rows may have one cell more than the header, or one less."""
    header, *others = rows
    names = [cell.strip() for cell in header]
    widths = Counter(map(len, others))
    if len(widths) != 1:
        return names, ""
    (width,) = widths
    if width == len(names) + 1:
        if not any(cells[-1].strip() for cells in others):
            return [*names, ""], ""  # each row ends with a separator
        return ["", *names], "Rows have one cell more than the header; the first was taken for the name of the row"
    if width == len(names) - 1 and not names[-1]:
        return names[:-1], ""
    return names, ""
