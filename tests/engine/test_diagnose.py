"""Diagnosis: what is said of each founding case in both modes, and where; places in odd code."""

from __future__ import annotations

import functools
import itertools
import linecache
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Diagnosis, Exported, Failed, Kind, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.diagnose.facts import DataDependent, GraphBreak, UnknownClass
from export_engine.shapes import Shapes
from export_engine.torch_internals import is_constraint_violation

from ..seed_cases import SeedCase, attempted, seed_cases

CASES = seed_cases()
MODES = {"non-strict": False, "strict": True}
TORCH_NAMES = re.compile(r"\bL\[|\b(?:s|u|zf|zuf)\d+\b|size\(\)\[|FakeTensor|SymInt|<class")


def diagnosed(target: Callable[..., Any], *args: Any, strict: bool, **kwargs: Any) -> Diagnosis:
    attempt = capture(Request(target=target, args=args, kwargs=kwargs, strict=strict))
    assert isinstance(attempt, Failed)
    return diagnose(attempt)


def shown(diagnosis: Diagnosis) -> str:
    """The source that the span of a diagnosis covers."""
    span = diagnosis.span
    assert span is not None
    lines = linecache.getlines(diagnosis.stack[-1].file)[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return "".join(lines)


def marked(mark: str) -> int:
    """The line of this file that ends in `# <- mark`."""
    lines = enumerate(linecache.getlines(__file__), start=1)
    return next(number for number, text in lines if text.rstrip().endswith(f"# <- {mark}"))


def of_case(name: str, strict: bool) -> Diagnosis:
    attempt = attempted(name, strict)
    assert isinstance(attempt, Failed)
    assert attempt.diagnosis is not None
    return attempt.diagnosis


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_founding_case_ends_as_it_must(case: SeedCase, mode: str) -> None:
    strict = MODES[mode]
    attempt = attempted(case.name, strict)
    wanted = case.kind(strict)
    if wanted is None:
        assert not isinstance(attempt, Failed)
        return
    assert isinstance(attempt, Failed)
    found = attempt.diagnosis
    assert found is not None
    assert found.kind is wanted
    lines = case.lines(strict)
    if lines:
        assert found.stack
        assert found.stack[-1].file == case.file
        assert found.stack[-1].line in lines
    texts = [found.sentence, found.why, *(each.text for each in found.related)]
    assert not [text for text in texts if TORCH_NAMES.search(text)]
    assert found.sentence.endswith(".")


@pytest.mark.slow
def test_the_table_of_the_founding_cases(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [_row(case) for case in CASES]
    header = ("row", "case", "non-strict", "at", "strict", "at")
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    with capsys.disabled():
        print()
        for row in [header, *rows]:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))
    assert len(rows) >= 50


def _row(case: SeedCase) -> tuple[str, ...]:
    cells: list[str] = []
    for strict in MODES.values():
        attempt = attempted(case.name, strict)
        found = attempt.diagnosis if isinstance(attempt, Failed) else None
        cells.append(found.kind.value if found else "exported")
        line = str(found.stack[-1].line) if found and found.stack else ""
        cells.append(line)
    return (case.row, case.name, *cells)


class PadsRagged(nn.Module):
    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        rows = torch.nested.nested_tensor_from_jagged(x, ends)
        return rows.to_padded_tensor(0.0)


def test_a_nested_tensor_is_named_with_what_to_compute_with_instead() -> None:
    found = diagnosed(PadsRagged(), torch.randn(10, 3), torch.tensor([0, 4, 10]), strict=False)
    assert found.kind is Kind.OPERATOR_FAILED
    assert found.sentence == (
        "`torch.nested.nested_tensor_from_jagged(x, ends)` makes a nested tensor, which "
        "torch.export cannot trace here."
    )
    assert "a padded tensor and a mask" in found.why


@pytest.mark.slow
def test_spans_are_the_expression_that_decides() -> None:
    wanted = {
        "branch": "x.sum() > 0",
        "branch-chain": "x.mean() > 1",
        "conditional-expression": "shifted.min() > 0",
        "flag": "loud",
        "number": "count > 5",
        "loop": "range(steps.item())",
        "cond-mutates": "x.add_(1)",
        "branch-in-cond": "x.max() > 3",
        "unfaked-custom-op": "tripled(x.sin())",
    }
    for (name, text), strict in itertools.product(wanted.items(), MODES.values()):
        assert shown(of_case(name, strict)) == text


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_flag_is_followed_to_where_it_was_computed(strict: bool) -> None:
    related = of_case("flag", strict).related
    assert [each.stack[-1].function for each in related] == ["is_loud"]


