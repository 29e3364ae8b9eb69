"""Parsing of the command line; what a command does is in a module of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from .fit import DATA, fit

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        print(fit(options.data, options.k, options.alpha, options.test, options.seed))
    except ValueError as error:
        print(f"ksparse: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ksparse", description="Models with exactly k features: minimize a smooth f(x) with ||x||_0 <= k."
    )
    parser.add_argument("--version", action="version", version=f"ksparse {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "fit",
        help="fit a model with k features and show them",
        description="Fit a model with k features on a built-in data set, and print them with train and test scores.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    command.add_argument("--data", choices=sorted(DATA), default="breast-cancer", help="built-in data set")
    command.add_argument("-k", "--k", type=int, default=5, help="number of features to select")
    command.add_argument("--alpha", type=float, default=1e-3, help="ridge penalty alpha/2 * ||w||^2")
    command.add_argument("--test", type=float, default=0.25, help="share of the samples held out for testing")
    command.add_argument("--seed", type=int, default=0, help="seed of the train-test split")
    return parser
