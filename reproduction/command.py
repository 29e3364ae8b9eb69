"""``python -m reproduction``: run experiments, resume them, and write the report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import joblib
import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .base import Experiment, Scale
from .experiments import EXPERIMENTS
from .frames import read_csv, to_csv
from .report import ExperimentResult, Report, describe_machine, show, tabulate_claims
from .tasks import OtherSettingsError, TaskResult, TaskStore, Work, run_all

__all__ = ["load_report", "main"]

#: Exit codes: what shells expect of failures, of bad input and of Ctrl-C.
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

DESCRIPTION = """Run the experiments of "Gradient Hard Thresholding Pursuit" (X.-T. Yuan, P. Li and
T. Zhang, JMLR 18, 2018). Writes report.html and report.md with figures, tables and
verdicts on the paper's claims, and all results as CSV. Finished tasks are kept: the
same command resumes an interrupted run."""

EPILOG = """experiments
{names}

examples
  python -m reproduction --quick
  python -m reproduction logistic-n compressed-sensing --out figure1
  python -m reproduction --full --data ~/data
  python -m reproduction --full --render docs/reproduction"""

NOTICES: dict[Scale, str] = {
    "quick": (
        "A quick run: few replications of small settings check that everything works; they do not test the paper, and"
        " differences from it are not explained. 'python -m reproduction' and 'python -m reproduction --full' do more."
    ),
    "standard": "",
    "full": "",
}


class InputError(Exception):
    """An error that the user can fix."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 1 if tasks failed, 2 for bad input, 130 if interrupted."""
    options = _parse(arguments)
    try:
        failures = _render(options) if options.render else _Run.from_options(options).run()
    except (InputError, OSError) as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("reproduction: interrupted; finished tasks are kept, the same command resumes the run", file=sys.stderr)
        return INTERRUPTED
    for failure in failures:
        print(f"Failed: {failure}", file=sys.stderr)
    return FAILED if failures else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = "\n".join(f"  {each.name:20s}{each.paper}: {each.title}" for each in EXPERIMENTS)
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description=DESCRIPTION,
        epilog=EPILOG.format(names=names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="experiments (see below); default: all")
    scale = parser.add_mutually_exclusive_group()
    for flag, text in (
        ("quick", "small settings, to check that everything works: minutes"),
        ("full", "all settings and replications of the paper: hours"),
    ):
        scale.add_argument(f"--{flag}", dest="scale", action="store_const", const=flag, default="standard", help=text)
    parser.add_argument(
        "--out", metavar="DIR", type=_parse_folder, help="default: reproduction-quick, -standard or -full"
    )
    parser.add_argument(
        "--jobs", type=_parse_jobs, metavar="N", default=-1, help="number of processes (default -1: all cores)"
    )
    parser.add_argument(
        "--data", metavar="DIR", type=_parse_folder, help="folder of the real data (default: $KSPARSE_DATA)"
    )
    parser.add_argument(
        "--render", metavar="DIR", type=_parse_folder, help="only write the report again, from the CSVs in DIR"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in {each.name for each in EXPERIMENTS}]
    if unknown:
        parser.error(f"unknown experiment {unknown[0]!r}; choose from {', '.join(each.name for each in EXPERIMENTS)}")
    return options


def _parse_folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("expected the name of a folder, got ''; use . for the current one")
    return Path(text)


def _parse_jobs(text: str) -> int:
    cores = joblib.cpu_count()  # that this process may use
    try:
        jobs = int(text)
    except ValueError:
        jobs = 0
    if jobs < 1 and jobs != -1:
        raise argparse.ArgumentTypeError(f"expected a positive integer or -1, got {text!r}")
    return cores if jobs == -1 else min(jobs, cores)


