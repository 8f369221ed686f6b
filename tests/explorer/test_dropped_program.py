"""A session keeps the programs of the last few attempts; any action makes an older one again."""

from __future__ import annotations

import gc
import signal
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer import Exploration
from explorer.display.handlers import MessageHandlers
from explorer.results import weight_differences
from explorer.results.weight_differences import weights_sentence
from explorer.session import session
from explorer.session.dropped_program import DroppedProgram
from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.progress import Progress

from .. import seed_cases


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.SiLU(), nn.Mish())


def explored(**options: Any) -> Exploration:
    x = torch.randn(3, 4)
    return explorer.explore(model(), (x,), dynamic_shapes="input: batch, _", **options)


@pytest.fixture
def one_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that holds no program but the current one."""
    monkeypatch.setattr(session, "HELD", 1)


def is_dropped(ex: Exploration, number: int) -> bool:
    return isinstance(ex.session.entries[number].stored, DroppedProgram)


def release(ex: Exploration, number: int) -> None:
    """Lets go of the program of an attempt, and makes the attempt current."""
    ex.session._entries[number] = ex.session.entries[number].drop()
    gc.collect()
    ex.session.use(number)
    assert not isinstance(ex.session.entry.attempt, Exported)


@pytest.fixture(scope="module")
def decomposed() -> Exploration:
    """As exported, and decomposed."""
    return explored().decompose("core")


@pytest.mark.slow
def test_programs_of_the_last_few_attempts_are_held_and_all_records() -> None:
    ex = explored()
    programs = [weakref.ref(ex.program)]
    for table in ("only linear", "only silu", "only mish", "core"):
        ex.decompose(table)
        programs.append(weakref.ref(ex.program))
    gc.collect()
    assert [each() is not None for each in programs] == [False, False, True, True, True]
    assert [is_dropped(ex, number) for number in range(5)] == [True, True, False, False, False]
    assert all(entry.record.graphs for entry in ex.session.entries)


def saved(ex: Exploration, folder: Path) -> None:
    again = explorer.load(ex.save(folder / "model.pt2"))
    assert again.record.outcome == "exported"


def compared(ex: Exploration, _: Path) -> None:
    assert MessageHandlers(ex.session)("diff", {"other": 1, "attempt": 0})
    assert is_dropped(ex, 0)  # what is compared is the Records


ACTIONS: dict[str, Callable[[Exploration, Path], Any]] = {
    "program": lambda ex, _: ex.program.module()(torch.randn(5, 4)),
    "attempts": lambda ex, _: [each.program for each in ex.session.attempts],  # type: ignore[attr-defined]
    "verify": lambda ex, _: ex.verify(1),
    "run": lambda ex, _: ex.run(),
    "profile": lambda ex, _: ex.cost().measure(),
    "decompose": lambda ex, _: ex.decompose("only linear"),
    "save": saved,
    "compare": compared,
    "html": lambda ex, folder: ex.save(folder / "report.html"),
    "probe": lambda ex, _: ex.accepts(batch=7),
    "autofix": lambda ex, _: ex.autofix(),
}
WITHOUT_PROGRAM = ("compare", "html", "probe")


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_works_on_an_attempt_that_was_dropped(
    name: str, tmp_path: Path, decomposed: Exploration, capsys: pytest.CaptureFixture[str]
) -> None:
    ex = decomposed
    release(ex, 0)
    before = ex.record
    capsys.readouterr()
    ACTIONS[name](ex, tmp_path)
    said = "Attempt 1 is rebuilt: only the last 3 programs are kept.\n"
    assert (said in capsys.readouterr().err) == (name not in WITHOUT_PROGRAM)
    assert ex.session.entries[0].record.graphs == before.graphs


@pytest.mark.slow
def test_what_was_found_out_stands(decomposed: Exploration) -> None:
    ex = decomposed
    ex.session.use(0)
    ex.verify(1)
    found = ex.record.verification
    assert found
    release(ex, 0)
    assert ex.program is not None
    assert ex.record.verification == found


@pytest.mark.slow
@pytest.mark.usefixtures("one_held")
def test_a_chain_of_decompositions_is_made_again_from_its_start() -> None:
    ex = explored()
    for table in ("only silu", "only mish"):
        ex.decompose(table)
    ex.session.use(0)
    assert [is_dropped(ex, number) for number in range(3)] == [True, True, True]
    steps: list[Progress] = []
    made = ex.session.require_exported(2, "run", steps.append).program
    told = [each.label for each in steps if "is rebuilt" in each.label]
    assert [label.partition(" is")[0] for label in told] == ["Attempt 3", "Attempt 2", "Attempt 1"]
    x = torch.randn(2, 4)
    request = ex.session.entry.request
    assert request is not None
    torch.testing.assert_close(made.module()(x), request.target(x))


FIXED = ("branch", "number", "out-of-range", "derived", "numpy", "unfaked-library-op", "flag")


@pytest.mark.slow
@pytest.mark.parametrize("case", FIXED)
def test_a_program_that_fixes_gave_is_made_again_with_them(case: str) -> None:
    seed = next(each for each in seed_cases.seed_cases() if each.name == case)
    ex = explorer.explore(seed.target, seed.args, seed.kwargs, dynamic_shapes=seed.shapes)
    if not ex.ok:
        ex.apply_fixes(0)
    assert ex.ok
    agreement = ex.record.check
    release(ex, ex.session.current)
    assert ex.program is not None
    attempt = ex.session.entry.attempt
    assert isinstance(attempt, Exported)
    assert describe(attempt).graphs == ex.record.graphs
    assert describe(attempt).check == agreement


@pytest.mark.slow
def test_a_model_that_has_changed_is_told_and_the_record_stays() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    ex = explorer.explore(net, (torch.randn(3, 4),))
    verdict = ex.record.verdict
    release(ex, 0)
    net.eval()
    with pytest.raises(
        explorer.errors.FixError, match=r"Attempt 1 cannot be rebuilt: .* have changed"
    ):
        ex.verify(1)
    assert ex.record.verdict == verdict
    net.train()
    assert ex.program is not None


@pytest.mark.slow
def test_a_program_that_someone_holds_is_not_made_again(
    decomposed: Exploration, capsys: pytest.CaptureFixture[str]
) -> None:
    ex = decomposed
    attempt = ex.session.require_exported(0, "hold")
    release(ex, 0)
    capsys.readouterr()
    assert ex.program is attempt.program
    assert "is rebuilt" not in capsys.readouterr().err


@pytest.mark.after_check
@pytest.mark.usefixtures("sigint_heard")
def test_an_interrupt_while_one_is_made_again_changes_nothing(decomposed: Exploration) -> None:
    ex = decomposed
    release(ex, 0)
    with pytest.raises(KeyboardInterrupt):
        ex.verify(1, progress=lambda _: signal.raise_signal(signal.SIGINT))
    assert is_dropped(ex, 0)
    assert ex.session.current == 0
    assert ex.program is not None


@pytest.mark.slow
def test_weights_of_a_dropped_program_are_those_of_its_model_or_said_not_to_be_compared() -> None:
    net = model()
    ex = explorer.explore(net, (torch.randn(3, 4),)).decompose("core")
    release(ex, 0)
    before, after = ex.session.entries
    assert weights_sentence(before, after) == weights_sentence(after, before) == ""
    net.load_state_dict({"0.bias": torch.ones(4)}, strict=False)  # in both
    assert weights_sentence(before, after) == ""
    net.get_submodule("0").register_parameter("bias", nn.Parameter(torch.zeros(4)))
    assert weights_sentence(before, after) == "1 weight has different values: 0.bias."

    ex = explorer.explore(lambda x: net(x) + 1, (torch.randn(3, 4),)).decompose("core")
    release(ex, 0)
    assert is_dropped(ex, 0)
    shown = weight_differences.compare_entries(*ex.session.entries)  # as the page asks for it
    assert shown.weights == "Weight values were not compared."


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x - 1


@pytest.mark.slow
def test_a_failure_holds_no_programs_that_its_fixes_lead_to() -> None:
    ex = explorer.explore(Branch(), (torch.ones(3),))
    fix = next(each for each in ex.fixes if each.leads_to is not None and not each.lossy)
    program = weakref.ref(fix.leads_to.program)  # type: ignore[union-attr]
    title = fix.title
    del fix
    ex.apply_fixes(0)
    release(ex, 1)
    release(ex, 0)
    assert all(each.leads_to is None for each in ex.fixes)
    assert program() is None
    assert ex.autofix().kept[0].fix.title == title
    assert ex.ok
