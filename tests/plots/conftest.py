from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def _no_windows_and_no_figures_left() -> Iterator[None]:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
