"""What linear models get from this package: the attribute `certificate_`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from .certificate import Certificate

__all__ = ["Certified"]


class Certified:
    """A fitted model with a certificate, which is made when it is asked for, and kept until the next fit.

    Like the samples, it is not a part of the model's state: it is not copied, pickled or saved.
    """

    #: Whether lower bounds are known for the loss; otherwise the attribute is not there.
    has_certificate: ClassVar[bool] = True

    result_: Any
    _certificate: Any = None

    @property
    def certificate_(self) -> Certificate:
        """How far the selection is from the best one, made when it is first asked for."""
        from .bounding import NoCertificateError, explain_missing

        check_is_fitted(self)
        known = self._certificate
        if known is None or known[0] is not self.result_:
            try:
                known = self._certificate = (self.result_, self.result_.certificate())
            except NoCertificateError as error:
                reason = explain_missing(self.result_.solved.form.objective)
                raise AttributeError(f"there is no certificate for {type(self).__name__}: {reason}") from error
            except ValueError as error:
                raise AttributeError(str(error)) from error
        found: Certificate = known[1]
        return found
