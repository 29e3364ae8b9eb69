"""``ksparse fit --certify``: how much lower the loss of another model with as many features may be, in plain words."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..certificates import ExactResult, NoCertificateError, ProofStatus, prove
from ..certificates import Progress as ProofProgress
from .data import split_names
from .errors import quote_list
from .fitted_model import FittedModel
from .summary import find_ridges

__all__ = ["describe_progress", "describe_proof", "prove_model"]

#: The relative gap that is enough: a loss that is lower by less makes no better model.
ENOUGH_GAP = 1e-4
#: Beyond this gap nothing useful is proved.
USELESS_GAP = 0.9
#: Limit of the parts that are bounded.
MAX_PARTS = 10_000_000
#: A model whose loss is lower by less than this fraction is the same.
LOWER_LOSS = 1e-6


def prove_model(fitted: FittedModel, seconds: float) -> str:
    """Search for a proof that the selection is the best one, for some seconds or until Ctrl-C; what it says."""
    solved: Any = fitted.model.result_.solved
    if solved is None:
        return f"Nothing can be proved about {fitted.task.model}."
    log = logging.getLogger("ksparse")

    def show(progress: ProofProgress) -> None:
        log.info("%s", describe_progress(progress))

    try:
        with _stop_by_interrupt():
            proof = prove(
                solved.form,
                solved.units,
                solved.x,
                solved.value,
                gap=ENOUGH_GAP,
                time_limit=seconds,
                max_nodes=MAX_PARTS,
                within=None,
                callback=show,
            )
    except NoCertificateError:
        return f"Nothing is proved: there are no proofs for the loss of {fitted.task.model}."
    found = describe_proof(proof, solved.value, _name_models(fitted), _name_difference(fitted, proof), seconds)
    return found + _name_ridge(fitted)


def describe_progress(progress: ProofProgress) -> str:
    """How far the search is, in a line."""
    rate = progress.nodes / max(progress.seconds, 1e-9)
    return f"at most {_percent(progress.gap)} lower, {progress.nodes:,} parts, {rate:,.0f} a second"


def describe_proof(proof: ExactResult, value: float, models: str, difference: str, seconds: float) -> str:
    """What is proved about the loss of other models, relative to that of the fitted one, which is `value`.

    `models` names them, such as "model with 5 columns", and `difference` says how the best one that was found differs,
    such as "with 'a' in place of 'b'".
    """
    size = value - proof.least
    gap = min((value - proof.lower_bound) / size, 1.0) if size > 0 else 0.0
    is_better = value - proof.value > LOWER_LOSS * size
    took = f"{proof.nodes:,} part{'s' * (proof.nodes != 1)} of the search, {proof.seconds:.2f} s"
    found = ""
    if is_better:
        lower = _percent((value - proof.value) / size)
        found = (
            f"Not the best {models}: one {difference} has a loss {lower} lower. --effort 3 looks longer for it, and"
            " --always with all of its names fits it. "
        )
    if proof.status is ProofStatus.OPTIMAL:
        none = f"has a loss more than {_percent(max(gap, ENOUGH_GAP))} lower ({took})."
        return f"{found}It is proved that none {none}" if is_better else f"Proved to be the best {models}: none {none}"
    if proof.gap > USELESS_GAP:
        return (
            f"{found}Nothing useful is proved: how much lower the loss of another {models} may be is not known"
            f" ({took}). A stronger ridge makes proofs easier (--alpha)."
        )
    end = "Ctrl-C" if proof.status is ProofStatus.STOPPED else f"{seconds:g} s"
    helps = "; more time or a stronger ridge helps (--certify SECONDS, --alpha)"
    more = "" if proof.status is ProofStatus.NO_BOUND else helps
    other = "another one has a still lower loss" if is_better else "one has a lower loss at all"
    return (
        f"{found}No {models} can have a loss more than {_percent(gap)} lower; whether {other} is not known after"
        f" {end}{more} ({took})."
    )


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else "100 %"


def _name_models(fitted: FittedModel) -> str:
    """The models that are compared: with as many columns, and those of ``--always`` among them."""
    unit = fitted.unit if fitted.k != 1 else fitted.unit[:-1]
    always = split_names(fitted.settings.always, fitted.data.names)
    among = f" that has {quote_list(always)}" if always else ""
    return f"model with {fitted.k} {unit}{among}"


def _name_difference(fitted: FittedModel, proof: ExactResult) -> str:
    """How the best model that was found differs from the fitted one."""
    known, found = fitted.model.result_.selected.tolist(), proof.selected.tolist()
    entering = [_name_unit(fitted, unit) for unit in found if unit not in known]
    leaving = [_name_unit(fitted, unit) for unit in known if unit not in found]
    if entering and leaving:
        return f"with {quote_list(entering)} in place of {quote_list(leaving)}"
    if entering:
        return f"with {quote_list(entering)} too"
    return f"without {quote_list(leaving)}" if leaving else "with other coefficients"


def _name_unit(fitted: FittedModel, unit: Any) -> str:
    return str(unit if fitted.model.feature_groups is not None else fitted.names[unit])


def _name_ridge(fitted: FittedModel) -> str:
    """With which ridge the losses are compared, where the coefficients have another one."""
    alpha, refit_alpha = find_ridges(fitted.model)
    return "" if refit_alpha == alpha else f" Losses are compared with the ridge penalty while selecting, {alpha:.3g}."


@contextmanager
def _stop_by_interrupt() -> Iterator[None]:
    """Ctrl-C ends the search for a proof, not the command; only a main thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
