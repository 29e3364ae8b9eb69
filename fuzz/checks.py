"""All checks by their names: how a case is drawn, and what is checked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import choosing, files, functions, graphs, invariances, kills, oracles, readers
from .data import Choose

__all__ = ["CHECKS", "Check"]

GIGABYTE = 2**30


@dataclass(frozen=True)
class Check:
    """A kind of check.

    Parameters
    ----------
    draw : callable
        ``draw(choose) -> case``, where ``choose(options)`` picks one of them. The repr of a case makes it again.
    run : callable
        ``run(case)``, which raises `Failed`, or any other error, if ksparse is wrong.
    seconds : float
        How long a case may take.
    memory : int
        How many bytes more than before a case may take.
    """

    draw: Callable[[Choose], Any]
    run: Callable[[Any], None]
    seconds: float = 60.0
    memory: int = 2 * GIGABYTE


CHECKS: dict[str, Check] = {
    "solution": Check(oracles.draw_large, oracles.check_solution),
    "best support": Check(oracles.draw_small, oracles.check_best_support),
    "all features": Check(oracles.draw_whole, oracles.check_all_features),
    "other units": Check(invariances.draw_rescaled, invariances.check_rescaled),
    "no change": Check(invariances.draw_changed, invariances.check_changed),
    "path": Check(choosing.draw_path, choosing.check_path),
    "scores of folds": Check(choosing.draw_scored, choosing.check_scores),
    "criteria": Check(choosing.draw_criterion, choosing.check_criterion),
    "stability": Check(choosing.draw_halved, choosing.check_stability),
    "graph": Check(graphs.draw_graph, graphs.check_graph),
    "discriminant": Check(graphs.draw_discriminant, graphs.check_discriminant),
    "multiples of f": Check(functions.draw_multiple, functions.check_multiple),
    "damaged files": Check(files.draw_file, readers.check_reading, seconds=20.0, memory=GIGABYTE // 2),
    "damaged files, command": Check(files.draw_file, readers.check_command, seconds=30.0, memory=GIGABYTE // 2),
    "kills": Check(kills.draw_kill, kills.check_kill, seconds=150.0),
}
