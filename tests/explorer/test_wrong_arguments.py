"""What a call does not take is told in a sentence, which a notebook shows without frames."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch

import explorer
from export_engine.plain_errors import PlainError, WrongArgument
from export_engine.record import probe_named

from ..models import tutorial

Call = Callable[[explorer.Exploration], Any]
CALLS: dict[str, Call] = {
    "apply": lambda ex: ex.apply_fixes("a title"),  # type: ignore[arg-type]
    "compare_values": lambda ex: ex.compare("eagr"),
    "decompose": lambda ex: ex.decompose("cor"),
    "diff": lambda ex: explorer.diff(ex, "nowhere.pt2"),
    "dynamic_shapes": lambda ex: ex.shapes_code(7),
    "load": lambda ex: explorer.load("nowhere.pt2"),
    "open": lambda ex: ex.view(open="linaer"),
    "overlay of no op": lambda ex: ex.annotate("mine", {"linaer": 1}),
    "overlay of no number": lambda ex: ex.annotate("mine", {"linear": "a"}, "number"),
    "probe of no size": lambda ex: ex.accepts(btach=3),
    "probe of no int": lambda ex: ex.accepts(batch="a"),  # type: ignore[arg-type]
    "profile": lambda ex: ex.cost().measure("cdua"),
    "query": lambda ex: ex.query("op:"),
    "run on a device": lambda ex: ex.run("cdua"),
    "run on a backend": lambda ex: ex.run(backend="eagr"),
    "run at sizes": lambda ex: ex.run(sizes="batch=3"),
    "run at a number": lambda ex: ex.run(sizes=2.5),
    "run with inputs": lambda ex: ex.run(inputs={"z": 1}),
    "save": lambda ex: ex.save("nowhere/x.pt2"),
    "save_graph": lambda ex: ex.save("graph"),
    "save_graph nowhere": lambda ex: ex.save("nowhere/graph.dot"),
    "select": lambda ex: ex.view(select="linaer"),
    "shapes": lambda ex: explorer.explore(torch.sin, (torch.ones(2),), dynamic_shapes="x: ["),
    "tab": lambda ex: ex.view(tab="shapse"),
    "to_html": lambda ex: ex.save("nowhere/x.html"),
    "to_json": lambda ex: ex.save("nowhere/x.json"),
    "watch": lambda ex: ex.record_values(device="cdua"),
    "watch into a folder": lambda ex: ex.record_values(spill="nowhere"),
}


@pytest.fixture(scope="module")
def explored() -> explorer.Exploration:
    case = tutorial()
    return explorer.explore(case.model, case.args, dynamic_shapes="x: batch, _; y: batch, _")


@pytest.mark.after_check
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_told_without_frames(
    call: Call,
    explored: explorer.Exploration,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = explored.session.current, explored.record

    with pytest.raises(PlainError) as caught:
        call(explored)

    assert caught.value._render_traceback_() == [str(caught.value)]
    assert "Error" not in str(caught.value)
    assert (explored.session.current, explored.record) == before
    assert list(tmp_path.iterdir()) == []


def test_an_error_that_names_what_a_file_holds_moves_no_cursor() -> None:
    error = WrongArgument("There is no size 'q'. Available: \x1b[2J\x1b]8;;http://e\x07x\nhere")

    assert str(error).endswith("Available: \ufffd[2J\ufffd]8;;http://e\ufffdx\nhere")
    assert "\x1b" not in "".join(traceback.format_exception(error))


def test_a_program_without_sizes_says_that_there_are_none() -> None:
    record = explorer.explore(lambda: torch.ones(2), ()).record

    with pytest.raises(ValueError, match=r"There is no size 'q'\. Available: none$"):
        probe_named(record, {"q": 1})
