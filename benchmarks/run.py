"""The benchmark suite: ksparse beside skscope, abess, L1 and graphical lassos, on the same data and by one judge.

    pip install ".[bench]" && python benchmarks/run.py --output mine         # all of it, with figures and a page
    python benchmarks/run.py --quick                                         # small data, to see that it runs
    python benchmarks/run.py --output mine --cases paper_logistic --seeds 0  # a part
    python benchmarks/run.py --output mine --report                          # only the report, from the results there

Each method runs in a process of its own, on one thread and on all, after a warm-up on other data of the same shape. Its
seconds are those from data in memory to a support: the median of three runs if they are quick. One that fails, or that
takes longer than the case allows, is shown as such. Results are appended to CSV files as they come, and a later one
replaces an earlier one of the same fit. Without --output they go to benchmarks/results, and the report to docs.
KSPARSE_DATA names the folder of the real texts; without it, their case is left out.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from suite.cases import CASES, Case, available, quick
from suite.report import write_report
from suite.results import DONE, Row, append, hardware, machine, read_machine, write_machine
from suite.runner import run_case

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PEERS = ("skscope", "abess", "skglm", "gglasso", "fastsparsegams")


def show(row: Row) -> None:
    """One line for each fit."""
    what = f"{row.variant:38.38s} {row.method:38s} {row.setting:6s} threads {row.threads} seed {row.seed}"
    if row.status == DONE:
        print(f"  {what}  objective {row.objective:<11.6g} {row.seconds:9.3f} s {row.megabytes:7.0f} MB", flush=True)
    else:
        print(f"  {what}  {row.status}: {row.detail}", flush=True)


def measure(cases: list[Case], options: argparse.Namespace, output: Path) -> None:
    """Run the cases, and append each result as it comes."""

    def record(row: Row) -> None:
        append(output, row)
        show(row)

    write_machine(output)
    for case in cases:
        began = time.perf_counter()
        print(f"{case.title}", flush=True)
        run_case(case, options.seeds, options.threads, record)
        print(f"  in all {time.perf_counter() - began:.0f} s", flush=True)


def narrowed(case: Case, parts: list[str] | None, methods: list[str] | None) -> Case:
    """A case with those variants and methods alone whose names contain one of these texts."""

    def wanted(name: str, texts: list[str] | None) -> bool:
        return not texts or any(text in name for text in texts)

    kept = (
        replace(variant, methods=tuple(name for name in variant.methods if wanted(name, methods)))
        for variant in case.variants
        if wanted(variant.name, parts)
    )
    return replace(case, variants=tuple(variant for variant in kept if variant.methods))


def chosen(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Case]:
    """The cases to run, each with what was asked for; an error if that is nothing."""
    named = [narrowed(case, options.variants, options.methods) for case in CASES if case.name in options.cases]
    cases = [case for case in named if case.variants]
    if not cases:
        asked = [repr(text) for text in (*(options.variants or ()), *(options.methods or ()))]
        parser.error(f"no method and variant of {', '.join(options.cases)} has a name with {' and '.join(asked)}")
    ready = [case for case in cases if available(case)]
    for case in cases:
        if case not in ready:
            print(f"{case.title}: left out; set KSPARSE_DATA to the folder of the real data")
    if not ready:
        parser.error("nothing is left to run")
    return ready


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse what cannot be, before anything is run."""
    cores = os.cpu_count() or 1
    if min(options.seeds) < 0:
        parser.error(f"--seeds {min(options.seeds)}: expected 0, 1, 2, …")
    if not all(1 <= count <= cores for count in options.threads):
        parser.error(f"--threads {' '.join(map(str, options.threads))}: expected numbers from 1 to {cores}")
    if options.quick and (options.output or options.report):
        parser.error("--quick writes nothing; leave out --output and --report")
    folder = options.output or RESULTS
    if folder.exists() and not folder.is_dir():
        parser.error(f"--output {folder} is a file; give a folder")
    if options.report and not any((folder / f"{case.name}.csv").exists() for case in CASES):
        parser.error(f"{folder} has no results to report; run the suite first")
    elsewhere = read_machine(folder)
    if not (options.quick or options.report) and elsewhere and hardware(elsewhere) != hardware(machine()):
        parser.error(f"{folder} has results of another machine, with which these would be mixed; give another --output")


def main(arguments: list[str] | None = None) -> None:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description="ksparse beside its peers", allow_abbrev=False)
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="CASE", help=", ".join(names))
    parser.add_argument("--variants", nargs="+", help="only those whose names contain one of these texts")
    parser.add_argument("--methods", nargs="+", help="only those whose names contain one of these texts")
    parser.add_argument("--seeds", type=int, nargs="+", default=None, help="0 to 4 by default")
    parser.add_argument("--threads", type=int, nargs="+", default=None, help="1 and all by default")
    parser.add_argument("--output", type=Path, help="folder of the CSV files, the page and the figures")
    parser.add_argument("--quick", action="store_true", help="small data, one seed, nothing is written")
    parser.add_argument(
        "--report", action="store_true", help="only the page and its figures, from results that are there"
    )
    options = parser.parse_args(arguments)
    options.seeds = options.seeds or ([0] if options.quick else list(range(5)))
    options.threads = options.threads or ([1] if options.quick else sorted({1, os.cpu_count() or 1}))
    check(parser, options)
    cases = chosen(parser, options)
    if missing := [name for name in PEERS if find_spec(name) is None]:
        print(f'not installed, and shown as failed: {", ".join(missing)}; pip install ".[bench]" brings them')
    if options.quick:
        print("Small data: this shows that everything runs, and says nothing about speed or quality.")
        with tempfile.TemporaryDirectory() as place:
            measure([quick(case) for case in cases], options, Path(place))
        return
    folder, docs = (options.output, options.output) if options.output else (RESULTS, ROOT / "docs")
    if not options.report:
        measure(cases, options, folder)
    print(write_report(folder, docs))


if __name__ == "__main__":
    main()
