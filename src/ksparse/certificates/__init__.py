"""Proofs: how far a solution is from the best one with at most k units."""

from typing import TYPE_CHECKING

from .._lazy import import_when_used

if TYPE_CHECKING:
    from .bounding import NoCertificateError
    from .certificate import Certificate, ProofStage, certify
    from .gram_form import QuadraticDual
    from .verification import InvalidCertificateError, verify

#: Where the names are: they are imported when they are used, since Numba takes half a second to import.
PLACES = {
    "Certificate": ".certificate",
    "InvalidCertificateError": ".verification",
    "NoCertificateError": ".bounding",
    "QuadraticDual": ".gram_form",
    "ProofStage": ".certificate",
    "certify": ".certificate",
    "verify": ".verification",
}
__getattr__ = import_when_used(__package__, PLACES)

__all__ = [
    "Certificate",
    "InvalidCertificateError",
    "NoCertificateError",
    "ProofStage",
    "QuadraticDual",
    "certify",
    "verify",
]
