"""``ksparse reproduce``: the paper's experiments again, with a report."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ..experiments.base import Experiment, Scale
from ..experiments.journal import Journal, OtherSettingsError
from ..experiments.markdown import markdown_report
from ..experiments.registry import EXPERIMENTS
from ..experiments.report import Finished, claims_table, html_report
from ..experiments.running import Work, run_all
from .errors import InputError, clean
from .output import check_folder, write_files

__all__ = ["ReproduceCommand"]


@dataclass(frozen=True)
class ReproduceCommand:
    """``ksparse reproduce`` with its arguments.

    Attributes
    ----------
    names : tuple of str
        Experiments; all of them if there are none.
    scale : {"quick", "standard", "full"}
        How much is done.
    out : Path
        The folder for the report, the results, and what an interrupted run goes on with.
    jobs : int
        Tasks at a time.
    data : Path or None
        The folder of the real data, in place of KSPARSE_DATA.
    """

    names: tuple[str, ...]
    scale: Scale
    out: Path
    jobs: int
    data: Path | None = None

    def run(self) -> None:
        """Do it all; raises `InputError` for what the user can mend."""
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError('the report has figures by matplotlib; install it with: pip install "ksparse[plots]"')
        check_folder(self.out)
        if self.data is not None:
            os.environ["KSPARSE_DATA"] = str(self.data.absolute())  # other processes inherit it
        chosen = [each for each in EXPERIMENTS if not self.names or each.name in self.names]
        left_out = {each.title: reason for each in chosen if (reason := each.unavailable()) is not None}
        ready = [each for each in chosen if each.title not in left_out]
        for title, reason in left_out.items():
            print(f"Left out: {title}: {clean(reason)}")
        journals = {each.name: self._journal(each) for each in ready}
        try:
            self._work(ready, journals)
        except KeyboardInterrupt:
            self._finish(ready, journals, left_out)
            print("Interrupted: the same command goes on where it stopped.", file=sys.stderr)
            raise
        self._finish(ready, journals, left_out)

    def _journal(self, experiment: Experiment) -> Journal:
        path = self.out / "journal" / f"{experiment.name}.jsonl"
        try:
            return Journal(path, experiment.settings(self.scale), version("ksparse"))
        except OtherSettingsError as error:
            raise InputError(str(error)) from error

    def _work(self, ready: list[Experiment], journals: dict[str, Journal]) -> None:
        work: list[tuple[float, Work]] = []
        totals: dict[str, tuple[int, int]] = {}
        for each in ready:
            settings = each.settings(self.scale)
            tasks = each.tasks(settings)
            left = journals[each.name].left(tasks)
            totals[each.name] = len(tasks) - len(left), len(tasks)
            work += [(place / len(left), (each.name, settings, task)) for place, task in enumerate(left)]
        # Experiments take turns: the time left is then soon known, and what an interrupted run reports is balanced.
        work.sort(key=lambda one: one[0])
        with _progress(totals) as advance:
            run_all([item for _, item in work], journals, self.jobs, lambda item: advance(item[0]))

    def _finish(self, ready: list[Experiment], journals: dict[str, Journal], left_out: dict[str, str]) -> None:
        """Write what there is, and say what it says."""
        finished = []
        for each in ready:
            settings = each.settings(self.scale)
            tasks = each.tasks(settings)
            journal = journals[each.name]
            missing = f"{len(journal.left(tasks))} of {len(tasks)}" if journal.left(tasks) else ""
            finished.append(Finished(each, settings, journal.table(tasks), missing))
        claims = claims_table(finished)
        files = {f"{each.experiment.name}.csv": each.table.csv() for each in finished}
        files["claims.csv"] = claims.csv()
        files |= {f"{picture.name}.svg": drawn for each in finished for picture, drawn in each.pictures}
        files["report.html"] = html_report(finished, left_out, self._command())
        files["report.md"] = markdown_report(finished, left_out, self._command())
        write_files(self.out, files)
        for line in claims.rows:
            ours = f"; default solver: {line['default']}" if "default" in line else ""
            print(f"{line['verdict']:>14s}  {line['paper']}: {line['claim']}{ours}")
        print(f"Wrote {self.out}/report.html; beside it are the same as Markdown, the figures, and all results as CSV.")

    def _command(self) -> str:
        flag = {"quick": " --quick", "standard": "", "full": " --full"}[self.scale]
        return " ".join(["ksparse reproduce", *self.names]) + flag


@contextmanager
def _progress(totals: dict[str, tuple[int, int]]) -> Iterator[Callable[[str], None]]:
    """A bar for each experiment with the time left on a terminal; lines at each tenth elsewhere."""
    if not sys.stderr.isatty():
        yield _lines(totals)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {
            name: progress.add_task(name, total=total, completed=before) for name, (before, total) in totals.items()
        }
        whole = progress.add_task(
            "in all",
            total=sum(total for _, total in totals.values()),
            completed=sum(done for done, _ in totals.values()),
        )

        def advance(name: str) -> None:
            progress.advance(bars[name])
            progress.advance(whole)

        yield advance


def _lines(totals: dict[str, tuple[int, int]]) -> Callable[[str], None]:
    done = {name: before for name, (before, _) in totals.items()}

    def advance(name: str) -> None:
        done[name] += 1
        total = totals[name][1]
        if done[name] * 10 // total > (done[name] - 1) * 10 // total:
            print(f"{name}: {done[name]} of {total}", file=sys.stderr, flush=True)

    return advance
