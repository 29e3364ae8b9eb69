"""Proofs: how far a solution is from the best one with at most k units."""

from .bounding import NoCertificateError
from .certificate import Certificate, Stage, certify
from .gram_form import QuadraticDual

__all__ = ["Certificate", "NoCertificateError", "QuadraticDual", "Stage", "certify"]
