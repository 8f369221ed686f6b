"""A survey loses no row, whatever its processes do, and goes on where it was stopped."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

import explorer
from explorer.cli.main import main
from explorer.surveys.comparison import SurveyComparison
from explorer.surveys.journal import Journal, read_rows
from explorer.surveys.page import survey_page
from explorer.surveys.plan import SurveyError, choose_trials, list_trials, read_survey
from explorer.surveys.result import SurveyResult, as_markdown
from explorer.surveys.rows import Row
from explorer.surveys.trial_run import run_trial
from export_engine.process import ForkServer, run_limited, start_process

MODELS = """
import os, subprocess, sys, time

def make_nothing():
    return 1

def make_crash():
    os._exit(7)

def make_hang():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    time.sleep(600)

def make_orphans():
    if not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getppid(), 9)
        time.sleep(600)
    return 1

def make_memory():
    kept = []
    while True:
        kept.append(bytearray(50_000_000))

def make_once():
    if not os.path.exists("tried"):
        open("tried", "w").close()
        time.sleep(600)
    return 1
"""

BRANCH = """
import torch

class Branch(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

def make():
    return Branch(), (torch.ones(3, 4),)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def plan(home: Path, *names: str, **options: Any) -> dict[str, Any]:
    calls = [{"call": f"{home}/models.py:make_{name}", "name": name} for name in names]
    return {"model": calls, "seconds": 60, "memory": "1 GB", "folder": str(home), **options}


def outcomes(result: explorer.typing.SurveyResult) -> dict[str, str]:
    return {row.name: row.outcome for row in result.rows}


def test_a_process_that_dies_hangs_or_grows_is_a_row(home: Path) -> None:
    result = explorer.survey(plan(home, "nothing", "crash", "memory"))

    assert outcomes(result) == {
        "nothing": "call failed",
        "crash": "crashed",
        "memory": "memory",
    }
    assert not result.ok
    assert "exit code 7" in str(result)


def test_a_process_that_cannot_start_is_a_row(home: Path) -> None:
    (home / "pages").write_text("a file in the place of the folder")
    for wrong in ({"pythons": {"x": "/nowhere/python"}}, {"pages": str(home / "pages" / "inside")}):
        (row,) = explorer.survey(plan(home, "nothing", **wrong)).rows
        assert (row.outcome, row.stage) == ("crashed", "start")
        assert "could not be started" in row.sentence


@pytest.mark.thorough  # a process imports torch, twice
def test_of_many_trials_each_is_a_fork_that_dies_alone(home: Path) -> None:
    names = ("orphans", "crash", "memory", "crash", "nothing")
    survey = plan(home, *names)
    for number, model in enumerate(survey["model"]):
        model["name"] += f" {number}"
    rows = explorer.survey({**survey, "preload": ["no_such_module"]}, workers=2).rows

    assert [(row.outcome, row.stage) for row in rows] == [
        ("call failed", ""),
        ("crashed", "call"),
        ("memory", "call"),
        ("crashed", "call"),
        ("call failed", ""),
    ]
    assert "exit code 7" in rows[3].sentence


def test_what_a_process_started_ends_with_it(home: Path) -> None:
    result = explorer.survey(plan(home, "hang", seconds=4))

    (row,) = result.rows
    assert (row.outcome, row.stage) == ("time", "call")
    assert row.seconds < 30


def test_a_survey_goes_on_where_it_was_stopped(home: Path) -> None:
    journal = home / "rows.jsonl"
    explorer.survey(plan(home, "nothing"), journal=journal)
    with journal.open("ab") as file:
        file.write(b'{"key": "crash", "na')  # as a killed process leaves it
    tried: list[str] = []
    result = explorer.survey(
        plan(home, "nothing", "crash"),
        journal=journal,
        progress=lambda done, total, row: tried.append(row.name),
    )

    assert tried == ["crash"]
    assert outcomes(result) == {"nothing": "call failed", "crash": "crashed"}
    assert len(read_rows(journal)) == 2


def test_a_full_disk_costs_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "rows.jsonl")
    rows = [Row(key=str(n), name=str(n), outcome="exported") for n in range(3)]
    journal.add(rows[0])
    write, full = os.write, True

    def half(file: int, data: Any) -> int:
        if not full:
            return write(file, data)
        write(file, bytes(data)[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    journal.add(rows[1])
    assert "No space left" in journal.problem
    assert list(read_rows(journal.path)) == ["0"]
    assert journal.path.read_bytes().endswith(b"\n")
    full = False
    journal.add(rows[2])
    assert list(read_rows(journal.path)) == ["0", "1", "2"]
    assert not journal.problem


class Killing(Executor):
    """Runs calls at once; the worker of some first tries dies."""

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.deaths:
            self.deaths -= 1
            future.set_exception(RuntimeError("worker killed"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize(("deaths", "outcome"), [(2, "crashed"), (3, "lost")])
def test_a_trial_whose_worker_died_is_tried_on_another(
    home: Path, deaths: int, outcome: str
) -> None:
    result = explorer.survey(plan(home, "crash"), executor=Killing(deaths))

    assert outcomes(result) == {"crash": outcome}


def survey_with_a_death(home: Path, executor: Executor, pids: list[int]) -> None:
    """One of the workers is killed while it runs a trial; each trial has its row, once."""
    names = ("nothing", "crash", "once")
    stop = threading.Event()

    def kill() -> None:
        while not (home / "tried").exists():
            if stop.wait(0.1):
                return
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    journal = home / "rows.jsonl"
    result = explorer.survey(plan(home, *names, seconds=20), executor=executor, journal=journal)
    stop.set()
    killer.join()

    assert [row.name for row in result.rows] == [*names]
    assert sorted(read_rows(journal)) == sorted(row.key for row in result.rows)
    assert outcomes(result)["nothing"] == "call failed"
    assert outcomes(result)["crash"] == "crashed"
    assert outcomes(result)["once"] in ("call failed", "time")


@pytest.mark.slow
def test_on_ipyparallel_an_engine_is_killed_and_no_row_is_lost(home: Path) -> None:
    ipyparallel = pytest.importorskip("ipyparallel", reason="pip install '.[distributed]'")
    with ipyparallel.Cluster(n=2) as client:
        pids = client[:].apply_sync(os.getpid)
        survey_with_a_death(home, client.load_balanced_view().executor, pids[:1])


@pytest.mark.slow
def test_on_dask_a_worker_is_killed_and_no_row_is_lost(home: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install distributed")
    cluster = distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        pids = [*client.run(os.getpid).values()]
        survey_with_a_death(home, client.get_executor(), pids[:1])


@pytest.mark.slow
def test_a_program_is_a_row_with_all_that_is_known(home: Path) -> None:
    (home / "branch.py").write_text(BRANCH)
    (home / "survey.toml").write_text(
        'seconds = 300\nbackends = ["program"]\n'
        '[[model]]\ncall = "branch.py:make"\nname = "branch"\nshapes = "x: batch, _"\n'
    )
    files = [home / f"table{suffix}" for suffix in (".html", ".json", ".xml")]
    options = [part for file in files for part in ("--output", str(file))]

    assert main(["survey", str(home / "survey.toml"), "--quiet", *options]) == 0
    (row,) = read_rows(home / "survey.jsonl").values()
    assert (row.outcome, row.code, row.agrees) == ("fixed", "EX111", "agrees")
    assert row.ops["aten.sin.default"] == 1
    assert f" {sum(row.ops.values())} ops," in row.sentence
    assert row.sizes > 1
    assert [each.outcome for each in row.backends] == ["agrees"]
    assert row.symbols == {"batch": "[0, ∞)"}
    assert "<script>" in files[0].read_text()
    assert json.loads(files[1].read_text())["outcomes"] == {"fixed": 1}
    assert ET.parse(files[2]).getroot().get("failures") == "0"


def test_the_page_holds_no_markup_of_a_model() -> None:
    row = Row(key="k", name="<script>alert(1)</script>", outcome="failed", sentence="<img src=x>")
    page = survey_page([row])

    assert "<script>alert" not in page
    assert "<img" not in page


def test_groups_and_codes_are_counted() -> None:
    rows = [
        Row(key="a", name="a", group="x|y", outcome="exported", agrees="agrees"),
        Row(key="b", name="b", group="x|y", outcome="fixed", code="EX102", kind="<shapes>"),
        Row(key="c", name="c", group="z", outcome="failed", code="EX102", kind="<shapes>"),
    ]
    lines = as_markdown(SurveyResult(rows)).splitlines()

    assert lines[2:5] == [
        "| x\\|y | 2 | 1 | 1 | 1 |",
        "| z | 1 | 0 | 0 | 0 |",
        "| all | 3 | 1 | 1 | 1 |",
    ]
    assert lines[-1] == "| EX102 | &lt;shapes> | 2 | 1 |"
    assert "<h2>By group</h2>" in survey_page(rows)
    assert "<h2>By group</h2>" not in survey_page(rows[:2])


def test_two_surveys_are_compared() -> None:
    before = [
        Row(key="a", name="a", outcome="exported", ops={"aten.add.Tensor": 2}, export_seconds=1),
        Row(key="b", name="b", outcome="failed", code="EX111"),
        Row(key="c", name="c", outcome="exported"),
        Row(key="d", name="d", outcome="exported"),
    ]
    after = [
        Row(key="a", name="a", outcome="exported", ops={"aten.add.Tensor": 3}, export_seconds=4),
        Row(key="b", name="b", outcome="exported"),
        Row(key="c", name="c", outcome="failed", code="EX201", sentence="No."),
        Row(key="d", name="d", outcome="exported"),
    ]
    compared = SurveyComparison(before, after)

    assert {(each.kind, each.name) for each in compared.changes} == {
        ("program changed", "a"),
        ("slower", "a"),
        ("cured", "b"),
        ("fails now", "c"),
    }
    assert not compared.ok
    assert SurveyComparison(before, before).ok


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"model": []}, "has no models"),
        ({"model": [{"call": "a:b"}], "memory": "much"}, "is not an amount"),
        ({"model": [{"call": "a:b"}], "modes": ["fast"]}, "modes"),
        ({"model": [{"calls": "a:b"}]}, "calls"),
        ({"model": [{"call": "a.py"}]}, "does not name a call"),
        ({"model": [{"call": "a.py:b", "shapes": []}]}, "shapes is empty"),
        ({"model": [{"call": "a.py:b"}], "modes": []}, "modes is empty"),
        ({"model": [{"call": "a\0.py:b"}]}, "control characters"),
        ({"model": [{"call": "a:b"}], "seconds": float("nan")}, "not a time limit"),
        ({"model": [{"call": "a:b"}], "seconds": -1}, "not a time limit"),
        ({"model": [{"call": "a:b"}], "memory": "9" * 400 + " GB"}, "is not an amount"),
        ({"model": [{"call": "a:b"}], "folder": "none"}, "does not exist"),
        ({"model": [{"call": "a:b"}], "backends": ["nope"]}, "There is no backend 'nope'"),
        ({"model": [{"call": "a:b"}, {"call": "a:b"}]}, "Give each a unique name"),
    ],
)
def test_a_survey_that_is_wrong_says_where(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(SurveyError, match=says):
        list_trials(*read_survey(wrong))


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"model = " + b"[" * 9_999, b"seconds = " + b"9" * 9_999]
)
def test_a_file_that_is_no_survey_says_so(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "survey.toml"
    file.write_bytes(text)
    with pytest.raises(SurveyError, match="is not TOML"):
        read_survey(file)


def test_parts_of_a_survey_are_all_of_it(home: Path) -> None:
    survey = plan(home, "nothing", "crash", "hang", "good", "branch")
    every = list_trials(*read_survey(survey))
    parts = [trial for number in (1, 2, 3) for trial in choose_trials(every, part=(number, 3))]
    assert sorted(map(repr, parts)) == sorted(map(repr, every))


def test_a_process_ends_with_the_one_that_started_it(home: Path) -> None:
    trial = list_trials(*read_survey(plan(home, "hang")))[0]
    stop = threading.Event()
    threading.Timer(2, stop.set).start()

    assert run_trial(trial, stop) is None
    assert msgspec.json.decode(msgspec.json.encode(trial), type=type(trial)) == trial


def test_a_fork_has_streams_and_limits_of_its_own() -> None:
    code = "from export_engine.process import serve_forks; serve_forks(lambda: print(input()))"
    text = os.pathsep.join(sys.path)
    server = ForkServer([sys.executable, "-c", code], {**os.environ, "PYTHONPATH": text})
    try:
        for said in ("one", "two"):
            assert run_limited(server.fork(), said, 60, 10**9).output == f"{said}\n"
        waiting = server.fork()
    finally:
        server.end()
    assert waiting.wait(60) < 0
    assert waiting.is_orphan
    with pytest.raises(OSError, match=r"closed|descriptor|ended|pipe"):
        server.fork()


def test_output_beyond_the_limit_is_dropped() -> None:
    code = "import sys; sys.stdin.readline(); print('x' * 100); sys.stderr.write('e' * 9_000)"
    ended = run_limited(start_process([sys.executable, "-c", code]), "go", 60, 10**9)

    assert (ended.how, ended.code, ended.output) == ("ended", 0, "x" * 100 + "\n")
    assert len(ended.errors) == 4_000
