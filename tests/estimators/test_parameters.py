"""Parameters of estimators: the signature that help, editors and scikit-learn's checks read."""

from __future__ import annotations

import inspect

import ksparse


class Inheriting(ksparse.SparseLogisticRegression):
    """A subclass of a user, with the parameters of its parent."""


def test_a_subclass_has_the_signature_of_init() -> None:
    _, *parameters = inspect.signature(Inheriting.__init__).parameters
    assert list(inspect.signature(Inheriting).parameters) == parameters
    # Where Python looks for `__signature__` first, all versions agree.
    assert list(Inheriting.__signature__.parameters) == parameters
