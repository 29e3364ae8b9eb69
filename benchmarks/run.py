"""Benchmark suite: ksparse, skscope, abess, L1 and graphical lassos on the same data, scored by one evaluator.

    pip install ".[bench]" && python benchmarks/run.py --output mine         # everything, with figures and a page
    python benchmarks/run.py --quick                                         # small data, to check that it runs
    python benchmarks/run.py --output mine --cases paper_logistic --seeds 0  # a part
    python benchmarks/run.py --output mine --report                          # only the report, from existing results

Each method runs in a separate process, on one thread and on all, after a warm-up on different data of the same shape.
Its time is measured from the data in memory to the selected support; the median of three runs if they are quick. A
method that fails or exceeds the time limit of the case is reported as such. Results are appended to CSV files
immediately, and a later result replaces an earlier one of the same fit. Without --output, results go to
benchmarks/results and the report to docs. The case with real texts needs KSPARSE_DATA, the path of the data folder.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from suite.cases import CASES, Case, is_available, make_quick
from suite.report import write_report
from suite.results import DONE, Row, append_row, describe_machine, get_hardware, read_machine, write_machine
from suite.runner import run_case

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PEERS = ("skscope", "abess", "skglm", "gglasso", "fastsparsegams", "sksurv")


def print_row(row: Row) -> None:
    """Print one line about a fit."""
    fit = f"{row.variant:38.38s} {row.method:38s} {row.setting:6s} threads {row.threads} seed {row.seed}"
    if row.status == DONE:
        print(f"  {fit}  objective {row.objective:<11.6g} {row.seconds:9.3f} s {row.megabytes:7.0f} MB", flush=True)
    else:
        print(f"  {fit}  {row.status_text}: {row.detail}", flush=True)


def measure_cases(cases: list[Case], options: argparse.Namespace, output: Path) -> None:
    """Run the cases, and write each result immediately."""

    def record(row: Row) -> None:
        append_row(output, row)
        print_row(row)

    for case in cases:
        write_machine(output, case.name)
        start = time.perf_counter()
        print(case.title, flush=True)
        seeds = list(range(case.n_seeds)) if options.seeds is None else options.seeds
        run_case(case, seeds, [1] if case.one_thread else options.threads, record)
        print(f"  total {time.perf_counter() - start:.0f} s", flush=True)


def narrow(case: Case, variants: list[str] | None, methods: list[str] | None) -> Case:
    """Keep the variants and methods whose names contain one of these strings."""

    def matches(name: str, strings: list[str] | None) -> bool:
        return not strings or any(string in name for string in strings)

    kept = (
        replace(variant, methods=tuple(name for name in variant.methods if matches(name, methods)))
        for variant in case.variants
        if matches(variant.name, variants)
    )
    return replace(case, variants=tuple(variant for variant in kept if variant.methods))


def choose_cases(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Case]:
    """Return the cases to run, with the requested variants and methods; exit with an error if there are none."""
    named = [case for case in CASES if case.name in options.cases]
    sized = [make_quick(case) for case in named] if options.quick else named
    narrowed = [narrow(case, options.variants, options.methods) for case in sized]
    cases = [case for case in narrowed if case.variants]
    if not cases:
        strings = ", ".join(repr(string) for string in (*(options.variants or ()), *(options.methods or ())))
        parser.error(f"no variant and method of {', '.join(options.cases)} match {strings}")
    runnable = [case for case in cases if is_available(case)]
    for case in cases:
        if case not in runnable:
            print(f"{case.title}: skipped; set KSPARSE_DATA to the folder with the real data")
    if not runnable:
        parser.error("no case can be run")
    return runnable


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Exit with an error on invalid options, before anything is run."""
    cores = os.cpu_count() or 1
    if options.seeds and min(options.seeds) < 0:
        parser.error(f"--seeds {min(options.seeds)}: expected 0, 1, 2, …")
    if not all(1 <= count <= cores for count in options.threads):
        parser.error(f"--threads {' '.join(map(str, options.threads))}: expected numbers from 1 to {cores}")
    if options.quick and (options.output or options.report):
        parser.error("--quick writes no files; omit --output and --report")
    folder = options.output or RESULTS
    if folder.exists() and not folder.is_dir():
        parser.error(f"--output {folder} is a file; expected a folder")
    if options.report and not any((folder / f"{case.name}.csv").exists() for case in CASES):
        parser.error(f"{folder} contains no results; run the suite first")
    if options.quick or options.report:
        return
    here = get_hardware(describe_machine())
    for name in options.cases:
        recorded = read_machine(folder, name)
        if (folder / f"{name}.csv").exists() and recorded and get_hardware(recorded) != here:
            parser.error(
                f"{folder} contains results of {name} from another machine, which must not be mixed; use another"
                " --output"
            )


def main(arguments: list[str] | None = None) -> None:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description="Compare ksparse with other packages", allow_abbrev=False)
    parser.add_argument("--cases", nargs="+", choices=names, default=names, metavar="CASE", help=", ".join(names))
    parser.add_argument("--variants", nargs="+", help="only variants whose names contain one of these strings")
    parser.add_argument("--methods", nargs="+", help="only methods whose names contain one of these strings")
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=None, help="default: 0 to 4, and 0 to 19 for survival tables"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=None, help="numbers of threads; default: 1 and all")
    parser.add_argument("--output", type=Path, help="folder for the CSV files, the page and the figures")
    parser.add_argument("--quick", action="store_true", help="small data, one seed, no files written")
    parser.add_argument("--report", action="store_true", help="only render the page and figures from existing results")
    options = parser.parse_args(arguments)
    options.seeds = options.seeds or ([0] if options.quick else None)
    options.threads = options.threads or ([1] if options.quick else sorted({1, os.cpu_count() or 1}))
    check_options(parser, options)
    cases = choose_cases(parser, options)
    if missing := [name for name in PEERS if find_spec(name) is None]:
        print(f'not installed, reported as failed: {", ".join(missing)}; install them with pip install ".[bench]"')
    if options.quick:
        print("Small data, to check that everything runs; the results say nothing about speed or quality.")
        with tempfile.TemporaryDirectory() as temporary:
            measure_cases(cases, options, Path(temporary))
        return
    folder, docs = (options.output, options.output) if options.output else (RESULTS, ROOT / "docs")
    if not options.report:
        measure_cases(cases, options, folder)
    print(write_report(folder, docs))


if __name__ == "__main__":
    main()
