"""The report of a run, as one HTML page and as Markdown, with its figures and claims as files."""

from __future__ import annotations

import base64
import os
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from .base import Experiment, Picture, TextTable
from .claims import Claim
from .drawing import render_svg
from .frames import to_csv
from .tasks import TaskResult

__all__ = ["ExperimentResult", "Report", "describe_machine", "describe_settings", "show", "tabulate_claims"]

TITLE = "Gradient Hard Thresholding Pursuit, reproduced"
#: Sequences with fewer values are always written out.
FEW = 4
#: Verdicts with their CSS classes, in the order of the summary.
CLASSES = {"holds": "holds", "partly": "partly", "does not hold": "fails", "not measured": "unknown"}
#: Tables with more rows are folded.
LONG_TABLE = 15
#: Characters with a meaning in Markdown.
MARKDOWN_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\|*_<>[]`"})
PACKAGES = ("ksparse", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment with everything the report shows of it.

    Attributes
    ----------
    experiment : Experiment
        The experiment.
    settings : Settings
        Its settings.
    frame : DataFrame
        Its results, perhaps incomplete.
    missing : str
        How many tasks are missing, such as "3 of 8"; empty if none.
    pictures : list of Picture
        Its figures.
    svgs : dict
        The figures as SVG, by name.
    tables : list of TextTable
        Its tables.
    claims : list of Claim
        The paper's claims.
    """

    experiment: Experiment
    settings: Any
    frame: pd.DataFrame
    missing: str
    pictures: list[Picture]
    svgs: dict[str, str]
    tables: list[TextTable]
    claims: list[Claim]


def show(
    experiment: Experiment, settings: Any, frame: pd.DataFrame, missing: str = "", explain: bool = True
) -> ExperimentResult:
    """Figures, tables and claims of results.

    Parameters
    ----------
    experiment, settings, frame, missing
        Attributes of `ExperimentResult`.
    explain : bool, default=True
        Whether there are enough results to explain differences from the paper.
    """
    if not len(frame):
        return ExperimentResult(experiment, settings, frame, missing, [], {}, [], [])
    pictures = experiment.draw_pictures(settings, frame)
    claims = experiment.judge_claims(settings, frame)
    return ExperimentResult(
        experiment,
        settings,
        frame,
        missing,
        pictures,
        {picture.name: render_svg(picture) for picture in pictures},
        experiment.make_tables(settings, frame),
        claims if explain else [replace(claim, reason="") for claim in claims],
    )


@dataclass(frozen=True)
class Report:
    """Everything the report contains.

    Attributes
    ----------
    results : sequence of ExperimentResult
        The experiments, in the order of the paper.
    left_out : dict of str to str
        Reasons why other experiments are left out, by title.
    made_with : dict of str to str
        What is needed to repeat the run: command, versions and machine.
    notice : str
        What a reader has to know first; may be empty.
    """

    results: Sequence[ExperimentResult]
    left_out: dict[str, str]
    made_with: dict[str, str]
    notice: str = ""

    def list_files(self) -> dict[str, str]:
        """Names and contents of all files of the report, except the results themselves."""
        made_with = pd.DataFrame(self.made_with.items(), columns=["name", "value"])
        return {
            "claims.csv": to_csv(tabulate_claims(self.results)),
            "made-with.csv": to_csv(made_with),
            **{f"{name}.svg": svg for result in self.results for name, svg in result.svgs.items()},
            "report.html": self.render("report.html"),
            "report.md": self.render("report.md"),
        }

    def render(self, template: str) -> str:
        """The report by a template."""
        claims = [claim for result in self.results for claim in result.claims]
        counts = Counter(claim.published.word for claim in claims)
        default = [claim.default.word for claim in claims if claim.default is not None]
        return (
            _make_environment()
            .get_template(template)
            .render(
                report=self,
                title=TITLE,
                claims=claims,
                counts=[(counts[word], word) for word in CLASSES if counts[word]],
                default_holds=default.count("holds"),
                default_count=len(default),
                version=version("ksparse"),
                LONG=LONG_TABLE,
            )
        )


def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = _escape_markdown
    environment.filters["settings"] = describe_settings
    environment.filters["css"] = CLASSES.__getitem__
    environment.filters["data_uri"] = _embed
    return environment


def _escape_markdown(value: Any) -> str:
    """Text on one line, without special characters of Markdown."""
    return " ".join(str(value).split()).translate(MARKDOWN_SPECIAL)


def _embed(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")


def tabulate_claims(results: Iterable[ExperimentResult]) -> pd.DataFrame:
    """All claims with their verdicts."""
    rows = [
        {
            "experiment": result.experiment.name,
            "paper": claim.source,
            "claim": claim.text,
            "verdict": claim.published.word,
            "numbers": claim.published.numbers,
            "explanation": claim.explanation,
            "default": claim.default.word if claim.default is not None else "",
            "default_numbers": claim.default.numbers if claim.default is not None else "",
        }
        for result in results
        for claim in result.claims
    ]
    columns = ["experiment", "paper", "claim", "verdict", "numbers", "explanation", "default", "default_numbers"]
    return pd.DataFrame(rows, columns=columns)


def describe_settings(settings: Any) -> str:
    """All settings on one line.

    Examples
    --------
    >>> from reproduction.experiments.heatmaps import HeatmapSettings
    >>> describe_settings(HeatmapSettings(fractions=(0.1, 0.2, 0.3, 0.4), penalties=(1.0,)))[:55]
    'fractions = (0.1, 0.2, …, 0.4); penalties = (1); patien'
    """
    return "; ".join(f"{name.replace('_', ' ')} = {_format_setting(value)}" for name, value in asdict(settings).items())


def _format_setting(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        parts = [_format_setting(each) for each in value]
        return f"({', '.join([*parts[:2], '…', parts[-1]] if _is_arithmetic(value) else parts)})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_arithmetic(values: Sequence[Any]) -> bool:
    """Whether numbers, or points, have constant differences, so that not all need to be written."""
    if len(values) < FEW or not all(isinstance(value, (int, float, tuple)) for value in values):
        return False
    return bool(np.ptp(np.diff(np.array(values, dtype=np.float64), axis=0), axis=0).max() < 1e-9)


def describe_machine(command: str, tasks: Iterable[TaskResult]) -> dict[str, str]:
    """The command with its dates and CPU time, the versions and the machine of a run."""
    done = list(tasks)
    days = sorted({task.finished.date().isoformat() for task in done})
    if days:
        when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
        command += f"; results {when}, {sum(task.seconds for task in done):.0f} CPU seconds"
    versions = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]
    machine = f"{_find_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    return {"Command": command, "Versions": ", ".join(versions), "Machine": machine}


def _find_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")
