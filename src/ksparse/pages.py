"""Pages that need nothing but themselves: HTML with its style, and figures as SVG in it."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from .text import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "address",
    "embedded",
    "figure",
    "link",
    "page",
    "row",
    "section",
    "svg",
    "table",
    "text",
    "text_lines",
    "tiles",
]

#: Width and height of a figure in inches, unless something else is asked for.
SIZE = (5.6, 3.9)


def page(title: str, lead: str, numbers: str, sections: Iterable[str]) -> str:
    """A whole page.

    Parameters
    ----------
    title : str
        Its title, as text.
    lead : str
        What stands under it, as HTML.
    numbers : str
        The numbers that one looks for first, by `tiles`.
    sections : iterable of str
        HTML, by `section`.
    """
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=text(title), lead=lead, numbers=numbers, sections="\n".join(sections), version=text(version("ksparse"))
    )


def text(value: Any) -> str:
    """Text from anywhere, for HTML."""
    return escape(clean(value))


def text_lines(value: str) -> str:
    """Several lines of text, for HTML."""
    return "\n".join(text(line) for line in value.split("\n"))


def tiles(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Numbers with what they are."""
    return "".join(f"<div><b>{text(value)}</b><span>{text(what)}</span></div>" for value, what in pairs)


def section(title: str, *parts: str, name: str = "") -> str:
    """A section of parts that are HTML already; links find it by its name."""
    place = f' id="{text(name)}"' if name else ""
    return f"<section{place}>\n<h2>{text(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def link(name: str, words: str) -> str:
    """A link to a section of the page."""
    return f'<a href="#{text(name)}">{text(words)}</a>'


def table(heads: Sequence[str], rows: Iterable[str], kind: str = "") -> str:
    """A table of rows that are HTML already; heads are text."""
    head = "".join(f"<th>{text(name)}</th>" for name in heads)
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )


def row(cells: Iterable[Any], kind: str = "") -> str:
    """A row of a table; cells are text."""
    return f'<tr class="{kind}">' + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"


def figure(source: str, caption: str) -> str:
    """A picture with what it shows."""
    return f'<figure><img src="{source}" alt="{text(caption)}"><figcaption>{text(caption)}</figcaption></figure>'


def embedded(draw: Callable[[Figure], Any], size: tuple[float, float] = SIZE) -> str:
    """The address of a picture that is in the address itself.

    Parameters
    ----------
    draw : callable
        Draws into the figure that it is given.
    size : tuple of float
        Width and height in inches.
    """
    return address(svg(draw, size))


def address(picture: str) -> str:
    """The address of an SVG picture that is in the address itself."""
    return "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode("ascii")


def svg(draw: Callable[[Figure], Any], size: tuple[float, float] = SIZE) -> str:
    """A picture as SVG, the same in each run; matplotlib is imported here only."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    # Letters that the font lacks are drawn as boxes; a line on the terminal would not help.
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "ksparse"}):
        warnings.simplefilter("ignore")
        canvas = Figure(figsize=size, layout="constrained")
        draw(canvas)
        canvas.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue().decode()
