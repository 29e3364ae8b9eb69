"""The page of a graph: what is in the file, and what a browser does with it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from ksparse.cli import main

from .graph_files import HOSTILE, make_frame, write_csv, write_hostile_csv

VENDORED = files("ksparse.cli") / "web" / "cytoscape"
#: Names of Chromium's command.
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")


def write_page(folder: Path, data: Path, *options: str) -> Path:
    out = folder / "out"
    assert main(["graph", str(data), "--out", str(out), *options]) == 0
    return out / "graph.html"


def read_page_data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_library_is_the_one_that_is_named() -> None:
    readme = (VENDORED / "README.md").read_text(encoding="utf-8")
    content = (VENDORED / "cytoscape.min.js").read_bytes()
    assert f"`{hashlib.sha256(content).hexdigest()}`" in readme
    assert len(content) < 500_000
    assert "Permission is hereby granted" in (VENDORED / "LICENSE").read_text(encoding="utf-8")


def test_the_page_allows_its_own_scripts_only(tmp_path: Path) -> None:
    page = write_page(tmp_path, write_csv(tmp_path / "chain.csv", make_frame()), "--k", "5").read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe-eval" not in policy[1]
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", re.sub(r"<script>.*?</script>", "", page))


def test_the_data_of_the_page(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    data = read_page_data(write_page(tmp_path, path, "--k", "5", "--stability", "2").read_text())
    assert [node["name"] for node in data["nodes"]] == list("abcdef")
    assert [step["k"] for step in data["steps"]] == [1, 2, 3, 4, 5]
    assert [len(step["edges"]) for step in data["steps"]] == [1, 2, 3, 4, 5]
    assert data["chosen"] == 4
    assert len(data["frequencies"]) == len(data["edges"])
    assert len({(node["x"], node["y"]) for node in data["nodes"]}) == 6
    chosen = data["steps"][data["chosen"]]
    edges = {tuple(data["edges"][edge]): strength for edge, strength in zip(chosen["edges"], chosen["strengths"])}  # noqa: B905
    assert set(edges) == {(j, j + 1) for j in range(5)}


def test_without_edges_there_is_a_page(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "chain.csv", make_frame())
    data = read_page_data(write_page(tmp_path, path, "--k", "0").read_text())
    assert data["edges"] == []
    assert len({(node["x"], node["y"]) for node in data["nodes"]}) == 6


# --- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("Chromium is not installed")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=flags)
        yield running
        running.close()


class Visit:
    """A page in a browser, with all that it complained of or asked for."""

    def __init__(self, browser: Any, path: Path, width: int = 1200) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#graph canvas")

    def ask(self, question: str) -> Any:
        """What Cytoscape.js says of the graph."""
        return self.page.evaluate(f"() => {question}")

    def wait_for(self, kind: str, count: int) -> None:
        """Wait until so many nodes or edges are drawn; the policy of the page forbids Playwright's own waiting."""
        for _ in range(50):
            found = self.ask(f"cy.{kind}(':visible').length")
            if found == count:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{found} {kind}, not {count}")

    def find(self, name: str) -> Any:
        """Where a node is on the screen."""
        inside = self.ask(f"cy.nodes().filter((node) => node.data('name') === {json.dumps(name)}).renderedPosition()")
        box = self.page.locator("#graph").bounding_box()
        return box["x"] + inside["x"], box["y"] + inside["y"]

    def close(self) -> None:
        """Nothing went wrong, and nothing but the file was asked for."""
        self.context.close()
        assert self.problems == []
        assert len(self.requests) == 1


@pytest.fixture(scope="module")
def chain_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    frame = make_frame().assign(**{"alone 1": make_frame(120)["a"].to_numpy()[60:]})
    return write_page(folder, write_csv(folder / "chain.csv", frame), "--k", "5", "--stability", "2")


@pytest.mark.slow
def test_the_slider_shows_more_and_fewer_edges(browser: Any, chain_page: Path) -> None:
    visit = Visit(browser, chain_page)
    visit.wait_for("edges", 5)
    visit.wait_for("nodes", 6)
    visit.page.locator("#isolated").check()
    visit.wait_for("nodes", 7)
    visit.page.locator("#k").fill("1")
    visit.wait_for("edges", 2)
    assert visit.page.locator("#k-value").text_content() == "2"
    assert visit.page.locator("#edges tbody tr").count() == 2
    visit.page.locator("#isolated").uncheck()
    visit.wait_for("edges", 2)
    assert visit.ask("cy.nodes(':visible').length") in (3, 4)
    visit.page.get_by_role("button", name="Back to 5").click()
    visit.wait_for("edges", 5)
    assert visit.page.locator("#back").is_hidden()
    visit.close()


