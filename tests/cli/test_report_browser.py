"""The report in a browser: the slider, sorting, downloads, themes, and that nothing is asked of a network."""

from __future__ import annotations

import csv
import io
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.cli.report import render_report

from .pages import EVIL, fit, fit_cancer, fit_diabetes, fit_iris, read_data, write_evil_table

sync_api = pytest.importorskip("playwright.sync_api", reason="needs: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless=new", *FLAGS])
        yield chromium
        chromium.close()


class Visit:
    """A page that is looked at, and what it must not do."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": 1200, "height": 900}} | options)
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", self._check_address)
        self.page.goto(f"file://{path}")
        self.page.wait_for_selector(".plot svg")

    def _dismiss(self, dialog: Any) -> None:
        self.problems.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _check_address(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.problems.append(f"a request to {request.url}")

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def download(self, selector: str) -> tuple[str, list[list[str]]]:
        with self.page.expect_download() as waiting:
            self.page.click(selector)
        content = Path(waiting.value.path()).read_text()
        return waiting.value.suggested_filename, list(csv.reader(io.StringIO(content)))


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    visits = []

    def start(page: str, **options: Any) -> Visit:
        path = tmp_path / "report.html"
        path.write_text(page)
        visits.append(Visit(browser, path, **options))
        return visits[-1]

    yield start
    for each in visits:
        each.page.close()
    assert [problem for each in visits for problem in each.problems] == []


def test_the_slider_changes_all_parts(visit: Any) -> None:
    page_text = render_report(fit_cancer(), resamples=0)
    data, shown = read_data(page_text), visit(page_text)
    page = shown.page
    names = ".features tbody th .named > span"
    assert len(shown.texts(names)) == 4
    before = page.locator("#path-charts .plot").nth(0).inner_html()
    page.focus("#k-slider")
    page.keyboard.press("ArrowLeft")  # by the keyboard
    state = data["states"][1]
    assert page.inner_text("#k-value") == "2"
    assert shown.texts(names) == [row["name"]["text"] for row in state["table"]["rows"]]
    assert shown.texts(".card b") == [card["value"] for card in state["cards"]]
    assert "The chosen model has k = 4" in page.inner_text("#k-note")
    assert page.get_attribute("#k-slider", "aria-valuetext") == "2 features"
    assert page.locator("#path-charts .plot").nth(0).inner_html() != before
    assert page.locator("#values .plot").count() == 2
    page.keyboard.press("Home")  # no features
    assert "has no feature" in page.inner_text("#feature-note")
    page.click("#back")
    assert page.get_attribute("#k-slider", "aria-valuetext") == "4 features, the chosen model"
    page.locator("summary").first.click()
    page.click("#models button[aria-label='Show the model with k = 2']")
    assert page.inner_text("#k-value") == "2"


def test_tables_sort(visit: Any) -> None:
    shown = visit(render_report(fit_cancer(), resamples=0))
    heads, names = ".features thead button", ".features tbody th .named > span"
    button = shown.page.locator(heads)
    button.nth(0).click()
    assert shown.texts(names) == sorted(shown.texts(names))
    assert shown.page.get_attribute(".features thead th", "aria-sort") == "ascending"
    button.nth(0).click()
    assert shown.texts(names) == sorted(shown.texts(names), reverse=True)
    button.nth(1).click()
    values = [float(row.split("\t")[1].replace("−", "-")) for row in shown.texts(".features tbody tr")[:-1]]
    assert values == sorted(values, reverse=True)
    assert shown.texts(".features tbody th")[-1] == "(intercept)"  # stays at the end


def test_downloads_are_safe_tables(visit: Any, tmp_path: Path) -> None:
    fitted = fit(data=str(write_evil_table(tmp_path)), target=f"t{EVIL}", ks=(1, 2), alpha=0.01)
    text = render_report(fitted, resamples=0)
    data, shown = read_data(text), visit(text)
    k = data["states"][data["chosen"]]["k"]
    name, rows = shown.download("#download-features")
    assert name == f"features_k{k}.csv"
    assert [len(row) for row in rows] == [7] * (k + 1)
    assert rows[1][0].startswith("x=</script>")
    assert rows[0][1:3] == ["</style> (per SD)", "'@SUM(1) (per SD)"]
    name, rows = shown.download("#download-predictions")
    assert name == f"predictions_k{k}.csv"
    assert [int(row[0]) for row in rows[1:]] == (fitted.test + 1).tolist()
    assert not any(cell[:1] in "=@+" for row in rows for cell in row if cell)
    probabilities = [[float(cell) for cell in row[3:]] for row in rows[1:]]
    assert all(sum(row) == pytest.approx(1, abs=1e-3) for row in probabilities)
    assert shown.page.locator("img").count() == 0


def test_intervals_are_shown_and_downloaded(visit: Any, tmp_path: Path) -> None:
    """Those of several classes below their effects, those of one output in columns; two columns each in the file."""
    shown = visit(render_report(fit_iris(tmp_path, resamples=8), resamples=8))
    below = shown.texts(".features tbody tr:first-child td small")
    assert len(below) == 3
    assert all(" to " in text for text in below)
    _, rows = shown.download("#download-features")
    heads = [
        f"{name} (per {unit}){end}"
        for unit in ("SD", "unit")
        for name in ("setosa", "versicolor", "virginica")
        for end in ("", " low", " high")
    ]
    assert rows[0] == ["feature", *heads, "Selected again"]
    cells = np.array([[float(cell) for cell in row[1:-1]] for row in rows[1:]]).reshape(2, 6, 3)
    assert (cells[:, :, 1] <= cells[:, :, 2]).all()
    shown = visit(render_report(fit(data="breast-cancer", k=2, alpha=0.01, resamples=8), resamples=8))
    assert shown.page.locator(".features td small").count() == 0
    _, rows = shown.download("#download-features")
    assert rows[0][:4] == ["feature", "Effect per SD", "95% interval low", "95% interval high"]
    assert float(rows[1][2]) <= float(rows[1][3])


def test_wide_tables_fade_where_there_is_more(visit: Any, tmp_path: Path) -> None:
    text = render_report(fit_iris(tmp_path, resamples=8), resamples=8)
    shown = visit(text, viewport={"width": 360, "height": 800})
    block = shown.page.locator(".wide:has(#features)")
    assert "faded" in str(block.get_attribute("class"))
    block.evaluate("(each) => { each.scrollLeft = each.scrollWidth; }")
    shown.page.wait_for_function("() => !document.querySelector('.wide:has(#features)').classList.contains('faded')")
    assert "faded" not in str(visit(text).page.locator(".wide:has(#features)").get_attribute("class"))
    narrow = visit(text, viewport={"width": 800, "height": 800}).page
    width = narrow.locator(".wide:has(#features)").bounding_box()["width"]
    assert width == narrow.locator("footer").bounding_box()["width"]  # all of the page


def test_decisions_at_a_threshold(visit: Any) -> None:
    text = render_report(fit_cancer(), resamples=0)
    data, shown = read_data(text), visit(text)
    curves = data["states"][data["chosen"]]["curves"]
    page = shown.page
    page.fill("#threshold", "20")
    found, alarms = curves[1]["hits"][19], curves[1]["alarms"][19]
    counts = [found, curves[1]["positives"] - found, alarms, curves[1]["negatives"] - alarms]
    assert shown.texts(".confusion td") == [str(count) for count in counts]
    assert shown.texts(".rates b")[0] == f"{100 * found / curves[1]['positives']:.1f}%"
    page.select_option("#positive", label="benign")
    assert shown.texts(".confusion td")[0] == str(curves[0]["hits"][19])


def test_one_of_several_targets_is_drawn(visit: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(**{"up": X[:, 0] + 0.1 * X[:, 1], EVIL: -X[:, 0]})
    table.to_csv(tmp_path / "two.csv", index=False)
    fitted = fit(data=str(tmp_path / "two.csv"), target=["up", EVIL], ks=(0, 1), alpha=0.01, resamples=0)
    shown = visit(render_report(fitted, resamples=0))
    page = shown.page
    assert "predicted up" in page.locator("#quality .xtitle").all_text_contents()
    page.select_option("#response", "1")
    assert page.locator("#quality .xtitle").all_text_contents()[0].startswith("predicted =</script>")
    name, rows = shown.download("#download-predictions")
    assert (name, rows[0][1:3]) == ("predictions_k1.csv", ["true_up", "predicted_up"])
    truth = table.iloc[[int(row[0]) - 1 for row in rows[1:]]]
    np.testing.assert_allclose(np.array(rows[1:], dtype=float)[:, [1, 3]], truth[["up", EVIL]], rtol=1e-4, atol=1e-5)
    assert shown.problems == []


def test_captions_are_those_of_the_model_that_is_shown(visit: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((160, 2))
    time = np.random.default_rng(1).exponential(np.exp(-X[:, 0]))
    pd.DataFrame(X, columns=["a", "b"]).assign(days=time, died=1).to_csv(tmp_path / "table.csv", index=False)
    common: dict[str, Any] = {"data": str(tmp_path / "table.csv"), "ks": (0, 1), "alpha": 0.01, "resamples": 0}
    numbers = fit(target="days", task="quantile", quantile=0.9, drop=["died"], **common)
    times = fit(time="days", event="died", **common)
    for fitted in (numbers, times):
        text = render_report(fitted)
        shown, states = visit(text), read_data(text)["states"]
        assert shown.texts("#quality figcaption") == states[1]["captions"]
        shown.page.focus("#k-slider")
        shown.page.keyboard.press("ArrowLeft")
        assert shown.texts("#quality figcaption") == states[0]["captions"] != states[1]["captions"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phones_themes_and_paper(visit: Any, scheme: str) -> None:
    shown = visit(
        render_report(fit_diabetes(), resamples=0), viewport={"width": 400, "height": 800}, color_scheme=scheme
    )
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    paint = "getComputedStyle(document.body).backgroundColor"
    dark = "rgb(20, 24, 27)"
    assert (page.evaluate(paint) == dark) == (scheme == "dark")
    lines = "document.querySelector('.plot .js-line').style.stroke"
    before = page.evaluate(lines)
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    deadline = time.monotonic() + 60
    while page.evaluate(lines) == before:  # charts follow the theme
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate(
        "[...document.querySelectorAll('.plot svg')].map((svg) => svg.getBoundingClientRect().right)"
    )
    assert max(widths) <= 690  # on paper
    assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#ffffff"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
