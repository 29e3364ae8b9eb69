"""The page as a file: hostile texts, size, the same bytes each time, and what is copied into it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from ksparse.cli.pages import embed_json
from ksparse.cli.report import render_report

from .helpers import accepted
from .pages import EVIL, fit, fit_cancer, fit_diabetes, read_data, write_evil_table

LARGEST_PAGE = 4_000_000


class Elements(HTMLParser):
    """The elements of a page, and the contents of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, text: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(text)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    path = write_evil_table(tmp_path)
    page = render_report(fit(data=str(path), target=f"t{EVIL}", ks=(1, 2), alpha=0.01, title=EVIL), resamples=0)
    elements = Elements(page)
    assert elements.tags.count("script") == 3
    assert not {"img", "iframe", "a", "form"} & set(elements.tags)
    assert elements.tags.count("b") == len(read_data(page)["states"][0]["cards"])
    assert (elements.addresses, elements.handlers) == ([], [])
    assert not any(letter in page for letter in "\u202e\x1b")
    data = read_data(page)
    assert data["states"][-1]["table"]["rows"][0]["name"]["text"].startswith("x=</script><img src=x")
    assert {"text": "@SUM(1)", "cell": "'@SUM(1)"} in data["classes"]
    assert all(row["name"]["cell"].startswith(("x=", "b", "c")) for row in data["states"][-1]["table"]["rows"])


def test_data_cannot_end_its_element() -> None:
    value = {"</script>": ["<!--", "&lt;", "\u2028\u2029", 'a"b\\']}
    text = str(embed_json(value))
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="Out of range float"):
        embed_json(float("nan"))


def test_only_the_scripts_of_the_page_run() -> None:
    page = render_report(fit_cancer(), resamples=0)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = policy[1].replace("&#39;", "'").replace("&#x2B;", "+")
    assert "default-src 'none'" in allowed
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    assert len(scripts) == allowed.count("sha256-") == 2
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in allowed


def test_the_same_fit_gives_the_same_page() -> None:
    day = date(2026, 1, 2)
    assert render_report(fit_diabetes(), day=day, resamples=0) == render_report(fit_diabetes(), day=day, resamples=0)
    assert "2 January 2026" in render_report(fit_diabetes(), day=day, resamples=0)
    assert "<time>" not in render_report(fit_diabetes(), resamples=0)


def test_title_and_no_words_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted(
        capsys, "fit", "diabetes", "--k", "3", "--alpha", "0", "--out", tmp_path, "--title", "Who gets worse <soon>"
    )
    page = (tmp_path / "report.html").read_text()
    assert "<h1>Who gets worse &lt;soon&gt;</h1>" in page
    assert "<title>Who gets worse &lt;soon&gt;</title>" in page
    words = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    assert not re.search(r"--[a-z]", words)


def test_numbers_of_features_of_svmlight(tmp_path: Path) -> None:
    X = sparse.random(80, 50, density=0.2, random_state=0, format="csr")
    y = 3 * X[:, [6]].toarray().ravel() + 0.01 * np.random.default_rng(1).standard_normal(80)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    data = read_data(render_report(fit(data=str(tmp_path / "a.svm"), ks=(1, 2), alpha=0.0), resamples=0))
    assert "(number 7" in data["summary"]["result"]
    assert data["predictsFrom"] == "svm"


@pytest.mark.slow
def test_wide_data_give_a_small_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 22_000)).astype(np.float32)
    dump_svmlight_file(np.round(X, 1), X[:, 5] + X[:, 77], str(tmp_path / "a.svm"), zero_based=False)
    options = {"criterion": "bic", "ks": (1, 2, 30), "alpha": 0.1}
    page = render_report(fit(data=str(tmp_path / "a.svm"), **options), resamples=0)
    assert len(page.encode()) < LARGEST_PAGE
    assert "of 22,000 features" in page


@pytest.mark.parametrize(
    ("folder", "name"), [("plotly", "plotly-basic.min.js"), ("inter", "inter-latin-wght-normal.woff2")]
)
def test_copied_files_are_those_that_were_published(folder: str, name: str) -> None:
    place = files("ksparse.cli") / "web" / folder
    digest = hashlib.sha256(place.joinpath(name).read_bytes()).hexdigest()
    about = place.joinpath("README.md").read_text()
    assert f"SHA-256 of `{name}` | `{digest}`" in about
    assert re.search(r"\| version \| \d+\.\d+\.\d+ \|", about)
    assert len(place.joinpath("LICENSE").read_text()) > 500
