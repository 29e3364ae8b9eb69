"""``ksparse reproduce``: reports, goes on where it stopped, and says what it leaves out."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from ksparse.cli import main
from ksparse.cli.progress import bars
from ksparse.experiments.running import Work

from .small_experiment import WHY, Small, with_data


def test_report_results_and_claims(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    for text in ("A &lt;small&gt; one", "A line &amp; its name", "does not hold", "not measured", "data:image/svg+xml"):
        assert text in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert re.findall(r'href="#(.*?)"', page) == re.findall(r'<section id="(.*?)"', page) == ["small"]
    assert "<b>0</b><span>of 1 claims hold with the default solver</span>" in page
    rows = list(csv.DictReader((tmp_path / "small.csv").read_text().splitlines()))
    assert [(row["n"], row["method"]) for row in rows][:2] == [("1", "GraHTP"), ("1", "FBS")]
    verdicts = [row["verdict"] for row in csv.DictReader((tmp_path / "claims.csv").read_text().splitlines())]
    assert verdicts == ["holds", "not measured", "does not hold"]
    out = capsys.readouterr().out
    assert "holds  Figure 0: errors fall; default solver: does not hold" in out
    assert "Left out: One with data: rcv1.binary is not part of the package (what to do: see the report)\n" in out
    assert "One with data</td><td>rcv1.binary is not part of the package; set" in page
    assert not (tmp_path / "with-data.csv").exists()


def test_the_report_as_markdown_names_figures_that_are_there(small: Small, tmp_path: Path) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "report.md").read_text()
    figures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert figures
    for name in figures:
        assert (tmp_path / name).read_text().startswith("<?xml")
    assert "## A \\<small\\> one (`small`)" in text
    assert "| Figure 0 | errors fall | holds |" in text


def test_experiments_take_turns(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an interrupted run has something of each."""
    order: list[str] = []

    def note(work: list[Work], *_: object) -> None:
        order.extend(f"{name} {task.place['n']}" for name, _, task in work)

    monkeypatch.setattr("ksparse.cli.reproduce.run_all", note)
    data = with_data(tmp_path)
    assert main(["reproduce", "--out", str(tmp_path / "out"), "--data", str(data)]) == 0
    assert order == [f"{name} {n}" for n in (1, 2, 3) for name in ("small", "with-data")]


def test_an_interrupted_run_goes_on_where_it_stopped(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]
    small.fails_at = 3
    assert main(arguments) == 130
    captured = capsys.readouterr()
    assert captured.err.endswith("ksparse: interrupted; the same command goes on where it stopped\n")
    first = "Not finished, and shown as far as they came: small (1 of 3 tasks are missing)."
    assert first in captured.out
    page, text = ((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))
    assert f"<b>{first}</b>" in page
    assert "1 of 3 tasks are missing, so that means are over fewer results" in page
    assert f"**{first}**" in text
    assert "**This run was not finished: 1 of 3 tasks" in text
    small.fails_at = None
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]
    assert "missing" not in (tmp_path / "report.html").read_text()
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]


