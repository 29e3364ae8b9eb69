"""The gallery: each example runs, finds what is true, and draws its picture."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "gallery"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "shared")


def run(name: str, figure: Path, monkeypatch: pytest.MonkeyPatch, data_sets: int = 1) -> pd.DataFrame:
    """The table of an example; its module is run as it would be from the command line."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "shared", raising=False)
    main: Any = runpy.run_path(str(FOLDER / f"{name}.py"))["main"]
    table: pd.DataFrame = main(["--data-sets", str(data_sets), "--figure", str(figure)])
    return table


#: What must hold of the table of each example: it says so, and the gallery does.
CLAIMS: dict[str, list[tuple[str, str]]] = {
    "trend_filtering": [
        ("ksparse", "kinks <= 6"),
        ("ksparse", "`true kinks found` >= 4"),
        ("l1 trend filtering", "kinks > 8"),
    ],
    "portfolio": [
        ("ksparse", "stocks == 10 and abs(sum - 1) < 1e-9 and smallest >= 0"),
        ("ksparse", "`tracking error` < 0.95 * @table['tracking error']['largest stocks, best weights']"),
        ("ksparse", "`tracking error` < 0.75 * @table['tracking error']['largest stocks, weights of the index']"),
    ],
    "ising": [
        ("ksparse", "selected == 60 and recall > 0.95"),
        ("ksparse", "`error of couplings` < 0.5 * @table['error of couplings']['lasso of each spin']"),
    ],
    "robust_regression": [
        ("Welsch's loss, k features", "recall == 1 and precision == 1"),
        ("Welsch's loss, k features", "`test error` < 1.1 * @table['test error']['truth']"),
        ("Welsch's loss, k features", "`test error` < 0.9 * @table['test error'][\"Huber's loss, k features\"]"),
        ("lasso", "recall < 0.9"),
    ],
    "multitask": [
        ("ksparse", "recall > 0.8 and precision > 0.8"),
        ("ksparse", "`error of prediction` < 0.9 * @table['error of prediction']['multitask lasso']"),
        ("ksparse", "`error of prediction` < 0.9 * @table['error of prediction']['each task alone']"),
    ],
    "lorenz": [
        ("ksparse", "selected == 7 and recall == 1"),
        ("ksparse", "`error of coefficients` < 0.5 * @table['error of coefficients']['STLSQ']"),
    ],
    "neural_network": [
        ("network, k = 4", "recall == 1 and precision == 1"),
        ("network, k = 4", "`error of prediction` < 0.7 * @table['error of prediction']['network, all features']"),
        ("network, k = 4", "`error of prediction` < 0.5 * @table['error of prediction']['lasso']"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_finds_what_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = run(name, tmp_path / "picture.png", monkeypatch)
    for row, claim in CLAIMS[name]:
        assert len(table.loc[[row]].query(claim)) == 1, (row, claim, table)
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert "means over 1 data sets" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_the_gallery_shows_every_example(name: str) -> None:
    """With its picture, and the command that draws it; examples that need JAX say so where they begin."""
    page = (ROOT / "docs" / "gallery.md").read_text()
    assert f"](images/gallery_{name}.png)" in page
    assert f"](../examples/gallery/{name}.py)" in page
    script = (FOLDER / f"{name}.py").read_text()
    assert ("pip install jax" in script.split('"""')[1]) == ("import jax" in script)