@dataclass(frozen=True)
class _Run:
    """A run of the command.

    Attributes
    ----------
    names : list of str
        Experiments to run; all if empty.
    scale : {"quick", "standard", "full"}
        How much is run.
    out : Path
        Folder of the report, the results and the finished tasks.
    jobs : int
        Number of processes.
    data : Path or None
        Folder of the real data.
    """

    names: list[str]
    scale: Scale
    out: Path
    jobs: int
    data: Path | None

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> _Run:
        if options.data is not None:
            if not options.data.is_dir():
                raise InputError(f"--data {options.data} is not a folder; give the folder with the real data")
            os.environ["KSPARSE_DATA"] = str(options.data.absolute())  # workers inherit it
        out = options.out or Path(f"reproduction-{options.scale}")
        return cls(options.names, options.scale, out, _parse_jobs(str(options.jobs)), options.data)

    def run(self) -> list[str]:
        """Run what is missing, and write the report; returns the failures."""
        chosen = [each for each in EXPERIMENTS if not self.names or each.name in self.names]
        left_out = {each: reason for each in chosen if (reason := each.find_missing_data()) is not None}
        ready = [each for each in chosen if each not in left_out]
        finished = self._read_finished(ready, left_out)
        if not ready and not any(finished.values()):
            raise InputError("; ".join(left_out.values()))
        for each, reason in left_out.items():
            print(f"Left out: {each.title}: {reason.partition(';')[0]} (details in the report)")
        self._check_out()
        failures = self._run_missing(ready, finished)
        print("Writing the report …", file=sys.stderr, flush=True)
        return failures + self._write_report(self._read_finished(ready, left_out), left_out)

    def _check_out(self) -> None:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write to --out {self.out}: {error.strerror}; give another folder") from error

    def _store(self, experiment: Experiment) -> TaskStore:
        return TaskStore(self.out / "tasks" / experiment.name, experiment.make_settings(self.scale))

    def _read_finished(
        self, ready: list[Experiment], left_out: dict[Experiment, str]
    ) -> dict[Experiment, dict[str, TaskResult]]:
        """Finished tasks of the experiments to run, and of others in the folder if they have the same settings."""
        finished = {}
        for each in EXPERIMENTS:
            try:
                found = self._store(each).read(each.list_tasks(each.make_settings(self.scale)))
            except OtherSettingsError as error:
                if each in ready:
                    raise InputError(str(error)) from error
                left_out[each] = str(error)
                continue
            if found or each in ready:
                finished[each] = found
        return finished

    def _run_missing(self, ready: list[Experiment], finished: dict[Experiment, dict[str, TaskResult]]) -> list[str]:
        work: list[tuple[float, Work]] = []
        with _make_progress() as progress:
            bars = {}
            for each in ready:
                settings, store = each.make_settings(self.scale), self._store(each)
                tasks = each.list_tasks(settings)
                missing = [task for task in tasks if task.name not in finished[each]]
                bars[each] = progress.add_task(each.name, total=len(tasks), completed=len(tasks) - len(missing))
                work += [(i / len(missing), Work(each, settings, task, store)) for i, task in enumerate(missing)]
            # Experiments alternate: the remaining time is known soon, and an incomplete run has some of each.
            work.sort(key=lambda pair: pair[0])
            return run_all([item for _, item in work], self.jobs, lambda item: progress.advance(bars[item.experiment]))

    def _write_report(
        self, finished: dict[Experiment, dict[str, TaskResult]], left_out: dict[Experiment, str]
    ) -> list[str]:
        results, failures = [], []
        files: dict[str, str] = {}
        for each, done in finished.items():
            settings = each.make_settings(self.scale)
            tasks = each.list_tasks(settings)
            frame = pd.DataFrame(row for task in tasks if task.name in done for row in done[task.name].rows)
            missing = f"{len(tasks) - len(done)} of {len(tasks)}" if len(done) < len(tasks) else ""
            if len(frame):
                files[f"{each.name}.csv"] = to_csv(frame)
            try:
                results.append(show(each, settings, frame, missing, explain=self.scale != "quick"))
            except Exception as error:  # incomplete results of one experiment must not prevent the report of the others
                failures.append(f"{each.name}: its results cannot be shown ({type(error).__name__}: {error})")
                left_out[each] = f"its results in {each.name}.csv cannot be shown ({type(error).__name__}: {error})"
        shown = {result.experiment for result in results}
        reasons = {
            each.title: left_out.get(each)
            or each.find_missing_data()
            or f"not run; run it with: {self._format_command([each])}"
            for each in EXPERIMENTS
            if each not in shown
        }
        named = [each for each in EXPERIMENTS if each in shown] if self.names else []
        made_with = describe_machine(
            self._format_command(named, portable=True), [task for done in finished.values() for task in done.values()]
        )
        notice = " ".join(filter(None, [NOTICES[self.scale], _describe_incomplete(results)]))
        _write_files(self.out, files | Report(results, reasons, made_with, notice).list_files())
        claims = tabulate_claims(results)
        _print_claims(claims[claims["experiment"].isin(self.names)] if self.names else claims)
        print(f"Wrote {self.out}/report.html, the same as Markdown, the figures, and all results as CSV.")
        return failures

    def _format_command(self, experiments: list[Experiment], portable: bool = False) -> str:
        """The command for experiments; a portable one does not contain folders of this machine."""
        flags = {"quick": ["--quick"], "standard": [], "full": ["--full"]}[self.scale]
        if portable:
            flags += ["--jobs", str(self.jobs)]
        else:
            flags += ["--out", quote(str(self.out))]
        if self.data is not None:
            flags += ["--data", "…" if portable else quote(str(self.data))]
        data = "KSPARSE_DATA=… " if portable and self.data is None and os.environ.get("KSPARSE_DATA") else ""
        return data + " ".join(["python -m reproduction", *(each.name for each in experiments), *flags])


def _make_progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Tasks may take minutes: the remaining time is estimated from the last hour.
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), speed_estimate_period=3600.0)


def _describe_incomplete(results: list[ExperimentResult]) -> str:
    parts = [f"{each.experiment.name} ({each.missing} tasks are missing)" for each in results if each.missing]
    return f"Incomplete: {', '.join(parts)}." if parts else ""


def _print_claims(claims: pd.DataFrame) -> None:
    for claim in claims.itertuples():
        default = f"; default solver: {claim.default}" if claim.default else ""
        print(f"{claim.verdict:>14s}  {claim.paper}: {claim.claim}{default}")


def _write_files(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        partial = folder / f"{name}.partial"
        partial.write_text(content, encoding="utf-8")
        partial.replace(folder / name)


def load_report(folder: Path, scale: Scale) -> Report:
    """The report of the results in a folder; `made-with.csv` is taken as it is."""
    paths = {each: folder / f"{each.name}.csv" for each in EXPERIMENTS}
    if not any(path.is_file() for path in paths.values()) or not (folder / "made-with.csv").is_file():
        raise InputError(f"{folder} has no results; expected made-with.csv and files such as {EXPERIMENTS[0].name}.csv")
    results = [
        show(each, each.make_settings(scale), read_csv(path), explain=scale != "quick")
        for each, path in paths.items()
        if path.is_file()
    ]
    left_out = {each.title: "no results" for each, path in paths.items() if not path.is_file()}
    made_with = read_csv(folder / "made-with.csv").set_index("name")["value"].to_dict()
    return Report(results, left_out, made_with, NOTICES[scale])


def _render(options: argparse.Namespace) -> list[str]:
    files = load_report(options.render, options.scale).list_files()
    _write_files(options.render, files)
    print(f"Wrote {options.render}/report.html and {len(files) - 1} other files from the results there.")
    return []
