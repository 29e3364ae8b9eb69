"""Bounds, screening, proofs and near-optimal supports against all supports of thousands of small problems.

    python -m tests.certificates.brute_force [--problems 2000] [--first 1000]

The problems go through all losses, with and without groups, always-selected features and bounds; correlation, ridge,
intercept, weights, offset and scales are drawn. It ends with an AssertionError at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from itertools import product

import numpy as np

from .enumeration import KINDS, draw_case
from .test_bounds import SETTINGS, check_certificate
from .test_proof import check_proof

#: Every third proof also lists the supports within this fraction of the best one.
WITHIN = 0.03


def say(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=1000, help="seed of the first problem of each kind")
    arguments = parser.parse_args()
    began, counts = time.process_time(), Counter[str]()
    combinations = list(product(KINDS, SETTINGS))
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    for number in range(arguments.problems):
        kind, setting = combinations[number % len(combinations)]
        case = draw_case(kind, arguments.first + number // len(combinations), setting)
        check_certificate(case)
        check_proof(case, WITHIN if number % 3 == 0 else None)
        counts[setting] += 1
        if (number + 1) % 100 == 0:
            say(f"{number + 1} problems, {time.process_time() - began:.0f} CPU seconds")
    say(f"nothing is wrong: {arguments.problems} problems of {len(KINDS)} losses ({dict(counts)})")


if __name__ == "__main__":
    main()