FLAG_ON_SELF = """
class State:
    loud = None

state = State()

def listen(x):
    state.loud = x.abs().max() > 1

def forward(x):
    listen(x)
    y = x * 2
    return y if state.loud else x
"""


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_flag_on_an_object_is_followed_too(strict: bool) -> None:
    found = diagnosed(cell(FLAG_ON_SELF), torch.ones(2), strict=strict)
    assert shown(found) == "state.loud"
    assert [each.stack[-1].function for each in found.related] == ["listen"]


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_number_is_followed_to_where_it_was_computed(strict: bool) -> None:
    found = of_case("number", strict)
    assert "`count > 5`" in found.sentence
    assert [each.text for each in found.related] == ["computes data-dependent `count`"]
    assert isinstance(found.facts, DataDependent)
    assert found.facts.condition == "count > 5"


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_links_lead_to_what_this_torch_has(strict: bool) -> None:
    from torch._export.db.examples import all_examples

    known = all_examples()
    for case in CASES:
        attempt = attempted(case.name, strict)
        found = attempt.diagnosis if isinstance(attempt, Failed) else None
        links = found.links if found else ()
        for link in links:
            assert link.kind != "exportdb" or link.name in known
            assert link.kind != "graph-break" or re.fullmatch(r"GB\d{4}", link.name)
            assert "{" not in link.text
            assert not link.text.startswith("_")


def test_every_link_to_exportdb_has_a_case() -> None:
    """Also those of families that the cases above do not reach: they are written in the source."""
    from torch._export.db.examples import all_examples

    from export_engine.diagnose.explanations import CASES

    written = {each.case for each in CASES.values()}
    assert written
    assert written <= set(all_examples())


# Places in code of all sorts


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


def decide(x: torch.Tensor) -> torch.Tensor:
    if x.amax() > 2:  # <- helper
        return x
    return -x


class Inner(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return decide(x)


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), Inner())

    @wrapped
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_helpers_in_nested_modules_behind_decorators(strict: bool) -> None:
    found = diagnosed(Outer(), torch.ones(2, 4), strict=strict)
    assert found.kind is Kind.BRANCH_ON_DATA
    assert found.stack[-1].line == marked("helper")
    assert [each.function for each in found.stack][-2:] == ["forward", "decide"]


CELL = """
import torch

def forward(x):
    y = x + 1
    if y.sum() > 0:
        return y
    return -y
"""


def cell(text: str) -> Callable[..., Any]:
    """The function `forward` of a notebook cell: linecache knows its text, and no disk does."""
    file = f"ipykernel_1/{abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    known: dict[str, Any] = {}
    exec(compile(text, file, "exec"), known)
    function: Callable[..., Any] = known["forward"]
    return function


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_cell_that_is_no_file(strict: bool) -> None:
    function = cell(CELL)
    found = diagnosed(function, torch.ones(3), strict=strict)
    assert (found.stack[-1].file, found.stack[-1].line) == (function.__code__.co_filename, 6)
    assert shown(found) == "y.sum() > 0"


MANY_LINES = """
def forward(x):
    größe = x * 2
    return (
        größe.sin()
        if größe.is_floating_point() and (größe
            .sum()
            .gt(0))
        else größe.cos()
    )
"""


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_expressions_over_several_lines_and_letters_of_several_bytes(strict: bool) -> None:
    found = diagnosed(cell(MANY_LINES), torch.ones(2, 4), strict=strict)
    assert found.kind is Kind.BRANCH_ON_DATA
    operand = "größe.sum().gt(0)"  # Python 3.11 does not say which operand it was
    whole = f"größe.is_floating_point()and({operand})"
    assert re.sub(r"\s+", "", shown(found)) == (operand if sys.version_info >= (3, 12) else whole)


AFTER_A_COMPARISON = """
def forward(x):
    flag = x.sum() > 0
    if x.shape[0] > 1 and flag:
        return x
    return -x
"""


