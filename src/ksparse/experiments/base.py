"""What an experiment is: settings in one place, tasks that can be done in any order, and what their results show."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .claims import Claim
from .tables import Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment", "Figures", "Picture", "Scale", "Settings", "Task", "TextTable"]

#: How much of an experiment is done: to see that it runs, to see what it shows, or all of what the paper did.
Scale = Literal["quick", "standard", "full"]


#: Settings that only say how much is done: what was done with fewer replications is a part of more of them.
AMOUNTS = ("replications", "floor_replications")


@dataclass(frozen=True)
class Settings:
    """Numbers and names that define a run of an experiment; subclasses have them as fields."""

    def fingerprint(self) -> str:
        """A short text that differs if a setting differs, but for how often things are repeated."""
        repeatable = {name: value for name, value in asdict(self).items() if name not in AMOUNTS}
        described = json.dumps([type(self).__name__, repeatable], sort_keys=True)
        return hashlib.blake2b(described.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Task:
    """A part of an experiment that one process does: all methods on the same data.

    Attributes
    ----------
    place : dict
        What distinguishes it from the other tasks: numbers and words. Each of its rows has them too.
    """

    place: dict[str, Any]

    @property
    def key(self) -> str:
        """A text by which it is known again."""
        return json.dumps(self.place, sort_keys=True)


@dataclass(frozen=True)
class Picture:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Of its file.
    caption : str
        What it shows, with the step-size rule of each method.
    draw : callable
        Draws into a figure.
    size : tuple of float
        Width and height in inches.
    """

    name: str
    caption: str
    draw: Callable[[Figure], Any]
    size: tuple[float, float] = (9.0, 3.6)


Figures = list[Picture]


@dataclass(frozen=True)
class TextTable:
    """A table of the report.

    Attributes
    ----------
    caption : str
        What it shows.
    heads : tuple of str
        Names of its columns.
    rows : list of list
        Its cells.
    """

    caption: str
    heads: tuple[str, ...]
    rows: list[list[Any]] = field(default_factory=list)


class Experiment(ABC):
    """One experiment of the paper.

    Attributes
    ----------
    name : str
        What the command line calls it.
    title, paper : str
        Of its section, and where in the paper it is.
    text : str
        What is done, and how it differs from the paper.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    text: ClassVar[str]

    def unavailable(self) -> str | None:
        """Why it cannot be run here, if it cannot; by default it can."""
        return None

    @abstractmethod
    def settings(self, scale: Scale) -> Any:
        """The settings of a scale."""

    def remark(self, settings: Any) -> str:
        """What a reader has to know of this run beside `text`, such as which data it had; nothing by default."""
        return ""

    @abstractmethod
    def tasks(self, settings: Any) -> list[Task]:
        """All parts, which can be done in any order."""

    @abstractmethod
    def run(self, settings: Any, task: Task) -> list[Row]:
        """Do one part: the rows of its results, without the names of its place."""

    @abstractmethod
    def pictures(self, settings: Any, table: Table) -> Figures:
        """Figures of the results."""

    def text_tables(self, settings: Any, table: Table) -> list[TextTable]:
        """Tables of the results; none by default."""
        return []

    def claims(self, settings: Any, table: Table) -> list[Claim]:
        """What the paper says of these results, and whether ours say so; nothing by default."""
        return []
