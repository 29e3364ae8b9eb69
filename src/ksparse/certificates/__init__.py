"""Proofs: how far a solution is from the best one with at most k units, and branch and bound."""

from typing import TYPE_CHECKING

from .._lazy import import_when_used

if TYPE_CHECKING:
    from .bounding import NoCertificateError
    from .branching import Progress
    from .certificate import Certificate, ProofStage, certify
    from .duals import LevelSetDual, QuadraticDual
    from .proof import ExactResult, NearSupport, ProofStatus, prove
    from .swaps import has_better_swap
    from .verification import InvalidCertificateError, verify

#: Where the names are: they are imported when they are used, since Numba takes half a second to import.
PLACES = {
    "Certificate": ".certificate",
    "ExactResult": ".proof",
    "InvalidCertificateError": ".verification",
    "LevelSetDual": ".duals",
    "NearSupport": ".proof",
    "NoCertificateError": ".bounding",
    "Progress": ".branching",
    "ProofStage": ".certificate",
    "ProofStatus": ".proof",
    "QuadraticDual": ".duals",
    "certify": ".certificate",
    "has_better_swap": ".swaps",
    "prove": ".proof",
    "verify": ".verification",
}
__getattr__ = import_when_used(__package__, PLACES)

__all__ = [
    "Certificate",
    "ExactResult",
    "InvalidCertificateError",
    "LevelSetDual",
    "NearSupport",
    "NoCertificateError",
    "Progress",
    "ProofStage",
    "ProofStatus",
    "QuadraticDual",
    "certify",
    "has_better_swap",
    "prove",
    "verify",
]