class InAComprehension(nn.Module):
    def forward(self, xs: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack([
            x.sin() if x.sum() > 0
            else x
            for x in xs
        ])  # fmt: skip


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_the_condition_in_a_comprehension_is_what_fails(strict: bool) -> None:
    diagnosis = diagnosed(InAComprehension(), [torch.ones(2), torch.ones(2)], strict=strict)
    assert diagnosis.stack[-1].function == "forward"
    assert shown(diagnosis) == "x.sum() > 0"


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_an_operand_that_python_misplaces_is_not_taken_for_another(strict: bool) -> None:
    found = diagnosed(cell(AFTER_A_COMPARISON), torch.ones(2, 4), strict=strict)
    assert "flag" in shown(found)
    assert "flag" in found.sentence


def test_a_place_without_source_is_still_a_place() -> None:
    known: dict[str, Any] = {}
    exec(compile(CELL, "ipykernel_1/gone.py", "exec"), known)
    found = diagnosed(known["forward"], torch.ones(3), strict=False)
    assert found.kind is Kind.BRANCH_ON_DATA
    assert found.stack[-1].line == 6
    assert found.span is None


class Plain:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


@pytest.mark.parametrize("strict", [False, True])
def test_an_input_of_an_unknown_class_is_named_by_its_path(strict: bool) -> None:
    def forward(x: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        return x + options["parts"][0].tensor

    x = torch.ones(2)
    found = diagnosed(forward, x, {"parts": [Plain(x)]}, strict=strict)
    assert found.kind is Kind.UNKNOWN_INPUT_TYPE
    assert found.facts == UnknownClass(Plain, "options.parts.0")
    assert "`options.parts.0` is of class `Plain`" in found.sentence


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_an_output_of_an_unknown_class_is_shown_at_its_return(strict: bool) -> None:
    def forward(x: torch.Tensor) -> Any:
        return x, Plain(x + 1)  # <- output

    found = diagnosed(forward, torch.ones(2), strict=strict)
    assert found.kind is Kind.UNKNOWN_OUTPUT_TYPE
    assert isinstance(found.facts, UnknownClass)
    assert found.facts.type is Plain
    assert found.stack[-1].line == marked("output")


def refuses(x: torch.Tensor) -> torch.Tensor:
    raise ValueError("not with me")  # <- refuses


def divides(x: torch.Tensor) -> torch.Tensor:
    return x * (1 // 0)  # <- divides


def looks_up(x: torch.Tensor) -> torch.Tensor:
    return {"a": x}["b"]  # <- looks_up


OWN = {
    refuses: "ValueError: not with me",
    divides: "ZeroDivisionError: integer division or modulo by zero",
    looks_up: "KeyError: 'b'",
}


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("function", OWN, ids=lambda function: function.__name__)
def test_an_error_of_the_model_is_told_as_the_models(
    function: Callable[..., Any], strict: bool
) -> None:
    found = diagnosed(function, torch.ones(2), strict=strict)
    assert found.kind is Kind.OWN_ERROR
    assert found.sentence == f"The model itself raised {OWN[function]}."
    assert found.stack[-1].line == marked(function.__name__)


FINALLY = """
class Guarded:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

def look_up(x):
    table = None
    return table[x]

def forward(x):
    try:
        with Guarded():
            return look_up(x)
    finally:
        x = x + 1
"""


@pytest.mark.parametrize("strict", [False, True])
def test_an_error_keeps_its_line_when_it_is_raised_again(strict: bool) -> None:
    found = diagnosed(cell(FINALLY), torch.ones(2), strict=strict)
    assert found.kind is Kind.OWN_ERROR
    # In strict mode, torch 2.12 does not say of which class it is.
    cls = "the" if strict and torch.__version__.startswith("2.12.") else "'NoneType'"
    assert f"{cls} object is not subscriptable" in found.sentence
    assert found.stack[-1].function == "look_up"


ASSERTS = """
def forward(x):
    assert x.shape[0] == 7
    return x
"""


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("said", "told"), [(", 'seven!'", "seven!"), ("", "`x.shape[0] == 7` does")]
)
def test_an_assert_of_the_models_own_that_fails(strict: bool, said: str, told: str) -> None:
    found = diagnosed(cell(ASSERTS.replace("== 7", f"== 7{said}")), torch.ones(2), strict=strict)
    assert found.kind is Kind.OWN_ERROR
    assert found.sentence.startswith(f"The model itself raised AssertionError: {told}")
    assert found.stack[-1].line == 3


def writes_out(x: torch.Tensor) -> torch.Tensor:
    print(f"at most {x.max():.2f}")  # <- writes_out
    return x * 2


def test_a_format_of_a_tensor_is_not_an_operator_that_refuses() -> None:
    found = diagnosed(writes_out, torch.ones(2, 3), strict=False)
    assert found.kind is Kind.OUTPUT_FROM_DATA
    assert "formats tensor values" in found.sentence
    assert found.stack[-1].line == marked("writes_out")


def draws(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand(x.shape, generator=torch.Generator())  # <- draws


def test_an_op_of_fixed_sizes_says_so_in_torchs_terms() -> None:
    attempt = capture(Request(target=draws, args=(torch.ones(2),), shapes=Shapes.parse("x: b")))
    assert isinstance(attempt, Failed)
    sentence = diagnose(attempt).sentence
    assert "does not accept a dynamic size" in sentence
    assert ".cpp" not in sentence


def multiplies(x: torch.Tensor) -> torch.Tensor:
    return x @ x  # <- multiplies


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_an_operator_says_what_it_refuses(strict: bool) -> None:
    found = diagnosed(multiplies, torch.ones(2, 3), strict=strict)
    assert found.kind is Kind.OPERATOR_FAILED
    assert "`x @ x`" in found.sentence
    assert "[2, 3]" in found.sentence
    assert found.stack[-1].line == marked("multiplies")


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_devices_that_differ_are_named(strict: bool) -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    found = diagnosed(forward, torch.ones(2), torch.ones(2, device="meta"), strict=strict)
    assert found.kind is Kind.DEVICE_MISMATCH
    assert found.sentence == "`x + y` mixes tensors on cpu and meta."


@pytest.mark.after_check
def test_a_graph_break_has_its_page_and_the_advice() -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x * len(open("nowhere").read())  # noqa: PTH123

    found = diagnosed(forward, torch.ones(2), strict=True)
    assert found.kind is Kind.GRAPH_BREAK
    assert '`open("nowhere")`' in found.sentence
    assert [link.kind for link in found.links] == ["graph-break"]
    assert found.links[0].url.endswith(f"gb{found.links[0].name[2:]}.html")
    assert isinstance(found.facts, GraphBreak)
    assert found.facts.hints


def test_what_torchscript_made_cannot_be_exported() -> None:
    scripted = torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))
    found = diagnosed(scripted, torch.ones(1, 2), strict=False)
    assert found.kind is Kind.NOT_A_MODULE


class Holder:
    """A plain object with a layer."""

    def __init__(self) -> None:
        self.layer = nn.Linear(2, 2)


class Heads(nn.Module):
    """Has layers that are not its submodules."""

    def __init__(self, heads: Any) -> None:
        super().__init__()
        self.heads = heads  # <- heads are set

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        held = self.heads  # <- heads are read
        layers = held.values() if isinstance(held, dict) else held
        for layer in [held.layer] if isinstance(held, Holder) else layers:
            x = layer(x)
        return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heads", "name", "kept_in"),
    [
        (lambda: [nn.Linear(2, 2)], "self.heads[0]", "in a plain list"),
        (lambda: {"a": nn.Linear(2, 2)}, "self.heads['a']", "in a plain dict"),
        (Holder, "self.heads.layer", "in a plain object, `self.heads`"),
        (lambda: [Holder().layer.forward], "self.heads[0]", "in a closure variable"),
    ],
)
def test_weights_of_a_module_that_is_not_registered(
    heads: Callable[[], Any], name: str, kept_in: str
) -> None:
    attempt = capture(Request(target=Heads(heads()), args=(torch.ones(1, 2),), strict=True))
    if isinstance(attempt, Exported):
        pytest.skip("torch 2.15 exports a module that is not a submodule in strict mode")
    found = diagnose(attempt)

    assert found.kind is Kind.GRAPH_BREAK
    assert f"`{name}`" in found.sentence
    assert kept_in in found.sentence
    assert "not a submodule of `Heads`" in found.sentence
    assert found.stack[-1].line == marked("heads are read")
    assert [each.stack[-1].line for each in found.related] == [marked("heads are set")]


