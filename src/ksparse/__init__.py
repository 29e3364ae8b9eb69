"""Sparsity-constrained learning: minimize a smooth f(x) with at most k nonzero entries.

>>> import numpy as np, ksparse
>>> f = ksparse.objectives.LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
>>> ksparse.minimize(f, k=1).x
array([0., 3., 0.])
"""

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would take longer than all that is here

if TYPE_CHECKING:
    from ._api import *  # noqa: F403
    from ._api import __all__ as __all__
    from ._api import __version__ as __version__
else:
    # Imported when they are used: the command can then catch Ctrl-C before the second that the imports take.
    def __getattr__(name: str) -> object:
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        offered = import_module(f"{__name__}._api")
        if name not in (*offered.__all__, "__all__", "__version__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(offered, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
