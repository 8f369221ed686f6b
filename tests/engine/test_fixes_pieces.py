"""Pieces of a dynamic size: cut by symbolic sizes, and in a loop rows of a tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.equal_pieces import with_equal_pieces
from export_engine.fixes.code.sizes.symbolic_sizes import symbolic
from export_engine.shapes import Shapes
from export_engine.torch_internals import missing_shapes_spec

from .test_fixes_code import defined
from .test_fixes_loops_on_data import line_of
from .test_fixes_shortcuts import text_of

needs_spec = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)
THREE = "a, b, c = {}  # asked\nreturn torch.cat([a, b * 2, c * 3], 1)"
ONE = "return torch.cat([{} * 2, m[:, :1]], 1)  # asked"
CUT = {
    **{f"three of {each}": THREE.format(each) for each in (
        "m.chunk(3, 1)",
        "torch.chunk(m, 3, dim=1)",
        "m.chunk(chunks=3, dim=1)",
        "m.split(4, 1)",
        "torch.split(m * 2, 4, dim=-1)",
        "m.split(split_size=out[0] + 3, dim=1)",
        "m.split(m.size(1) // 3, 1)",
        "m.tensor_split(3, 1)",
        "torch.tensor_split(m + 1, 3, dim=-1)",
    )},
    **{each: ONE.format(each) for each in (
        "m.split(4, 1)[0]",
        "m.split(4, 1)[2]",
        "torch.split(m, 4, dim=1)[-1]",
        "m.split(3, -1)[-2]",
        "m.split(m.shape[1] // 2, 1)[1]",
        "m.chunk(3, 1)[0]",
        "m.chunk(3, 1)[2]",
        "m.chunk(3, 1)[-1]",
        "m.tensor_split(4, 1)[-1]",
    )},
    "a comprehension's": "return torch.stack([p.sum() for p in m.tensor_split(3, 1)])  # asked",
    "what is cut has no name": "a = (m * 3).split(4, dim=1)[1]  # asked\nreturn a",
}  # fmt: skip
KEPT = (
    "a, b = m.chunk(3, 1)",
    "a = m.chunk(3, 1)",
    "a, *b, c = m.chunk(3, 1)",
    "a = m.split([1, 2], 1)[0]",
    "a = m.split(2, 1)[k]",
    "a = m.split(2, 1)[:2]",
    "a = x if out else m.split(2, 1)[0]",
    "a = x + (m + 1).split(2, 1)[0]",
    "a = m.split(f(2), 1)[0]",
    "a = m.chunk(3, 1)[-2]",
    "a = 'a b'.split()[0]",
)


@pytest.mark.parametrize("name", CUT)
def test_pieces_that_are_taken_have_symbolic_sizes(name: str) -> None:
    text = text_of(CUT[name])
    made, _ = symbolic(text, {line_of(text, "# asked")}, pieces=True)
    names: list[dict[str, Any]] = [{}, {}]
    exec(compile(text, "before.py", "exec"), names[0])
    exec(compile(made.text, "made.py", "exec"), names[1])
    for size in range(14):
        given = (None, torch.rand(2, size), None, [1, 2])
        try:
            expected = names[0]["f"](*given)
        except (ValueError, IndexError, RuntimeError, ZeroDivisionError):
            with pytest.raises((RuntimeError, ValueError, ZeroDivisionError)):
                names[1]["f"](*given)
        else:
            assert torch.equal(names[1]["f"](*given), expected), size


@pytest.mark.parametrize("statement", KEPT)
def test_what_is_not_known_to_be_those_pieces_is_kept(statement: str) -> None:
    with pytest.raises(Unclear):
        symbolic(text_of(f"{statement}  # asked\nreturn a"), {3}, pieces=True)


EQUAL = {
    "for p in m.split(2):  # asked": "for p in m.unflatten(0, (-1, 2)):  # asked",
    "for i, p in enumerate(torch.split(m, f, dim=-1)):  # asked": (
        "for i, p in enumerate(m.unflatten(-1, (-1, f)).movedim(-2, 0)):  # asked"
    ),
    "ps = (x + m).split(2, 1)  # asked\nfor p in ps:": (
        "ps = (x + m).unflatten(1, (-1, 2)).movedim(1, 0)  # asked\nfor p in ps:"
    ),
}


@pytest.mark.parametrize("loop", EQUAL)
def test_a_loop_over_pieces_is_one_over_rows(loop: str) -> None:
    body = "\n    out.append(p.sum())\nreturn out"
    text = text_of(loop + body)
    found = with_equal_pieces(text, line_of(text, "# asked"))
    assert found is not None
    assert found.text == text_of(EQUAL[loop] + body)
    assert found.text.splitlines()[found.line - 1].lstrip().startswith("for")


def test_only_a_loop_over_pieces_of_a_length_is_one_over_rows() -> None:
    for loop in ("for p in m.chunk(2):", "for p in m.split([1, 2]):", "for p in m.unbind(0):"):
        assert with_equal_pieces(text_of(f"{loop}\n    x = x + p\nreturn x"), 3) is None


@needs_spec
def test_a_number_of_pieces_that_is_unknown_is_said() -> None:
    model, _ = defined("return torch.cat(x.split(2), 1)", "unknown_pieces")
    spec = Shapes.parse("x: n, _; unbacked")
    found = capture(Request(target=model, args=(torch.rand(6, 3),), shapes=spec))
    assert isinstance(found, Failed)
    assert diagnose(found).sentence.startswith(
        "How many tensors `x.split(2)` gives depends on `n`, and `n` is unbacked"
    )


CURED = {
    "a, b = x.chunk(2)\nreturn a.sum(), b * 2": "Keep the size in line 11 symbolic",
    "a, b = x.split(4)\nreturn a.sum(), b * 2": "Keep the size in line 11 symbolic",
    "return x.relu().split(4)[-1]": "Keep the size in line 11 symbolic",
    "a, b = x.tensor_split(2)\nreturn a.sum(), b * 2": "Keep the size in line 11 symbolic",
    "return torch.stack([p.sum(0) for p in x.split(2)])": (
        "Rewrite the loop in line 11 as a scan, and assume n >= 2 and n % 2 == 0"
    ),
}


@needs_spec
@pytest.mark.slow
@pytest.mark.parametrize("body", CURED)
def test_pieces_of_an_unbacked_size_export(body: str) -> None:
    model, _ = defined(body, "pieces")
    spec = Shapes.parse("x: n, _").to_spec()
    report = autofix(Request(target=model, args=(torch.rand(6, 3),), shapes=spec))
    assert isinstance(report.attempt, Exported), report.sentence
    assert [each.fix.title for each in report.kept] == [CURED[body]]
    program = report.attempt.program.module()
    for size in (6, 8):
        x = torch.rand(size, 3)
        mine, theirs = program(x), model(x)
        for one, other in zip(mine, theirs, strict=True):
            assert torch.equal(one, other)


@needs_spec
@pytest.mark.slow
def test_pieces_of_several_lengths_in_a_loop_are_explained() -> None:
    model, _ = defined("return torch.stack([p.sum(0) for p in x.split(2)])", "short_piece")
    report = autofix(
        Request(target=model, args=(torch.rand(7, 3),), shapes=Shapes.parse("x: n, _; unbacked"))
    )
    assert isinstance(report.attempt, Failed)
    assert not [fix for fix in report.attempt.fixes if not fix.lossy]
    assert any("need not be of one length" in reason for reason in report.attempt.refusals)
