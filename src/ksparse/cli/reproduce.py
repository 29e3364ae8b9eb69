"""``ksparse reproduce``: the paper's experiments again, with a report."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from shlex import quote

from ..experiments.base import Experiment, Scale
from ..experiments.files import report_files
from ..experiments.journal import Journal, JournalError, alone
from ..experiments.machine import effort
from ..experiments.registry import EXPERIMENTS
from ..experiments.report import Finished, Report, claims_table, made_with, what_is_missing
from ..experiments.running import Work, run_all
from .errors import InputError, clean, whole
from .output import check_folder, write_files
from .progress import bars

__all__ = ["ReproduceCommand", "UnfinishedError"]

#: What a reader of the report has to know first.
NOTICES: dict[Scale, str] = {
    "quick": (
        "A quick run: few replications of small settings show that everything runs, not what is true, so that no"
        " reasons are given where the paper differs. 'ksparse reproduce' and 'ksparse reproduce --full' do more."
    ),
    "standard": "",
    "full": "",
}


class UnfinishedError(Exception):
    """Some tasks failed; the report is there."""


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
        """Do it all; raises `InputError` for what the user can mend, and `UnfinishedError` if tasks failed."""
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError('the report has figures by matplotlib; install it with: pip install "ksparse[plots]"')
        check_folder(self.out)
        if self.data is not None:
            if not self.data.is_dir():
                raise InputError(f"--data {whole(self.data)} is not a folder; give the one that holds the real data")
            os.environ["KSPARSE_DATA"] = str(self.data.absolute())  # other processes inherit it
        self._check_data()
        with self._results():
            self._run()

    def _check_data(self) -> None:
        """Complain before a folder is made, if there is nothing to run and nothing to show."""
        reasons = [each.unavailable() for each in self._chosen()]
        if None not in reasons and not any(self._path(each.name).exists() for each in EXPERIMENTS):
            raise InputError("; ".join(reason for reason in reasons if reason))

    def _chosen(self) -> list[Experiment]:
        return [each for each in EXPERIMENTS if not self.names or each.name in self.names]

    @contextmanager
    def _results(self) -> Iterator[None]:
        """The folder for oneself; what can go wrong with it in words."""
        folder = self.out / "journal"
        try:
            with alone(folder):
                yield
        except JournalError as error:
            raise InputError(str(error)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            place = error.filename or folder
            raise InputError(
                f"cannot use {whole(place)}: {error.strerror or error}; --out must be a folder where you may write, and"
                " what is written there goes on with the same command"
            ) from error

    def _run(self) -> None:
        chosen = self._chosen()
        left_out = {each.title: reason for each in chosen if (reason := each.unavailable()) is not None}
        ready = [each for each in chosen if each.title not in left_out]
        journals = {each.name: self._journal(each) for each in ready}
        journals |= self._former(ready, left_out)
        if not journals:
            raise InputError("; ".join(left_out.values()))
        shown = [each for each in EXPERIMENTS if each.name in journals]
        for title, reason in left_out.items():
            print(f"Left out: {title}: {_in_short(reason)} (what to do: see the report)")
        for each in EXPERIMENTS:
            if each not in shown:
                left_out.setdefault(each.title, each.unavailable() or f"not run; '{self._alone(each)}' does")
        for name, journal in journals.items():
            if journal.skipped:
                lines = "1 damaged line" if journal.skipped == 1 else f"{journal.skipped} damaged lines"
                print(f"Skipped {lines} of {self._path(name)}; what they held is done again.", file=sys.stderr)
        failures: list[str] = []
        try:
            self._work(ready, journals, failures)
        except KeyboardInterrupt:
            if any(len(journal) for journal in journals.values()):
                with suppress(KeyboardInterrupt):  # whoever cannot wait for the report
                    self._finish(shown, journals, left_out, failures)
            raise KeyboardInterrupt("the same command goes on where it stopped") from None
        self._finish(shown, journals, left_out, failures)
        if failures:
            raise UnfinishedError(
                f"{len(failures)} failure{'s' if len(failures) > 1 else ''}, named above; the report is of what there"
                " is, and the same command goes on with what is missing"
            )

    def _path(self, name: str) -> Path:
        return self.out / "journal" / f"{name}.jsonl"

    def _journal(self, experiment: Experiment) -> Journal:
        return Journal(self._path(experiment.name), experiment.settings(self.scale), version("ksparse"))

    def _former(self, ready: list[Experiment], left_out: dict[str, str]) -> dict[str, Journal]:
        """Results that are in the folder, of experiments that are not run now; why, where they cannot be shown."""
        found = {}
        for each in EXPERIMENTS:
            if each in ready or not self._path(each.name).exists():
                continue
            try:
                journal = self._journal(each)
            except JournalError as error:
                left_out.setdefault(each.title, str(error))
                continue
            if len(journal):
                found[each.name] = journal
                reason = left_out.pop(each.title, None)
                if reason is not None:
                    print(f"Not gone on with: {each.title}: {_in_short(reason)}")
        return found

    def _work(self, ready: list[Experiment], journals: dict[str, Journal], failures: list[str]) -> None:
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
        before, all_of_them = (sum(pair[place] for pair in totals.values()) for place in (0, 1))
        _announce(before, all_of_them, self.jobs)
        with bars(totals, self.jobs) as advance:
            run_all(
                [item for _, item in work],
                journals,
                self.jobs,
                lambda item, seconds: advance(item[0], seconds),
                lambda item, error: failures.append(f"{item[0]} {item[2].key}: {error}"),
            )

    def _finish(
        self, shown: list[Experiment], journals: dict[str, Journal], left_out: dict[str, str], failures: list[str]
    ) -> None:
        """Write what there is, and say what it says of the experiments that were asked for, and what failed."""
        print("Writing the report …", file=sys.stderr, flush=True)
        found = [self._finished(each, journals[each.name]) for each in shown]
        marks = [mark for each in shown for mark in journals[each.name].marks(each.tasks(each.settings(self.scale)))]
        command = "; ".join(part for part in (self._command(shown), effort(marks)) if part)
        finished = []
        for each in found:
            problem = _problem(each)
            if problem is None:
                finished.append(each)
            else:
                left_out[each.experiment.title] = f"{problem}; they are in {each.experiment.name}.csv"
                failures.append(f"{each.experiment.name}: {problem}")
        notice = f"{NOTICES[self.scale]} {what_is_missing(found)}".strip()
        report = Report(finished, left_out, made_with(command), notice)
        results = {f"{each.experiment.name}.csv": each.table.csv() for each in found if len(each.table)}
        write_files(self.out, results | report_files(report))
        for line in claims_table(finished).rows:
            if self.names and line["experiment"] not in self.names:
                continue
            ours = f"; default solver: {line['default']}" if "default" in line else ""
            print(f"{line['verdict']:>14s}  {line['paper']}: {line['claim']}{ours}")
        for failure in failures:
            print(f"Failed: {clean(failure)}", file=sys.stderr)
        if notice:
            print(notice)
        print(f"Wrote {self.out}/report.html; beside it are the same as Markdown, the figures, and all results as CSV.")

    def _finished(self, experiment: Experiment, journal: Journal) -> Finished:
        settings = experiment.settings(self.scale)
        tasks = experiment.tasks(settings)
        missing = f"{len(journal.left(tasks))} of {len(tasks)}" if journal.left(tasks) else ""
        return Finished(experiment, settings, journal.table(tasks), missing, reasons=self.scale != "quick")

    def _alone(self, experiment: Experiment) -> str:
        """The command that adds an experiment to the folder."""
        flags = {"quick": " --quick", "standard": "", "full": " --full"}[self.scale]
        data = f" --data {quote(str(self.data))}" if self.data is not None else ""
        return f"ksparse reproduce {experiment.name}{flags} --out {quote(str(self.out))}{data}"

    def _command(self, shown: list[Experiment]) -> str:
        """The command that makes all that is shown, whichever part of it was made now."""
        data = "KSPARSE_DATA=… " if self.data is None and os.environ.get("KSPARSE_DATA") else ""
        names = [each.name for each in EXPERIMENTS if each in shown or each.name in self.names] if self.names else []
        flags = {"quick": ["--quick"], "standard": [], "full": ["--full"]}[self.scale]
        # The folder's name would help nobody on another machine.
        flags += ["--jobs", str(self.jobs), *(["--data", "…"] if self.data is not None else [])]
        return data + " ".join(["ksparse reproduce", *names, *flags])


def _announce(before: int, tasks: int, jobs: int) -> None:
    """Say what is to be done: the first tasks take longer than the others, and one wonders."""
    if before == tasks:
        print(f"All {tasks} tasks were done before.", file=sys.stderr)
        return
    if before:
        print(f"{before} of {tasks} tasks were done before; going on with the others.", file=sys.stderr)
    at_a_time = "one at a time" if jobs == 1 else f"{jobs} at a time"
    print(f"{tasks - before} tasks, {at_a_time}; the first ones also load and compile code.", file=sys.stderr)


def _in_short(reason: str) -> str:
    """What is wrong, without what to do about it."""
    return clean(reason.partition(";")[0])


def _problem(finished: Finished) -> str | None:
    """Why results cannot be shown, if they cannot, as may be with few of them: that must not cost the other results."""
    try:
        _ = finished.drawn, finished.text_tables(), finished.claims
    except Exception as error:  # whatever it is
        return f"its results cannot be shown ({type(error).__name__}: {error})"
    return None
