"""Results that are written as they come, and a run that goes on where it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ksparse.experiments import Settings, Task, journal
from ksparse.experiments.journal import DamagedError, InUseError, Journal, OtherSettingsError, alone
from ksparse.experiments.logistic import LogisticSettings


@dataclass(frozen=True)
class Sizes(Settings):
    n: int = 3
    ks: tuple[int, ...] = (1, 2)
    replications: int = 2


TASKS = [Task({"n": n, "replication": r}) for r in range(2) for n in (10, 20)]


def filled(path: Path, count: int = 2) -> Journal:
    journal = Journal(path, Sizes(), "1.0")
    for task in TASKS[:count]:
        journal.add(task, [{"method": "GraHTP", "error": 0.1}, {"method": "FBS", "error": 1 / 3}], 1.5)
    return journal


def test_what_was_done_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    assert filled(path).left(TASKS) == TASKS[2:]
    again = Journal(path, Sizes(), "1.0")
    assert len(again) == 2
    assert again.left(TASKS) == TASKS[2:]
    assert again.table(TASKS).rows == filled(tmp_path / "other.jsonl").table(TASKS).rows
    assert again.table(TASKS).rows[1] == {"n": 10, "replication": 0, "method": "FBS", "error": 1 / 3}


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path)
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(path, Sizes(), "1.0")
    assert again.left(TASKS) == TASKS[1:]
    again.add(TASKS[1], [{"error": 2.0}], 1.0)
    assert path.read_bytes().endswith(b"}\n")  # a new line that is shorter leaves nothing of the old one
    assert Journal(path, Sizes(), "1.0").left(TASKS) == TASKS[2:]
    assert Journal(path, Sizes(), "1.0").table(TASKS).values("error", n=20).tolist() == [2.0]


def test_results_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", Sizes(), "1.0")
    for task in reversed(TASKS):
        journal.add(task, [{"error": 0.0}], 1.0)
    assert [row["n"] for row in journal.table(TASKS).rows] == [10, 20, 10, 20]


@pytest.mark.parametrize(
    ("settings", "version", "what"),
    [
        (Sizes(n=4), "1.0", r"of other settings \(another scale, .*\); give"),
        (Sizes(ks=(1,)), "1.0", r"of other settings \(another scale, .*\); give"),
        (Sizes(), "1.1", r"of another version \(1.0; this is 1.1\); give"),
        (
            Sizes(n=4),
            "1.1",
            r"of other settings \(another scale, .*\) and of another version \(1.0; this is 1.1\); give",
        ),
    ],
)
def test_results_of_other_settings_are_refused(tmp_path: Path, settings: Sizes, version: str, what: str) -> None:
    filled(tmp_path / "journal.jsonl")
    with pytest.raises(OtherSettingsError, match=f"{what} --out another folder .* lose these results"):
        Journal(tmp_path / "journal.jsonl", settings, version)


def test_more_replications_go_on_with_those_that_were_done(tmp_path: Path) -> None:
    filled(tmp_path / "journal.jsonl")
    assert len(Journal(tmp_path / "journal.jsonl", Sizes(replications=5), "1.0")) == 2


DAMAGED = [
    b'{"task": "half of a li',
    b"",
    b"\0\0\0\0\0\0",
    b"\xff\xfe",
    b"[" * 100_000,
    b"[1, 2]",
    b'{"task": 3, "rows": []}',
    b'{"task": "no rows"}',
    b'{"task": "rows that are none", "rows": [1]}',
    b'{"task": "{}", "rows": []}',
    b'{"task": "{\\"n\\": 20, \\"replication\\": 0}", "rows": [{"error": 1.0}]}',
    b'{"task": "{\\"n\\": 20, \\"replication\\": 0}", "rows": [{"n": 20, "replication": 1}]}',
]


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_line_costs_itself_only(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path, 4)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], damage, *lines[3:], b""]))
    again = Journal(path, Sizes(), "1.0")
    assert again.skipped == 1
    assert again.left(TASKS) == [TASKS[1]]
    again.add(TASKS[1], [{"error": 2.0}], 1.0)
    assert path.read_bytes().splitlines()[:5] == [*lines[:2], damage, *lines[3:]]
    last = Journal(path, Sizes(), "1.0")
    assert last.left(TASKS) == []
    assert last.table(TASKS).values("error", n=20, replication=0).tolist() == [2.0]


@pytest.mark.parametrize("head", [b"", b"{", b"[]", b'{"settings": "0"}', b'{"task": "a", "rows": []}'])
def test_results_under_a_damaged_first_line_are_refused_and_kept(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path)
    path.write_bytes(head + b"\n" + path.read_bytes().partition(b"\n")[2])
    before = path.read_bytes()
    with pytest.raises(DamagedError, match=r"the first line of .* does not say"):
        Journal(path, Sizes(), "1.0")
    assert path.read_bytes() == before


def test_a_first_line_that_was_cut_off_is_begun_again_if_it_is_ours(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path)
    path.write_bytes(path.read_bytes()[:20])
    filled(path)
    assert len(Journal(path, Sizes(), "1.0")) == 2
    path.write_bytes(b"some notes of mine")
    with pytest.raises(DamagedError, match="first line"):
        Journal(path, Sizes(), "1.0")


def test_lines_say_when_they_were_written_and_former_ones_need_not(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    filled(path, 4)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert set(lines[0]) == {"settings", "version"}
    del lines[2]["when"], lines[2]["seconds"]
    lines[3]["when"] = "2020-01-01T00:00:00"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = Journal(path, Sizes(), "1.0")
    first, former, without_zone, last = again.marks(TASKS)
    assert again.left(TASKS) == []
    assert former is None
    assert without_zone is None
    assert first is not None
    assert last is not None
    assert first.seconds == 1.5
    assert timedelta(0) <= datetime.now(timezone.utc) - last.when < timedelta(hours=1)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    words = rf"another run \(process {os.getpid()}\) writes to .*; wait for its end"
    with alone(tmp_path), pytest.raises(InUseError, match=words), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass


@pytest.mark.parametrize("held", ["", "nobody knows\n"])
def test_a_lock_that_was_left_behind_is_none(tmp_path: Path, held: str) -> None:
    (tmp_path / "lock").write_text(held)
    with alone(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_without_locks_nothing_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "fcntl", None)
    with alone(tmp_path / "new"), alone(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()


def test_only_how_often_things_are_repeated_may_differ() -> None:
    settings = LogisticSettings(((100, 10),), 2, ())
    for name in asdict(settings):
        value = getattr(settings, name)
        change: dict[str, Any] = {name: value * 2 if value else (7,)}
        other = replace(settings, **change)
        assert (other.fingerprint() == settings.fingerprint()) == (name == "replications"), name
