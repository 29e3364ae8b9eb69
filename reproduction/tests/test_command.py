"""``python -m reproduction``: reports, resumes, and says what is left out; nothing is lost when something fails."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reproduction import command
from reproduction.base import Picture
from reproduction.command import main
from reproduction.tasks import Work

from .small_experiment import REASON, Small, WithData, make_data_folder

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    experiments = (Small(), WithData())
    monkeypatch.setenv("KSPARSE_DATA", "")  # what --data sets is then undone
    monkeypatch.delenv("KSPARSE_DATA")
    monkeypatch.setattr(command, "EXPERIMENTS", experiments)
    return experiments[0]


def run(folder: Path, *arguments: str) -> int:
    return main([*arguments, "--jobs", "1", "--out", str(folder)])


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def made_with(folder: Path) -> str:
    """The command that the report states."""
    found = re.search(r"\| Command \| (.*) \|", read(folder, "report.md"))
    assert found
    return found[1]


class Balance(HTMLParser):
    """Checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_report(small: Small, tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    page = read(tmp_path, "report.html")
    for text in ("A &lt;small&gt; one", "A line &amp; its name", "does not hold", "not measured", "data:image/svg+xml"):
        assert text in page
    # It needs no other file, and links within the page have a target.
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert set(re.findall(r'href="#(.*?)"', page)) <= set(re.findall(r'<(?:section|figure) id="(.*?)"', page))
    assert "<b>0</b><span>of 1 claims hold with the default solver</span>" in page
    balance = Balance()
    balance.feed(page)
    assert not balance.open


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_the_report_opens_with_figures_and_claims_fold_out(small: Small, tmp_path: Path, name: str) -> None:
    assert run(tmp_path) == 0
    text = read(tmp_path, name).replace("’", "'")
    order = ["The paper's figures", "A line", "The paper's claims", "errors fall", "A detail", "All of it", "Made with"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    # One line for each claim; numbers and reasons are inside.
    assert len(re.findall("<details><summary>(errors fall|it is unknown|there are no errors)</summary>", text)) == 3
    assert re.search(rf"Measured: some \\?\| many\.[^§]*{REASON}[^§]*</details>", text)
    assert text.count(REASON) == 1


def test_markdown_report(small: Small, tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    text = read(tmp_path, "report.md")
    figures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert figures == ["small.svg", "detail.svg"]
    assert all(read(tmp_path, name).startswith("<?xml") for name in figures)
    assert "## A \\<small\\> one (`small`)" in text
    claims = [line for line in text.splitlines() if line.startswith("| Figure 0 |")]
    assert [line.rsplit(" | ", 2)[1:] for line in claims] == [
        ["holds", "does not hold |"],
        ["not measured", "— |"],
        ["does not hold", "— |"],
    ]
    assert "| n | error |\n| --- | --- |\n| 1 | 1 |\n" in text
    assert "\n\n\n" not in text


def test_results_and_claims_as_csv(small: Small, tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path) == 0
    frame = pd.read_csv(tmp_path / "small.csv")
    assert frame["n"].tolist() == [1, 1, 2, 2, 3, 3]
    assert frame["error"].tolist() == pytest.approx([1, 1, 0.5, 0.5, 1 / 3, 1 / 3])
    claims = pd.read_csv(tmp_path / "claims.csv", keep_default_na=False)
    assert claims["verdict"].tolist() == ["holds", "not measured", "does not hold"]
    assert claims["explanation"].tolist() == ["", "", REASON]
    out = capsys.readouterr().out
    assert "holds  Figure 0: errors fall; default solver: does not hold" in out
    assert "Left out: One with data: rcv1.binary is not part of ksparse (details in the report)\n" in out
    assert "One with data</td><td>rcv1.binary is not part of ksparse; set" in read(tmp_path, "report.html")
    assert not (tmp_path / "with-data.csv").exists()


@pytest.mark.slow
def test_an_interrupted_run_is_resumed(small: Small, tmp_path: Path, capsys: Captured) -> None:
    small.fails_at = 3
    assert run(tmp_path, "small") == 130
    assert capsys.readouterr().err.endswith(
        "reproduction: interrupted; finished tasks are kept, the same command resumes the run\n"
    )
    assert not (tmp_path / "report.html").exists()
    small.fails_at = None
    assert run(tmp_path, "small") == 0
    assert small.runs == [1, 2, 3]
    assert "missing" not in read(tmp_path, "report.html")
    assert run(tmp_path, "small") == 0
    assert small.runs == [1, 2, 3]


@pytest.mark.slow
def test_a_failing_task_does_not_prevent_the_report(small: Small, tmp_path: Path, capsys: Captured) -> None:
    small.fails_at, small.error = 2, ValueError
    assert run(tmp_path, "small") == 1
    assert "Failed: small n=2: ValueError: no luck\n" in capsys.readouterr().err
    assert "<b>Incomplete: small (1 of 3 tasks are missing).</b>" in read(tmp_path, "report.html")
    assert "**Incomplete: 1 of 3 tasks are missing.**" in read(tmp_path, "report.md")
    small.fails_at = None
    assert run(tmp_path, "small") == 0
    assert small.runs == [1, 3, 2]


def test_results_that_cannot_be_shown_do_not_prevent_the_others(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fail(figure: Any) -> None:
        raise ArithmeticError("too few")

    monkeypatch.setattr(WithData, "draw_pictures", lambda *_: [Picture("bad", "A bad line", "", fail)])
    out = tmp_path / "out"
    assert run(out, "--data", str(make_data_folder(tmp_path))) == 1
    assert "Failed: with-data: its results cannot be shown (ArithmeticError: too few)" in capsys.readouterr().err
    page = read(out, "report.html")
    assert "its results in with-data.csv cannot be shown (ArithmeticError: too few)" in page
    assert "A line &amp; its name" in page
    assert (out / "with-data.csv").exists()


def test_experiments_alternate(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the results of an incomplete run are balanced."""
    order: list[str] = []

    def note(work: list[Work], *_: object) -> list[str]:
        order.extend(f"{item.experiment.name} {item.task.name}" for item in work)
        return []

    monkeypatch.setattr(command, "run_all", note)
    assert run(tmp_path / "out", "--data", str(make_data_folder(tmp_path))) == 0
    assert order == [f"{name} n={n}" for n in (1, 2, 3) for name in ("small", "with-data")]


def test_progress_shows_what_is_done(small: Small, tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path, "small") == 0
    assert re.search(r"small .* 3/3 ", capsys.readouterr().err)


def test_a_quick_run_says_that_it_tests_nothing(small: Small, tmp_path: Path) -> None:
    assert run(tmp_path, "--quick") == 0
    for name in ("report.html", "report.md"):
        assert "few replications of small settings check that everything works" in read(tmp_path, name)
        assert REASON not in read(tmp_path, name)


def test_what_the_report_was_made_with(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 7))
    monkeypatch.setattr("reproduction.tasks.time.process_time", lambda: float(next(clock)))
    assert run(tmp_path, "small") == 0
    values = pd.read_csv(tmp_path / "made-with.csv").set_index("name")["value"]
    assert list(values.index) == ["Command", "Versions", "Machine"]
    pattern = r"python -m reproduction small --jobs 1; results on \d{4}-\d\d-\d\d, 21 CPU seconds"
    assert re.fullmatch(pattern, values["Command"])
    assert "Python 3" in values["Versions"]
    assert "cores" in values["Machine"]


@pytest.mark.slow
def test_results_of_other_settings_are_not_mixed(small: Small, tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path, "small") == 0
    assert run(tmp_path, "small", "--quick") == 2
    assert "Use another folder for --out" in capsys.readouterr().err
    # They are left out where another experiment is run.
    assert run(tmp_path, "with-data", "--quick", "--data", str(make_data_folder(tmp_path))) == 0
    assert "## A \\<small" not in read(tmp_path, "report.md")
    assert re.search(r"\| A \\<small\\> one \| .* has results of settings", read(tmp_path, "report.md"))


@pytest.mark.slow
def test_former_results_in_the_folder_are_shown_too(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    out, data = tmp_path / "out", str(make_data_folder(tmp_path))
    assert run(out, "with-data", "--data", data) == 0
    assert made_with(out).startswith("python -m reproduction with-data --jobs 1 --data …; results on 20")
    hint = f"python -m reproduction small --out {out} --data {data}".replace("_", "\\_")
    assert f"| A \\<small\\> one | not run; run it with: {hint} |" in read(out, "report.md")
    capsys.readouterr()
    assert run(out, "small") == 0
    assert capsys.readouterr().out.count("errors fall") == 1  # of the experiment that was asked for
    assert "## One with data" in read(out, "report.md")
    assert made_with(out).startswith("KSPARSE\\_DATA=… python -m reproduction small with-data --jobs 1; results on 20")
    monkeypatch.delenv("KSPARSE_DATA")
    assert run(out) == 0
    assert "## One with data" in read(out, "report.md")


@pytest.mark.slow
def test_render_writes_the_same_report_from_the_results(small: Small, tmp_path: Path) -> None:
    assert run(tmp_path, "small") == 0
    names = ("report.md", "report.html", "claims.csv", "made-with.csv", "small.svg")
    before = {name: read(tmp_path, name) for name in names}
    for name in names:
        if name != "made-with.csv":
            (tmp_path / name).unlink()
    assert main(["--render", str(tmp_path)]) == 0
    assert small.runs == [1, 2, 3]
    for name in names:
        # Why other experiments are left out is not in the results.
        assert read(tmp_path, name).split("Left out")[0] == before[name].split("Left out")[0]


def test_a_folder_without_results_cannot_be_rendered(small: Small, tmp_path: Path, capsys: Captured) -> None:
    assert main(["--render", str(tmp_path)]) == 2
    assert "has no results; expected made-with.csv and files such as small.csv" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["quick", "standard", "full"])
def test_each_scale_has_a_folder_of_its_own(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["small", "--jobs", "1", *([] if scale == "standard" else [f"--{scale}"])]) == 0
    assert [each.name for each in tmp_path.iterdir()] == [f"reproduction-{scale}"]


def test_a_note_on_the_data_is_shown(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Small, "describe_data", lambda self, settings: "Data: not those of the paper.")
    assert run(tmp_path, "small") == 0
    assert '<p class="data">Data: not those of the paper.</p>' in read(tmp_path, "report.html")
    assert "**Data: not those of the paper.**" in read(tmp_path, "report.md")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["large"], "unknown experiment 'large'; choose from small, with-data"),
        (["--fast"], "unrecognized arguments: --fast"),
        (["--quick", "--full"], "not allowed with argument"),
        (["--out", ""], "expected the name of a folder, got ''"),
        (["--jobs", "0"], "expected a positive integer or -1, got '0'"),
        (["--jobs", "two"], "expected a positive integer or -1, got 'two'"),
    ],
)
def test_bad_arguments(small: Small, arguments: list[str], message: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    error = capsys.readouterr().err
    assert "usage: python -m reproduction" in error
    assert message in error


def test_folders_that_cannot_be_used(small: Small, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        assert run(out, "small") == 2
        assert re.search(r"cannot write to --out .*file.*; give another folder", capsys.readouterr().err)
    assert run(tmp_path / "out", "--data", str(tmp_path / "none")) == 2
    assert re.search(r"--data .*none is not a folder", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_missing_data_are_an_error_if_there_is_nothing_else(small: Small, tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path / "out", "with-data") == 2
    assert "rcv1.binary is not part of ksparse" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_module_runs_and_the_package_does_not_load_it() -> None:
    shown = subprocess.run([sys.executable, "-m", "reproduction", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert shown.returncode == 0
    assert "logistic-n" in shown.stdout
    code = "import sys, ksparse.cli; assert 'reproduction' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