class Calls(nn.Module):
    """Calls a layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + 1  # <- layer


def test_a_submodule_of_torchscript_is_named() -> None:
    found = diagnosed(Calls(torch.jit.script(nn.Linear(2, 2))), torch.ones(1, 2), strict=False)

    assert found.kind is Kind.NOT_A_MODULE
    assert found.sentence == "`layer` is TorchScript, and torch.export traces Python."
    assert found.stack[-1].line == marked("layer")


@pytest.mark.parametrize("strict", [False, True])
def test_packed_weights_of_eager_mode_quantization_are_named(strict: bool) -> None:
    quantization = pytest.importorskip("torch.ao.quantization", reason="torch is to drop it")
    float_model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    quantized = quantization.quantize_dynamic(float_model, {nn.Linear}, torch.qint8)

    found = diagnosed(Calls(quantized), torch.ones(1, 2), strict=strict)

    assert found.kind is Kind.NOT_A_MODULE
    assert "`layer.0` is an eager mode quantized module" in found.sentence


class Checkpoints(nn.Module):
    """Saves memory in training."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)  # <- saves


@pytest.mark.after_check
def test_activation_checkpointing_in_strict_mode_is_named() -> None:
    found = diagnosed(Checkpoints(), torch.ones(2), strict=True)

    assert found.kind is Kind.GRAPH_BREAK
    assert "`torch.utils.checkpoint.checkpoint`" in found.sentence
    assert found.stack[-1].line == marked("saves")


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_program_is_no_module(strict: bool) -> None:
    program = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    found = diagnosed(program, torch.ones(1, 2), strict=strict)
    assert found.kind is Kind.NOT_A_MODULE
    assert "program.module()" in found.why


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_an_operator_in_a_test_is_not_taken_for_the_test(strict: bool) -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        if (x @ x).shape[0] > 3:
            return x
        return -x

    found = diagnosed(forward, torch.ones(2, 3), strict=strict)
    assert found.kind is Kind.OPERATOR_FAILED
    assert shown(found) == "x @ x"


