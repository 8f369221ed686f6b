"""Runs from Python, the command line and the page; on other machines."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch import nn

import explorer
from explorer.cli.main import BAD, OK, USAGE, main
from explorer.display.handlers import MessageHandlers
from explorer.text.run_text import amount, duration, run_lines, speed
from export_engine.record import RunRow, RunTimes
from export_engine.run import backend_registry
from export_engine.run.backend import Job, Ready
from widgets import Refusal


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 64)
        self.second = nn.Linear(64, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.second(self.first(x).relu())
        return y.softmax(-1)


def make() -> tuple[Any, ...]:
    torch.manual_seed(0)
    return Small().eval(), (torch.randn(2, 4),)


@pytest.fixture
def explored() -> explorer.Exploration:
    return explorer.explore(*make(), dynamic_shapes="x: batch[2..64], _", title="model(x)")


@pytest.fixture
def file(explored: explorer.Exploration, tmp_path: Path) -> Path:
    return explored.save(tmp_path / "small.pt2")


@pytest.mark.slow
def test_runs_are_kept_with_the_attempt_and_shown(explored: explorer.Exploration) -> None:
    found = explored.run()
    explored.run(sizes={"batch": 8})

    assert found.ok
    assert [row.backend for row in found.rows] == ["eager", "program"]
    assert [row.inputs for row in explored.record.runs] == ["batch=2"] * 2 + ["batch=8"] * 2
    text = repr(explored)
    assert "cpu, batch=2" in text
    assert "✓ exported program" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.slow
def test_a_run_again_replaces_the_one_before(explored: explorer.Exploration) -> None:
    explored.run(backend="program")
    last = explored.run(backend="program")

    assert explored.record.runs == list(last.rows)


def test_a_call_with_keywords_is_profiled() -> None:
    def scaled(x: torch.Tensor, *, scale: torch.Tensor, flag: bool) -> torch.Tensor:
        return x * scale if flag else x

    model = torch.nn.Module()
    model.forward = scaled
    kwargs = {"scale": torch.ones(3), "flag": True}
    ex = explorer.explore(model, (torch.ones(2, 3),), kwargs)

    assert "aten.mul.Tensor" in repr(ex.cost().measure())


def test_the_profile_is_kept_and_told_by_op_scope_and_line(explored: explorer.Exploration) -> None:
    text = repr(explored.cost().measure())

    assert explored.record.profile is not None
    assert "aten.linear.default" in text
    assert "second" in text
    assert "y.softmax(-1)" in text
    assert "Profile" in repr(explored)


@pytest.mark.after_check
def test_a_program_that_raises_has_no_profile_but_a_sentence() -> None:
    def chosen(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x > 0, torch.sin, torch.cos, (x,))

    ex = explorer.explore(chosen, (torch.ones(3),), strict=True)
    with pytest.raises(explorer.errors.FixError, match="The program raised RuntimeError at `cond`"):
        ex.cost().measure()


def test_a_failure_is_a_row_with_its_reason(explored: explorer.Exploration) -> None:
    found = explored.run("cuda:9", "program")

    assert found.ok  # what cannot be here is no fault of the program's
    assert found.rows[0].outcome == "unavailable"
    assert "– exported program: There is no cuda:9 here" in repr(found)


def test_what_cannot_be_is_refused(explored: explorer.Exploration) -> None:
    with pytest.raises(explorer.errors.FixError, match="There is no backend 'tvm'"):
        explored.run(backend="tvm")
    with pytest.raises(explorer.errors.FixError, match="There is no size 'bat'"):
        explored.cost().measure(sizes={"bat": 3})
    assert explored.record.runs == []


@pytest.mark.slow
def test_a_failed_export_has_nothing_to_run() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    failed = explorer.explore(broken, (torch.ones(2),))

    with pytest.raises(explorer.errors.ExportFailed):
        failed.run()
    with pytest.raises(explorer.errors.ExportFailed):
        failed.cost().measure()


class Stopped:
    name = title = "stopped"

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupt_keeps_what_had_ended(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Stopped))

    with pytest.raises(KeyboardInterrupt):
        explored.run(backend=["program", "stopped", "eager"])

    assert [row.backend for row in explored.record.runs] == ["program"]


def test_numbers_read_well() -> None:
    assert [duration(each) for each in (8.123e-4, 0.0123, 4.1, 0.99999, 9e-8)] == [
        "812 µs",
        "12.3 ms",
        "4.1 s",
        "1 s",
        "90 ns",
    ]
    assert [amount(each) for each in (-1, 0, 999, 1000, 1_593_381)] == [
        "–",
        "0 B",
        "999 B",
        "1 kB",
        "1.59 MB",
    ]


def test_a_few_pages_of_a_cpu_are_no_figure(explored: explorer.Exploration) -> None:
    [row] = explored.run(backend="program").rows

    on_cpu = msgspec.structs.replace(row, memory=8_192)
    on_gpu = msgspec.structs.replace(on_cpu, device="cuda:0")  # its allocator counts bytes

    assert "<1 MB" in "\n".join(run_lines([on_cpu]))
    assert "8.19 kB" in "\n".join(run_lines([on_gpu]))


def test_speed_is_said_in_words() -> None:
    assert [speed(each, 1.0) for each in (1.41, 0.5, 1.02)] == ["1.41x slower", "2x faster", "same"]
    assert [speed(1.0, each) for each in (999.6, 1570.2)] == ["1,000x faster", "1,570x faster"]


def test_calls_that_vary_much_are_said_to_be_noisy() -> None:
    times = RunTimes(median=1.17, spread=1.16, calls=4, first=1.0, prepare=0.0)
    row = RunRow(
        backend="eager",
        title="eager module",
        device="cpu",
        inputs="x",
        outcome="agrees",
        sentence="",
        times=times,
    )

    assert "noisy: calls vary by 1.16 s" in run_lines([row])[-1]
    quiet = msgspec.structs.replace(row, times=msgspec.structs.replace(times, spread=0.1))
    assert "noisy" not in "".join(run_lines([quiet]))


def test_a_program_without_its_model_agrees_with_itself_alone(file: Path) -> None:
    loaded = explorer.load(file, trusted=True)
    shown = str(loaded.run(backend="program"))
    assert "vs program" in shown
    assert "opened without its eager model" in shown
    item = next(each for each in loaded.release_report().items if each.name == "runs")
    assert item.sentence.startswith("Compared with the exported program, not with eager: ")
    assert "not compared with eager" in item.tried


# The command line


@pytest.mark.slow
def test_the_command_line_runs_and_profiles(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "--run", "--profile"]) == OK

    shown = capsys.readouterr().out
    assert "✓ exported program" in shown
    assert "aten.linear.default" in shown


def test_the_command_line_says_what_it_cannot_run(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), "--run", "--backend", "tvm"]) == USAGE
    assert "no backend 'tvm'" in capsys.readouterr().err
    assert main([str(file), "--run", "--diff", str(file)]) == USAGE


class Wrong(Stopped):
    name = title = "wrong"

    def prepare(self, job: Job) -> Ready:
        module = job.program.module()
        return Ready(call=lambda: module(*job.args) + 1)


@pytest.mark.slow
def test_a_run_that_differs_is_an_exit_code(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Wrong))

    assert main([str(file), "--backend", "wrong"]) == BAD
    assert "✗ wrong" in capsys.readouterr().out


def test_what_can_run_here_is_said_in_a_line_each() -> None:
    found = explorer.backends()
    text = repr(found)

    assert list(found) == [kind.name for kind in backend_registry.BUILT_IN]
    assert "✓ program      can run here" in text
    assert "– tensorrt     Torch-TensorRT needs an NVIDIA GPU; this is cpu." in text
    assert "There is no cuda:7 here" in repr(explorer.backends("cuda:7"))
    with pytest.raises(ValueError, match="not a device"):
        explorer.backends("gpu")


# The page


def test_the_page_is_told_what_there_is(explored: explorer.Exploration) -> None:
    value, _ = MessageHandlers(explored.session)("setups", {"attempt": 0})

    assert value["devices"][0] == "cpu"
    named = {each["name"]: each for each in value["backends"]}
    assert named["eager"]["missing"][0] is None
    assert named["tensorrt"]["missing"][0]


@pytest.mark.slow
def test_the_page_runs_and_profiles(explored: explorer.Exploration) -> None:
    answers = MessageHandlers(explored.session)
    told: list[str] = []
    answers.progress = lambda done, total, label: told.append(label)

    asked = {"attempt": 0, "device": "cpu", "backends": ["program"], "sizes": {"batch": 3}}
    value, _ = answers("run", asked)
    answers("profile", {"attempt": 0, "device": "cpu", "sizes": {}})

    assert value == {"sentence": ""}
    assert explored.record.runs[0].inputs == "batch=3"
    assert explored.record.profile is not None
    assert told[0] == "exported program on cpu"


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"device": "cpu", "backends": []},
        {"device": 3, "backends": ["program"]},
        {"device": "cpu", "backends": ["program"], "sizes": {"batch": "many"}},
        {"device": "cpu", "backends": ["program"], "sizes": {"batch": 1000}},
        {"device": "gpu", "backends": ["program"]},
    ],
)
def test_the_page_is_refused_what_cannot_be(
    explored: explorer.Exploration, asked: dict[str, Any]
) -> None:
    with pytest.raises(Refusal):
        MessageHandlers(explored.session)("run", {"attempt": 0, **asked})


@pytest.mark.slow
def test_the_page_is_shown_what_had_ended_before_an_interrupt(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Stopped))
    asked = {"attempt": 0, "device": "cpu"}

    value, _ = MessageHandlers(explored.session)(
        "run", {**asked, "backends": ["program", "stopped"]}
    )

    assert value["sentence"].startswith("Interrupted. Finished runs are kept")
    assert len(explored.record.runs) == 1
    with pytest.raises(Refusal, match="Nothing has changed"):
        MessageHandlers(explored.session)("run", {**asked, "backends": ["stopped"]})


# Other machines


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    ipyparallel = pytest.importorskip(
        "ipyparallel", reason="ipyparallel is not installed: pip install '.[distributed]'"
    )
    cluster = ipyparallel.Cluster(n=2, log_level=50)
    client = cluster.start_and_connect_sync(activate=False)
    here = str(Path(__file__).parents[2])
    client[:].apply_sync(lambda path: sys.path.insert(0, path), here)
    yield client
    client.close()
    cluster.stop_cluster_sync()


@pytest.mark.slow
def test_a_table_of_runs_spreads_over_engines(client: Any) -> None:
    explored = explorer.explore(
        nn.Linear(4, 4).eval(), (torch.randn(2, 4),), dynamic_shapes="input: batch[2..64], _"
    )

    found = explored.run(["cpu", "cuda"], "program", sizes=[{"batch": 3}, {"batch": 9}], on=client)

    ran = [row for row in found.rows if row.device == "cpu"]
    assert [row.outcome for row in ran] == ["agrees"] * 2, found
    assert all(row.error and row.error.absolute < 1e-6 and row.times for row in ran)
    assert {row.where for row in ran} == {"engine 0", "engine 1"}
    if not torch.cuda.is_available():
        assert {row.outcome for row in found.rows if row.device != "cpu"} == {"unavailable"}
    assert explored.record.runs == list(found.rows)


class Deadly(Wrong):
    name = title = "deadly"

    def prepare(self, job: Job) -> Ready:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def _with_deadly(kind: Any) -> None:
    backend_registry.BUILT_IN = (*backend_registry.BUILT_IN, kind)


@pytest.mark.slow
def test_an_engine_that_dies_loses_its_own_run_alone(
    explored: explorer.Exploration, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Deadly))
    client[:].apply_sync(_with_deadly, Deadly)

    found = explored.run("cpu", ["deadly", "program"], sizes=[{"batch": 3}], on=client)
    again = explored.run("cpu", "program", on=client)

    rows = {row.backend: row for row in found.rows}
    assert rows["deadly"].outcome == "failed"
    assert rows["deadly"].sentence == "The engine died during this run."
    assert rows["program"].outcome == "agrees"
    assert again.rows[0].outcome == "agrees"


def test_a_client_without_engines_is_refused(explored: explorer.Exploration) -> None:
    with pytest.raises(explorer.errors.FixError, match="The client has no engines"):
        explored.run(on=object())


# What the docs say


ROOT = Path(__file__).parents[2]


def test_the_docs_list_every_backend_and_how_to_get_it() -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-program.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))

    assert list(rows) == [kind.name for kind in backend_registry.BUILT_IN]
    assert {name for name, rest in rows.items() if "**no**" in rest} == {"tensorrt", "xla"}
    for extra in re.findall(r'pip install "\.\[(\w+)\]"', page):
        assert extra in extras


@pytest.mark.slow
def test_the_calls_of_the_docs_work(explored: explorer.Exploration, tmp_path: Path) -> None:
    (tmp_path / "compiled").mkdir()

    found = explored.run(
        "cpu", ["eager", "program"], inputs=(torch.randn(3, 4),), folder=tmp_path / "compiled"
    )

    assert found.ok
    assert len(explored.run(sizes=5).rows) == 10


@pytest.mark.after_check
def test_a_size_below_zero_or_beyond_memory_is_refused_whatever_is_asked() -> None:
    handlers = MessageHandlers(
        explorer.explore(Small(), (torch.ones(2, 4),), dynamic_shapes="x: batch, _").session
    )
    for size, said in ((-1, r"x\.shape\[0\] would be -1"), (10**12, "bytes are needed")):
        asked = {"attempt": 0, "device": "cpu", "sizes": {"batch": size}}
        for ask in ("profile", "watch"):
            with pytest.raises(Refusal, match=said):
                handlers(ask, asked)
    with pytest.raises(Refusal, match="would be -1"):
        handlers("run", {**asked, "sizes": {"batch": -1}, "backends": ["program"]})


@pytest.mark.after_check
def test_what_is_compiled_goes_with_the_process_unless_a_folder_is_named(
    explored: explorer.Exploration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    explored.run("cpu", ["program"])
    assert not list(tmp_path.iterdir())

    explored.run("cpu", ["program"], folder=".")
    assert [each.name.split("-")[0] for each in tmp_path.iterdir()] == ["program"]


class Timed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + time.time()


def make_timed() -> tuple[Any, ...]:
    return Timed(), (torch.ones(3),)


@pytest.mark.slow
def test_a_finding_that_is_wrong_is_an_exit_code() -> None:
    name = f"{__name__}:make_timed"
    assert main([name]) == BAD
    assert main([name, "--verify"]) == BAD
