"""The page that ``ksparse fit --out`` writes: one HTML file that needs nothing else."""

from __future__ import annotations

from datetime import date

from markupsafe import Markup

from .fitted_model import FittedModel
from .pages import embed_json, encode_asset, open_template, read_asset, write_policy
from .reporting import gather_report

#: Scripts of the page, in the order in which they are joined.
SCRIPTS = (
    "base.js",
    "tables.js",
    "path_charts.js",
    "class_charts.js",
    "number_charts.js",
    "survival_charts.js",
    "values.js",
    "main.js",
)
STYLES = ("page.css", "parts.css", "print.css")


def render_report(fitted: FittedModel, *, day: date | None = None, resamples: int | None = None) -> str:
    """The report of a fit; the same fit and day give the same page.

    Jinja2 escapes all texts, control characters are shown as escapes, and what the scripts show is in the page as data.

    Parameters
    ----------
    fitted : FittedModel
        The fit.
    day : date, optional
        The date of the page; without it, the page has none.
    resamples : int, optional
        Bootstrap resamples for intervals of coefficients, by default those of the settings; none if 0.
    """
    data = gather_report(fitted, day, resamples=resamples)
    library = read_asset("web", "plotly", "plotly-basic.min.js")
    script = "(() => {\n'use strict';\n" + "\n".join(read_asset("web", "report", name) for name in SCRIPTS) + "})();\n"
    font = encode_asset("web", "inter", "inter-latin-wght-normal.woff2", kind="font/woff2")
    style = "\n".join(read_asset("web", "report", name) for name in STYLES).replace("FONT_ADDRESS", font)
    return open_template("report.html").render(
        data=data,
        state=data["states"][data["chosen"]],
        json=embed_json(data),
        policy=write_policy([library, script]),
        library=Markup(library),
        script=Markup(script),
        style=Markup(style),
    )
