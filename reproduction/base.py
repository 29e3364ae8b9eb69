"""The interface of an experiment: its settings, tasks that can run in any order, and what it shows of their results."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .claims import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Array", "Experiment", "IntArray", "Mask", "Picture", "Row", "Scale", "Settings", "Task", "TextTable"]

Array = NDArray[np.float64]
IntArray = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: One result: numbers and text only, so that it can be written as JSON and CSV.
Row = dict[str, Any]
#: How much is run: a check that everything works, enough to see the main effects, or everything the paper did.
Scale = Literal["quick", "standard", "full"]

#: Settings that count repetitions: results of fewer replications remain valid when more are asked for.
REPETITIONS = ("replications", "floor_replications")
#: Characters that file names should not have.
UNSAFE_IN_NAMES = r"[^\w.-]+"


@dataclass(frozen=True)
class Settings:
    """Everything that defines a run of an experiment; subclasses add the fields."""

    def compute_fingerprint(self) -> str:
        """Hash of all settings except the numbers of replications."""
        relevant = {name: value for name, value in asdict(self).items() if name not in REPETITIONS}
        text = json.dumps([type(self).__name__, relevant], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Task:
    """The part of an experiment that one process runs: all methods on the same data.

    Attributes
    ----------
    key : dict
        Numbers and words that identify the task; every row of its results repeats them.
    """

    key: dict[str, Any]

    @property
    def name(self) -> str:
        """The key as the name of a file.

        Examples
        --------
        >>> Task({"n": 100, "genes": "by all subjects"}).name
        'n=100,genes=by_all_subjects'
        """
        return ",".join(f"{name}={re.sub(UNSAFE_IN_NAMES, '_', str(value))}" for name, value in self.key.items())


@dataclass(frozen=True)
class Picture:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Name of its file, without the ending.
    title : str
        What it shows, in one line.
    caption : str
        How to read it, including the step-size rule of each method.
    draw : callable
        Draws into the matplotlib figure it is given.
    size : tuple of float
        Width and height in inches.
    opening : bool
        Whether it corresponds to a figure of the paper; the report opens with these.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[Figure], Any]
    size: tuple[float, float] = (9.0, 3.6)
    opening: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table of the report.

    Attributes
    ----------
    title, caption : str
        What it shows in one line, and how to read it.
    header : tuple of str
        Names of the columns.
    rows : list of list
        The cells.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    rows: list[list[Any]] = field(default_factory=list)


class Experiment(ABC):
    """One experiment of the paper.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title, paper : str
        Title of its section, and where it is in the paper.
    text : str
        What is done, and how it differs from the paper.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    text: ClassVar[str]

    def find_missing_data(self) -> str | None:
        """Why it cannot run here and what to do about it; None if it can."""
        return None

    @abstractmethod
    def make_settings(self, scale: Scale) -> Any:
        """The settings of a scale."""

    def describe_data(self, settings: Any) -> str:
        """How the data of this run differ from the paper's; empty if they do not."""
        return ""

    @abstractmethod
    def list_tasks(self, settings: Any) -> list[Task]:
        """All tasks; they can run in any order."""

    @abstractmethod
    def run(self, settings: Any, task: Task) -> list[Row]:
        """Run one task and return its rows, without the entries of its key."""

    @abstractmethod
    def draw_pictures(self, settings: Any, frame: pd.DataFrame) -> list[Picture]:
        """Figures of the results."""

    def make_tables(self, settings: Any, frame: pd.DataFrame) -> list[TextTable]:
        """Tables of the results; none by default."""
        return []

    def judge_claims(self, settings: Any, frame: pd.DataFrame) -> list[Claim]:
        """The paper's claims about these results, with verdicts; none by default."""
        return []