# Errors that no family knows, and hostile ones


def failed(error: Exception) -> Failed:
    attempt = attempted("branch", False)
    return Failed(request=attempt.request, recording=attempt.recording, error=error)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_whose_text_cannot_be_had() -> None:
    found = diagnose(failed(Mute()))
    assert found.kind is Kind.UNKNOWN
    assert found.sentence == "torch.export raised Mute without a message."


def test_a_long_and_a_circular_chain_end() -> None:
    first = error = RuntimeError("0")
    for number in range(1, 500):
        error.__cause__ = RuntimeError(str(number))
        error = error.__cause__
    error.__context__ = first
    assert diagnose(failed(first)).kind is Kind.UNKNOWN


def test_an_error_without_frames_has_no_place() -> None:
    found = diagnose(failed(RuntimeError("out of nowhere")))
    assert found.kind is Kind.UNKNOWN
    assert found.stack == ()
    assert "out of nowhere" in found.sentence
    assert "torch.export raised RuntimeError" in found.sentence


def test_torchs_names_of_sizes_are_translated() -> None:
    text = (
        "Not all values of a = L['x'].size()[1] hold: FakeTensor(..., size=(2, 3), dtype=torch.f16)"
    )
    found = diagnose(failed(RuntimeError(text)))
    assert "a = x.shape[1] hold: a tensor of shape (2, 3)" in found.sentence


def test_a_violation_that_torch_fails_to_word_is_one() -> None:
    scope: dict[str, Any] = {}
    text = "def prettify_results():\n    raise AssertionError('inconsistent min=1, max=1')\n"
    exec(compile(text, "torch/fx/experimental/symbolic_shapes.py", "exec"), scope)
    with pytest.raises(AssertionError) as caught:
        scope["prettify_results"]()
    assert is_constraint_violation(caught.value)
    assert not is_constraint_violation(AssertionError("other"))


def test_what_sympy_cannot_solve_is_solved_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fours(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(-1, 4)

    def unsolved(*_: object) -> None:
        raise NotImplementedError("The inequality, Eq(x/8 - 4*(((x/4)//8)), 0), cannot be solved")

    request = Request(target=Fours(), args=(torch.randn(8),), shapes=Shapes.parse("x: n"))
    expected = diagnose(capture(request)).sentence  # type: ignore[arg-type]
    solver = "torch.fx.experimental.symbolic_shapes.DimConstraints"
    monkeypatch.setattr(f"{solver}._raise_inconsistencies", unsolved)  # `solve` calls it first
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    assert "NotImplementedError" in repr(attempt.error)
    assert diagnose(attempt).sentence == expected
    assert "n must be a multiple of 4" in expected


def test_attributes_of_the_wrong_kind_do_no_harm() -> None:
    error = RuntimeError("odd")
    error.real_stack = [None, 3]  # type: ignore[attr-defined]
    error.gb_type = object()  # type: ignore[attr-defined]
    error.func = "no operator"  # type: ignore[attr-defined]
    assert diagnose(failed(error)).kind is Kind.UNKNOWN


def test_one_name_for_two_sizes_is_said_before_anything_else() -> None:
    def added(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1:]

    attempt = capture(
        Request(
            target=added, args=(torch.ones(5), torch.ones(6)), shapes=Shapes.parse("x: n; y: n")
        )
    )
    assert isinstance(attempt, Failed)
    sentence = diagnose(attempt).sentence
    assert sentence == (
        "x.shape[0] and y.shape[0] are both called n, and are 5 and 6 in the example."
    )