def test_what_was_not_asked_for_is_said_too(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder may come to hold parts of it; the report then names the others."""
    data = with_data(tmp_path)
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path), "--data", str(data)]) == 0
    assert "Left out" not in capsys.readouterr().out
    command = f"ksparse reproduce with-data --out {tmp_path} --data {data}".replace("_", "\\_")
    assert f"| One with data | not run; '{command}' does |" in (tmp_path / "report.md").read_text()


def test_a_quick_run_says_that_it_proves_nothing(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    said = "few replications of small settings show that everything runs, not what is true"
    for text in (capsys.readouterr().out, *((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))):
        assert said in text
        assert WHY not in text


def test_why_ours_differ_is_said_wherever_claims_are(small: Small, tmp_path: Path) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    page, text, claims = ((tmp_path / name).read_text() for name in ("report.html", "report.md", "claims.csv"))
    assert f"<i>{WHY}</i>" in page
    assert f"| {WHY} |" in text
    assert f",{WHY}\n" in claims
    # Not where it holds.
    assert page.count("<i>") == 1


def test_what_it_was_made_with(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seconds of all tasks, and when they were done."""
    clock = iter(range(0, 100, 7))
    monkeypatch.setattr("ksparse.experiments.running.time.process_time", lambda: float(next(clock)))
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0
    made = {row["name"]: row["value"] for row in csv.DictReader((tmp_path / "made-with.csv").read_text().splitlines())}
    assert list(made) == ["Command", "Versions", "Machine"]
    assert re.fullmatch(
        r"ksparse reproduce small --jobs 1; results on \d{4}-\d\d-\d\d, 21 seconds of the processor", made["Command"]
    )
    assert "Python 3" in made["Versions"]
    assert "cores" in made["Machine"]


def test_results_of_other_settings_are_not_mixed(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert main(["reproduce", "small", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 2
    assert "give --out another folder" in capsys.readouterr().err


def test_a_name_that_is_not_known(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "large"])
    assert stopped.value.code == 2
    assert "there is no experiment 'large'; choose from small, with-data\n" in capsys.readouterr().err


def test_the_folder_of_the_data_is_handed_on(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", "")
    data = with_data(tmp_path)
    out = tmp_path / "out"
    assert main(["reproduce", "--jobs", "1", "--out", str(out), "--data", str(data)]) == 0
    assert (out / "with-data.csv").exists()
    assert "Left out" not in capsys.readouterr().out


def test_the_time_left_is_on_the_bars(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with bars({"small": (1, 4), "large": (0, 2)}, jobs=1) as advance:
        advance("small", 60.0)
        advance("large", 3600.0)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)  # without colours
    for name, count, left in (("small", "2/4", "0:02:00"), ("large", "1/2", "1:00:00"), ("in all", "3/6", "1:02:00")):
        assert re.search(rf"{name} .* {count} {left} left", shown)


def test_elsewhere_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with bars({"small": (1, 4), "large": (0, 20)}, jobs=2) as advance:
        advance("small", 60.0)
        advance("large", 2.0)
        advance("large", 2.0)
    assert capsys.readouterr().err == "small: 2 of 4\nlarge: 2 of 20 (in all 0:01:18 left)\n"


def test_what_was_done_before_is_said_and_only_what_was_asked_for_is_printed(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--jobs", "1", "--out", str(tmp_path / "out"), "--data", str(with_data(tmp_path))]
    assert main(["reproduce", "small", *out]) == 0
    first = capsys.readouterr()
    assert "done before" not in first.err
    assert main(["reproduce", "with-data", *out]) == 0
    second = capsys.readouterr()
    assert second.out.count("errors fall") == first.out.count("errors fall") == 1
    assert main(["reproduce", *out]) == 0
    third = capsys.readouterr()
    assert first.err.startswith("3 tasks, one at a time; the first ones also load and compile code.\n")
    assert "All 6 tasks were done before.\n" in third.err
    assert third.out.count("errors fall") == 2


def test_an_interrupt_before_there_is_anything_writes_no_report(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.fails_at = 1
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 130
    assert not list(tmp_path.glob("*.*"))
    assert "Wrote" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scale", "name"), [(["--quick"], "reproduction-quick"), ([], "reproduction"), (["--full"], "reproduction-full")]
)
def test_each_scale_has_a_folder_of_its_own(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: list[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "small", "--jobs", "1", *scale]) == 0
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_a_reader_has_to_know_of_the_data_is_there(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Small, "remark", lambda self, settings: "Data: not those of the paper.")
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "<p><b>Data: not those of the paper.</b></p>" in (tmp_path / "report.html").read_text()
    assert "**Data: not those of the paper.**" in (tmp_path / "report.md").read_text()
