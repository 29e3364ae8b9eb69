"""Tables as people have them: ksparse beside the usual pipeline of scikit-learn, in lines of code and in score.

    KSPARSE_DATA=… python benchmarks/tables.py          # measures, and writes results/tables.csv
    python benchmarks/tables.py --report                # prints the table of docs/tables.md

Both get the table as pandas reads it, without the row numbers that scikit-learn would take for numbers. Scores are
means over five folds; k and penalties are chosen in the training part of each.
"""

from __future__ import annotations

import argparse
import inspect
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ksparse import SparseLinearRegressionCV, SparseLogisticRegressionCV, TableEncoder

RESULTS = Path(__file__).parent / "results" / "tables.csv"
#: The target of each table, and whether it is classes.
TABLES = {
    "penguins": ("species", True),
    "penguins_raw": ("Species", True),
    "TitanicSurvival": ("survived", True),
    "pbc": ("status", True),
    "rossi": ("arrest", True),
    "HousePrices": ("price", False),
    "ames": ("Sale_Price", False),
    "bioChemists": ("art", False),
    "gbsg2": ("time", False),
    "veteran": ("time", False),
}


def fit_ksparse(table: pd.DataFrame, y: Any, classes: bool) -> Any:
    estimator = SparseLogisticRegressionCV if classes else SparseLinearRegressionCV
    return make_pipeline(TableEncoder(), estimator(feature_groups="columns")).fit(table, y)


def fit_usual(table: pd.DataFrame, y: Any, classes: bool) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False),
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_exclude="number")),
    )
    l1 = {
        "l1_ratios": (1.0,),
        "solver": "saga",
        "scoring": "neg_log_loss",
        "max_iter": 2000,
        "use_legacy_attributes": False,
    }
    estimator = LogisticRegressionCV(**l1) if classes else LassoCV()
    return make_pipeline(columns, estimator).fit(table, y)


def count_columns(model: Any, table: pd.DataFrame) -> int:
    """Columns of the table that the model uses."""
    if isinstance(model[0], TableEncoder):
        return len(set(model[0].feature_columns_[model[-1].support_]))
    used = np.atleast_2d(model[-1].coef_).any(axis=0)
    names = [name.split("__", 1)[1].removeprefix("missingindicator_") for name in model[0].get_feature_names_out()]
    columns = sorted(table.columns, key=len, reverse=True)
    found = (next(c for c in columns if name == c or name.startswith(f"{c}_")) for name in np.array(names)[used])
    return len(set(found))


def measure(name: str, folder: Path) -> list[dict[str, Any]]:
    """Scores of both on one table."""
    target, classes = TABLES[name]
    table = pd.read_csv(folder / f"{name}.csv").dropna(subset=[target])
    y = table.pop(target).to_numpy()
    table = table.drop(columns=[column for column in ("rownames", "id") if column in table])
    table = table.loc[:, table.nunique() > 1]
    splitter = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=0)
    rows = []
    for method, fit in (("ksparse", fit_ksparse), ("scikit-learn", fit_usual)):
        scores, used = [], []
        for train, test in splitter.split(table, y):
            model = fit(table.iloc[train], y[train], classes)
            prediction = model.predict(table.iloc[test])
            scores.append(np.mean(prediction == y[test]) if classes else r2_score(y[test], prediction))
            used.append(count_columns(model, table))
        rows.append(
            {
                "table": name,
                "method": method,
                "rows": len(y),
                "columns": table.shape[1],
                "score": np.mean(scores),
                "error": np.std(scores, ddof=1) / np.sqrt(len(scores)),
                "used": np.mean(used),
                "classes": classes,
            }
        )
        print(rows[-1])
    return rows


def render(results: pd.DataFrame) -> str:
    """The table of docs/tables.md."""
    lines = [
        "| table | rows × columns | score | ksparse | columns used | scikit-learn | columns used |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, part in results.groupby("table", sort=False):
        ours, theirs = (part[part["method"] == method].iloc[0] for method in ("ksparse", "scikit-learn"))
        said = [f"{row['score']:.3f} ± {row['error']:.3f} | {row['used']:.1f}" for row in (ours, theirs)]
        kind = "accuracy" if ours["classes"] else "R²"
        lines.append(f"| {name} | {ours['rows']} × {ours['columns']} | {kind} | {said[0]} | {said[1]} |")
    counts = [len(inspect.getsource(fit).splitlines()) - 1 for fit in (fit_ksparse, fit_usual)]
    lines.append(f"| lines of code | | | {counts[0]} | | {counts[1]} | |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true")
    if not parser.parse_args().report:
        folder = Path(os.environ["KSPARSE_DATA"]) / "tables"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = [row for name in TABLES for row in measure(name, folder)]
        pd.DataFrame(rows).to_csv(RESULTS, index=False, float_format="%.6g")
    print(render(pd.read_csv(RESULTS)))


if __name__ == "__main__":
    main()