@pytest.mark.slow
def test_nodes_are_dragged_hovered_and_found(browser: Any, chain_page: Path) -> None:
    visit = Visit(browser, chain_page)
    mouse, about = visit.page.mouse, visit.page.locator("#about")
    x, y = visit.find("c")
    mouse.move(x, y)
    text = about.text_content()
    assert text.startswith("c2 edges")
    assert "b+" in text
    assert "d+" in text
    mouse.down()
    mouse.move(x + 60, y + 40, steps=4)
    mouse.up()
    moved = visit.find("c")
    assert moved == pytest.approx((x + 60, y + 40), abs=2)
    visit.page.locator("#search").fill("E")
    assert about.text_content().startswith("e2 edges")
    assert visit.ask("cy.nodes('.found').map((node) => node.data('name'))") == ["e"]
    assert visit.ask("cy.nodes('.faded').length") == visit.ask("cy.nodes().length") - 3
    visit.page.locator("#search").fill("")
    assert about.is_hidden()
    before = visit.ask("cy.zoom()")
    visit.page.get_by_role("button", name="Zoom in").click()
    assert visit.ask("cy.zoom()") > before
    visit.close()


@pytest.mark.slow
def test_the_table_is_sorted_and_downloaded(browser: Any, chain_page: Path) -> None:
    visit = Visit(browser, chain_page, width=400)
    assert visit.ask("document.documentElement.scrollWidth") <= 400
    rows = visit.page.locator("#edges tbody tr")
    strengths = [abs(float(text.replace("−", "-"))) for text in rows.locator("td:nth-child(3)").all_text_contents()]
    assert strengths == sorted(strengths, reverse=True)
    head = visit.page.get_by_role("button", name="Partial correlation")
    head.click()
    head.click()
    again = [abs(float(text.replace("−", "-"))) for text in rows.locator("td:nth-child(3)").all_text_contents()]
    assert again == sorted(strengths)
    head.click()
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name="Download as CSV").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    expected = (chain_page.parent / "edges.csv").read_text().splitlines()
    assert lines[0] == expected[0]
    assert [line.split(",")[:2] for line in lines] == [line.split(",")[:2] for line in expected]
    visit.close()


@pytest.mark.slow
def test_hostile_names_are_text(browser: Any, tmp_path: Path) -> None:
    visit = Visit(browser, write_page(tmp_path, write_hostile_csv(tmp_path / "evil.csv"), "--k", "5"))
    shown = visit.page.locator("#edges tbody tr").filter(has_text="=HYPERLINK").first.text_content()
    assert "</script><img src=x onerror=alert(1)>\\x1b[31m\\u202e\\u2028&amp;" in shown
    assert visit.page.locator("img").count() == 1  # for printing
    visit.page.locator("#search").fill("=hyper")
    assert visit.page.locator("#about b").text_content().startswith("=HYPERLINK")
    with visit.page.expect_download() as waiting:
        visit.page.get_by_role("button", name="Download as CSV").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert '"\'=HYPERLINK(""x"")' in text
    assert "'@SUM(1+1)" in text
    assert HOSTILE.replace('"', '""') in text
    visit.close()


@pytest.mark.slow
def test_it_prints_in_the_dark(browser: Any, chain_page: Path) -> None:
    context = browser.new_context(color_scheme="dark", viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(chain_page.as_uri())
    page.wait_for_selector("#graph canvas")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 27)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#picture").evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300
    assert page.locator("#picture").is_visible()
    assert page.locator("#graph").is_hidden()
    context.close()


@pytest.mark.slow
def test_without_networkx_the_page_lays_the_graph_out(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    page = write_page(tmp_path, write_csv(tmp_path / "chain.csv", make_frame()), "--k", "5")
    assert read_page_data(page.read_text())["placed"] is False
    visit = Visit(browser, page)
    circle = "data.nodes.map((node) => Math.hypot(node.x, node.y))"
    radii = visit.ask(circle)
    assert max(radii) - min(radii) < 0.01 * max(radii)
    spread = visit.ask(
        "{ const box = cy.nodes(':visible').boundingBox(); return cy.nodes(':visible').map((node) =>"
        " Math.hypot(node.position('x') - (box.x1 + box.x2) / 2, node.position('y') - (box.y1 + box.y2) / 2)); }"
    )
    assert max(spread) - min(spread) > 0.2 * max(spread)  # a chain is not a circle
    visit.close()


@pytest.mark.slow
def test_the_headline_is_of_the_graph_that_is_shown(browser: Any, chain_page: Path) -> None:
    visit = Visit(browser, chain_page)
    headline = visit.page.locator("#headline")
    before = headline.text_content()
    visit.ask("goTo(1)")
    assert headline.text_content() == "2 edges between 3 of 7 variables"
    visit.ask("goTo(data.chosen)")
    assert headline.text_content() == before
    visit.close()
