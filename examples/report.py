"""A picture of the report: ``python examples/report.py --out FOLDER`` writes report.html and report.png.

It shows the built-in data. It needs Chromium and ``pip install playwright``.
"""

from __future__ import annotations

import argparse
import shutil
from datetime import date
from pathlib import Path

from ksparse.cli.data import load_training_data
from ksparse.cli.fitting import fit_model
from ksparse.cli.report import render_report
from ksparse.cli.settings import Settings

#: Width and height of the picture in units of the page; it has twice as many pixels.
WIDTH, HEIGHT = 1180, 1234
#: The picture is the same on each day.
DAY = date(2026, 11, 18)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(data="breast-cancer", title="Which measurements tell malignant from benign tumours?")
    page = folder / "report.html"
    fitted = fit_model(load_training_data(settings.data, settings.target, settings.drop), settings)
    page.write_text(render_report(fitted, day=DAY), encoding="utf-8")
    take_picture(page, folder / "report.png")


def take_picture(page: Path, picture: Path) -> None:
    """The top of a page as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless=new", "--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector(".plot svg")
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
