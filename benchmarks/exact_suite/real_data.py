"""Real data whose best subset is to be proved.

Gene expressions are read from the folder that KSPARSE_DATA names; breast cancer and diabetes, which gets squares and
products of its ten features, come with scikit-learn; answers of cancer cells to drugs are files of gdsctools.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import PolynomialFeatures

from ksparse.datasets import load_real

__all__ = ["SIZES", "load_data"]

#: Samples and features.
SIZES = {
    "golub": (72, 7129),
    "colon": (62, 2000),
    "prostate": (102, 6033),
    "riboflavin": (71, 4088),
    "breast cancer": (569, 30),
    "diabetes": (442, 65),
    "GDSC drug 221": (936, 667),
    "GDSC drug 211": (936, 667),
    "GDSC drug 211 without tissues": (936, 678),
}
#: Features that fewer cells have are left out.
LEAST_CELLS = 5


def load_data(name: str) -> tuple[Any, Any]:
    """X and y. Of riboflavin, the log of the production rate is predicted; of a drug, the log of its IC50."""
    if name == "riboflavin":
        with np.load(Path(os.environ["KSPARSE_DATA"]) / "graphical/riboflavin_71x4088.npz") as arrays:
            return arrays["X"].astype(float), arrays["y"].astype(float)
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return PolynomialFeatures(2, include_bias=False).fit_transform(X), y
    if name.startswith("GDSC"):
        number, _, rest = name.removeprefix("GDSC drug ").partition(" ")
        return load_drug(number, has_tissues=not rest)
    data = load_real(name)
    return data.X, data.y


def load_drug(number: str, has_tissues: bool) -> tuple[Any, Any]:
    """The log IC50 of a drug, and what is known of the cells that got it.

    Mutations, copy numbers and microsatellite instability; with tissues, also a column for each tissue, and of all
    these the ones that at least five cells have, without a second one of the same cells.
    """
    found = importlib.util.find_spec("gdsctools")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("the data of GDSC are files of gdsctools: pip install --no-deps gdsctools")
    folder = Path(found.origin).parent / "data"
    response = pd.read_csv(folder / "IC50_v17.csv.gz", index_col="COSMIC_ID")[f"Drug_{number}_IC50"].dropna()
    features = pd.read_csv(folder / "genomic_features_v17.csv.gz", index_col="COSMIC_ID").loc[response.index]
    tissues = pd.get_dummies(features.pop("TISSUE_FACTOR"))
    X = features.to_numpy(float)
    if has_tissues:
        X = np.column_stack([X, tissues.to_numpy(float)])
        X = X[:, X.sum(axis=0) >= LEAST_CELLS]
        X = X[:, np.sort(np.unique(X, axis=1, return_index=True)[1])]
    return X, response.to_numpy(float)
