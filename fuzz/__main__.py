"""``python -m fuzz``: run the checks, print how often each of them failed, and write each failure as a script."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: the problems are small

from .checks import CHECKS
from .running import OUTCOMES, Runner, Tally

FAILURES = Path(__file__).parent / "failures"


def main() -> int:
    """Run the command; returns 1 if any case has failed."""
    options = parse_options()
    names = [name for name in CHECKS if not options.only or any(part in name for part in options.only)]
    if not names:
        print(f"no check is called {options.only}; there are {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    runner = Runner(options.seed, options.failures)
    print("".join([f"{'check':<24}", f"{'cases':>8}", *(f"{name:>9}" for name in OUTCOMES), f"{'seconds':>9}"]))
    tallies = []
    try:
        for name in names:
            tallies.append(runner.run(name, options.cases, 60.0 * options.minutes / len(names)))
            print_line(name, tallies[-1])
    finally:
        runner.stop()
    failed = sum(tally.counts["failed"] for tally in tallies)
    print(f"{failed} failures" + (f", see {options.failures}" if failed else ""))
    return int(failed > 0)


def parse_options() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__, epilog=f"checks: {', '.join(CHECKS)}")
    parser.add_argument("--minutes", type=float, default=10.0, help="time for all checks (default 10)")
    parser.add_argument("--cases", type=int, help="number of cases of each check, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="seed of the cases (default 0)")
    parser.add_argument("--only", action="append", metavar="NAME", help="checks whose names contain this")
    parser.add_argument("--failures", type=Path, default=FAILURES, help="folder for the failures")
    return parser.parse_args()


def print_line(name: str, tally: Tally) -> None:
    """Print how the cases of a check ended."""
    counts = "".join(f"{tally.counts[outcome]:>9}" for outcome in OUTCOMES)
    print(f"{name:<24}{tally.cases:>8}{counts}{tally.seconds:>9.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
