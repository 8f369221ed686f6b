"""What is said is true: of programs without values, of agreements by chance, of conditions."""

from __future__ import annotations

import enum
import gc
import linecache
import random
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import rnn

from export_engine.attempt import Agreement, Exported, Failed, Fix, Request, Trial
from export_engine.attempt import Kind as FailureKind
from export_engine.capture import capture
from export_engine.describe.eager_check import check_sentence
from export_engine.diagnose import diagnose
from export_engine.diagnose.break_messages import is_plain, plain_break
from export_engine.diagnose.torch_messages import plain
from export_engine.exportdb import graph_break_pages
from export_engine.fixes import autofix, automatic, explain, providers, try_fixes
from export_engine.fixes.automatic import Step
from export_engine.generation.equal_sizes import equal_sizes
from export_engine.in_eager import beside_eager
from export_engine.progress import Progress
from export_engine.shapes import Shapes
from export_engine.source import Location, code_of, in_the_model
from export_engine.trace import Recording
from export_engine.traced_sizes.trace_facts import size_facts
from tests import planted


class Gradient(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda y: (y * y).sum())(x)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "strict", "kind"),
    [
        (Gradient(), False, FailureKind.TENSOR_LEAK),
        (Gradient(), True, FailureKind.TENSOR_LEAK),
        (planted.WritesData(), True, FailureKind.DATA_WRITE),
    ],
)
def test_a_program_with_tensors_without_values_is_a_failure(
    model: nn.Module, strict: bool, kind: FailureKind
) -> None:
    attempt = capture(Request(target=model, args=(torch.ones(3, 4),), strict=strict))
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.kind is kind
    assert found.stack, "the line is named"


class Backward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.jacrev(self.inner)(x)


class Forward(Backward):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.jacfwd(self.inner)(x)


class Batched(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(torch.func.jacrev(lambda y: y.tanh()))(x[None])


class Windowed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.from_numpy(np.hamming(x.shape[0]))


@pytest.mark.after_check
def test_a_size_that_numpy_is_given_is_said() -> None:
    shapes = Shapes.parse("x: time")
    attempt = capture(Request(target=Windowed(), args=(torch.ones(4),), dynamic_shapes=shapes))
    assert isinstance(attempt, Failed)
    found, _ = beside_eager(replace(attempt, diagnosis=diagnose(attempt)))
    assert found.sentence.startswith("`np.hamming(x.shape[0])` passes a symbolic size to NumPy")
    assert found.stack[-1].file == __file__


class Tapered(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.as_tensor(np.bartlett(x.shape[0]), dtype=x.dtype)


@pytest.mark.slow
def test_an_array_of_symbols_is_said_to_be_one_and_its_code_is_written_with_torch() -> None:
    request = Request(target=Tapered(), args=(torch.randn(6),), shapes=Shapes.parse("x: time"))
    attempt = capture(request)
    assert isinstance(attempt, Failed)

    diagnosis = explain(attempt).diagnosis

    assert diagnosis is not None
    assert "an array of objects, which NumPy computed from a symbolic size" in diagnosis.sentence
    assert [step.fix.title for step in autofix(request).steps] == [
        "Replace NumPy with torch in `forward`"
    ]


class Buckets(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 1 << (x.shape[0] - 1).bit_length()
        return nn.functional.pad(x, (0, whole - x.shape[0]))


class PoolsAll(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.max_pool1d(x[None], x.shape[0] // 2)


class Slopes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.jvp(self.layer, (x,), (torch.ones_like(x),))[1]


@pytest.mark.parametrize(
    ("model", "example", "said"),
    [
        (Buckets(), torch.ones(10), "`(x.shape[0] - 1).bit_length()` needs a concrete number"),
        (PoolsAll(), torch.ones(10), "requires an int and does not accept a SymInt"),
        (Slopes(), torch.ones(4, 3), "takes a derivative in forward mode, which fixes it"),
    ],
)
@pytest.mark.slow
def test_what_fixes_a_size_is_named(model: nn.Module, example: torch.Tensor, said: str) -> None:
    shapes = Shapes.parse("x: n" if example.dim() == 1 else "x: n, _")
    attempt = capture(Request(target=model, args=(example,), dynamic_shapes=shapes))
    assert isinstance(attempt, Failed)
    assert said in diagnose(attempt).sentence


class FarFromItself(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ x.T).fill_diagonal_(float("inf"))


def test_a_number_that_stands_in_the_code_is_no_size() -> None:
    shapes = Shapes.parse("x: n, _")
    attempt = capture(
        Request(target=FarFromItself(), args=(torch.ones(4, 3),), dynamic_shapes=shapes)
    )
    assert isinstance(attempt, Failed)
    assert "inf" not in diagnose(attempt).sentence


class Forces(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.requires_grad_()
        energy = x.tanh().sum()
        (force,) = torch.autograd.grad(energy, x)
        return -force


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_gradient_of_an_input_is_named_in_either_mode(strict: bool) -> None:
    attempt = capture(Request(target=Forces(), args=(torch.ones(4),), strict=strict))
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.kind is (FailureKind.GRAPH_BREAK if strict else FailureKind.TENSOR_LEAK)
    assert "`torch.autograd.grad(energy, x)`" in found.sentence
    assert "make_fx" in found.why
    code = code_of(__file__)
    statement = code.statement(found.stack[-1].line) if code is not None else None
    assert code is not None
    assert statement is not None
    assert "autograd.grad" in code.text(statement)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("model", [Backward, Forward, Batched])
def test_a_derivative_in_the_model_is_named_and_torch_is_left_as_it_was(
    model: type[nn.Module], strict: bool
) -> None:
    """A trace that fails inside of a transform leaves a level of it on a stack of torch's."""
    attempt = capture(Request(target=model(), args=(torch.ones(4),), strict=strict))
    torch.randn(3)  # refused inside of a transform
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.kind is FailureKind.TENSOR_LEAK
    assert "which torch.export does not trace" in found.sentence
    assert "`torch.func.jac" in found.sentence
    assert ("make_fx" in found.why) is (model is not Forward)
    assert found.stack[-1].file == __file__


class CountsToLongest(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        for _ in range(lengths.max()):
            x = x * 2
        return x


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_range_of_a_tensor_is_a_loop_on_data_in_either_mode(strict: bool) -> None:
    args = (torch.ones(2), torch.tensor([1, 2]))
    attempt = capture(Request(target=CountsToLongest(), args=args, strict=strict))
    assert isinstance(attempt, Failed)
    assert diagnose(attempt).kind is FailureKind.LOOP_ON_DATA


@pytest.mark.after_check
@pytest.mark.parametrize("model", [planted.AddsId(), planted.AddsTime()])
def test_an_agreement_by_chance_is_none(model: nn.Module) -> None:
    attempt = try_fixes.try_request(Request(target=model, args=(torch.ones(3, 4),)))
    assert isinstance(attempt, Exported)
    assert attempt.agreement is not None
    assert attempt.agreement.verdict == "differs"


def test_a_fix_is_compared_on_the_users_own_example() -> None:
    seen = SimpleQueue[tuple[torch.Tensor, bool]]()  # a list would be put back as it was

    def model(x: torch.Tensor) -> torch.Tensor:
        if type(x) is torch.Tensor:
            seen.put((x, torch.is_grad_enabled()))
        return x * 2

    x = torch.randn(3, requires_grad=True)
    attempt = capture(Request(target=model, args=(x,)))
    assert isinstance(attempt, Exported)
    while not seen.empty():
        seen.get()
    try_fixes._check(attempt)
    first, grad = seen.get_nowait()
    assert torch.equal(first, x)
    assert (first.requires_grad, grad) == (True, True)


def test_what_was_not_compared_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Exported) -> Agreement:
        raise TypeError("no fresh one can be made")

    attempt = capture(Request(target=planted.Relu(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    monkeypatch.setattr(try_fixes, "check", fails)
    found = try_fixes._check(attempt)
    assert found.verdict == "not checked"
    assert "no fresh one can be made" in check_sentence(found)
    failed = Agreement((Trial({}, "eager-fails", detail="it is too large."),))
    assert check_sentence(failed) == (
        "Not compared with eager: eager fails at every tried size: it is too large."
    )


def test_what_was_not_compared_is_kept_only_where_nothing_better_is() -> None:
    exported = capture(Request(target=planted.Relu(), args=(torch.ones(3),)))
    assert isinstance(exported, Exported)

    def step(*outcomes: Any) -> Step:
        trials = tuple(Trial({}, each) for each in outcomes)
        made = Exported(
            request=exported.request,
            recording=exported.recording,
            program=exported.program,
            agreement=Agreement(trials),
        )
        better = automatic._is_better(made, Failed(error=ValueError(), request=None,
                                                   recording=exported.recording))  # fmt: skip
        return Step(Fix(kind="mode", title="", change=lambda request: request), made, better)

    unsure, wrong, right = step(), step("differs"), step("agrees")
    assert [each.kept for each in (unsure, wrong, right)] == [False, False, True]
    assert [each.kept for each in automatic._with_unverified([wrong, unsure])] == [False, True]
    report = automatic.AutofixReport(exported, (automatic._with_unverified([unsure])[0],))
    assert "not verified" in report.sentence


class Pads(nn.Module):
    """Runs at every height, and pads those that are no multiple of 4 plus 2."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (x.shape[0] - 2) % 4 == 0:
            return x.sin()
        return x.cos()


class Halves(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(2, x.shape[0] // 2)


@pytest.mark.slow
def test_a_condition_that_the_model_does_not_have_is_not_said_to_be_its() -> None:
    for model, sizes, required in ((Pads(), 70, False), (Halves(), 70, True)):
        request = Request(target=model, args=(torch.ones(sizes),), shapes=Shapes.parse("x: height"))
        attempt = capture(request)
        assert isinstance(attempt, Failed)
        found = explain(attempt)
        assert found.diagnosis is not None
        said = found.diagnosis.sentence
        assert ("must be" in said) == required, said
        assert ("the model also runs at 3" in said) != required, said
        why = [fix.why for fix in found.fixes if fix.kind == "shapes"]
        assert any("multiple" in each for each in why) == required, why


class LongOrShort(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 6:
            self.long = True
            return x.sin()
        return x.cos()


class FirstSeven(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.narrow(0, 0, 7).sin()


@pytest.mark.slow
def test_a_bound_that_the_model_does_not_have_is_not_lossless() -> None:
    for model, sizes, tried in ((LongOrShort(), 9, "seq = 6"), (FirstSeven(), 9, "")):
        request = Request(target=model, args=(torch.ones(sizes),), shapes=Shapes.parse("x: seq"))
        attempt = capture(request)
        assert isinstance(attempt, Failed)
        found = explain(attempt)
        assert found.diagnosis is not None
        said = found.diagnosis.sentence
        assert ("the model also runs at 6" in said) == bool(tried), said
        (fix,) = (each for each in found.fixes if each.kind == "shapes")
        assert fix.narrows == bool(tried)
        assert (f"rejects {tried}, which the model accepts" in fix.gives_up) == bool(tried)
        report = automatic.autofix(found)
        assert (f"rejects {tried}" in report.sentence) == bool(tried), report.sentence


class CountsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(x), 2) + x.sum()


class ListsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([row * 2 for row in x])


class CountsBesideList(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum(part.sum() for part in (x, x * 2)) / len(x) + x.sum()


class SumsByPattern(nn.Module):
    """The pattern is an f-string, and no text of a size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        axes = "i"
        return torch.einsum(f"{axes}, {axes} ->", x, torch.ones(9))


class FixedRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(9)


@pytest.mark.slow
def test_a_size_that_the_trace_fixed_is_not_said_to_be_the_models_only_one() -> None:
    for model, freely, because in (
        (CountsRows(), True, "`len(x)` needs a concrete number"),
        (ListsRows(), True, "the loop `for row in x` is unrolled while tracing"),
        (CountsBesideList(), True, "`len(x)` needs a concrete number"),
        (SumsByPattern(), False, "rows can only be 9"),
        (
            FixedRows(),
            False,
            "rows can only be 9: this line combines it with a size that is fixed at 9.",
        ),
    ):
        request = Request(target=model, args=(torch.ones(9),), shapes=Shapes.parse("x: rows"))
        attempt = capture(request)
        assert isinstance(attempt, Failed)
        found = explain(attempt)
        assert found.diagnosis is not None
        said = found.diagnosis.sentence
        assert because in said, said
        assert "rows == 9" not in said, said
        assert "formats the size" not in said, said
        taken = "rows is fixed at 9 while tracing (the model also runs at 10)"
        assert (taken in said) == freely, said
        kept = next(fix for fix in found.fixes if fix.kind == "shapes")
        assert (taken in kept.gives_up) == freely, kept.gives_up


class ResizesAGrid(nn.Module):
    """Positions of a vision transformer, for images of any square grid of patches."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = nn.Parameter(torch.randn(1, 3, 4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = int((x.shape[1] - self.tokens) ** 0.5)
        grid = nn.functional.interpolate(self.positions, size=(side, side))
        return x[:, self.tokens :] + grid.flatten(2).mT


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "size", "other"), [(0, 36, 49), (1, 37, 50)])
def test_a_model_of_square_grids_is_not_said_to_take_one_only(
    tokens: int, size: int, other: int
) -> None:
    args = (torch.randn(2, size, 3),)
    shapes = Shapes.parse("x: _, patches, _")
    attempt = capture(Request(target=ResizesAGrid(tokens), args=args, dynamic_shapes=shapes))
    assert isinstance(attempt, Failed)
    found = explain(attempt).diagnosis
    assert found is not None
    assert f"the model also runs at {other}" in found.sentence


class LoopsBesideAMask(nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        total = x[0]
        for step in range(1, x.shape[0]):
            total = total + x[step]
        return total


@pytest.mark.parametrize("equal_first", [False, True])
@pytest.mark.slow
def test_what_makes_two_sizes_equal_is_not_said_to_fix_them(equal_first: bool) -> None:
    model = LoopsBesideAMask()
    within = (partial(equal_sizes, model, [[("x", 0), ("mask", 0)]]),) if equal_first else ()
    shapes = Shapes.parse("x: n, _; mask: n")
    found = explain(
        capture(
            Request(
                target=model,
                args=(torch.ones(6, 2), torch.ones(6)),
                dynamic_shapes=shapes,
                within=within,
                options=frozenset({"prefer_deferred_runtime_asserts_over_guards"}),
            )
        )
    )
    assert found.diagnosis is not None
    said = found.diagnosis.sentence
    assert "the loop `for step in range(1, x.shape[0])` is unrolled while tracing" in said, said


class NeedsIds(nn.Module):
    def forward(self, x: torch.Tensor, ids: torch.Tensor | None = None) -> torch.Tensor:
        if ids is None:
            raise ValueError("specify ids")
        return x if x.sum() > 0 else ids


class OnlyInts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if type(x.shape[0]) is not int:
            raise TypeError("a size is an int")
        return x


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_that_the_model_fails_in_eager_is_said_first(strict: bool) -> None:
    attempt = capture(Request(target=NeedsIds(), args=(torch.ones(3),), strict=strict))
    assert isinstance(attempt, Failed)
    found = explain(attempt)
    assert found.diagnosis is not None
    assert found.diagnosis.kind is FailureKind.OWN_ERROR
    assert found.diagnosis.sentence == (
        "The model also fails in eager, with ValueError: specify ids."
    )
    assert 'raise ValueError("specify ids")' in linecache.getline(*found.diagnosis.stack[-1][:2])
    assert not found.fixes


class NeedsItsContext(nn.Module):
    entered = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.entered:
            raise RuntimeError("outside")
        return x if x.sum() > 0 else -x


@contextmanager
def entered() -> Iterator[None]:
    NeedsItsContext.entered = True
    try:
        yield
    finally:
        NeedsItsContext.entered = False


@pytest.mark.slow
def test_a_model_that_eager_runs_in_the_exports_context_is_not_said_to_fail() -> None:
    attempt = capture(Request(target=NeedsItsContext(), args=(torch.ones(3),), within=(entered,)))
    assert isinstance(attempt, Failed)
    found = explain(attempt).diagnosis
    assert found is not None
    assert "fails in eager" not in found.sentence


def test_an_op_that_rejects_its_inputs_in_eager_too_is_said_to_once() -> None:
    attempt = capture(Request(target=nn.Linear(8, 4), args=(torch.ones(2, 7),)))
    assert isinstance(attempt, Failed)
    twice = explain(explain(attempt)).diagnosis
    assert twice is not None
    assert twice.sentence.count("The model also fails in eager. ") == 1
    assert "If the model runs in eager" not in twice.why


class Exits(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] < 5:
            sys.exit("too few rows")
        return x


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_model_that_ends_the_process_ends_only_its_export(strict: bool) -> None:
    attempt = capture(Request(target=Exits(), args=(torch.ones(3),), strict=strict))
    assert isinstance(attempt, Failed)
    found = explain(attempt).diagnosis
    assert found is not None
    assert found.sentence == "The model also fails in eager, with SystemExit: too few rows."


@pytest.mark.after_check
def test_an_error_that_only_tracing_leads_to_is_not_called_the_models() -> None:
    request = Request(target=OnlyInts(), args=(torch.ones(9),), shapes=Shapes.parse("x: n"))
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    found = explain(attempt).diagnosis
    assert found is not None
    assert found.sentence.startswith(
        "The model runs in eager, but while tracing this line raised TypeError: "
    )


def test_the_place_is_the_users_line_and_not_inside_a_helper() -> None:
    packages = sysconfig.get_paths()["purelib"]
    model = Location("/home/me/model.py", 12, "forward")
    einops = Location(f"{packages}/einops/einops.py", 600, "rearrange")
    layer = Location(f"{packages}/einops/layers/torch.py", 16, "forward")
    numpy = Location(f"{packages}/numpy/lib/scimath.py", 7, "sqrt")
    library = Location(f"{packages}/transformers/models/m/modeling_m.py", 40, "forward")
    masks = Location(f"{packages}/transformers/masking_utils.py", 9, "create_mask")
    assert in_the_model((model, einops)) == (model,)
    assert in_the_model((model, layer, einops)) == (model,)
    assert in_the_model((model, library, masks, numpy)) == (model, library, masks)
    assert in_the_model((model, masks)) == (model,)
    assert in_the_model((library, einops)) == (library,)
    assert in_the_model((numpy,)) == (numpy,)


class Inner(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        class Twice:
            def __call__(self, y: torch.Tensor) -> torch.Tensor:
                return y * 2

        return Twice()(x)


class Collects(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gc.collect()
        return x + 1


class Packs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.rnn(rows)
        return rnn.pad_packed_sequence(y, batch_first=True)[0]


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("strict", "text"), [(False, "self.rnn(rows)"), (True, "rnn.pack_padded_sequence(x, ")]
)
def test_rows_that_are_packed_are_said_to_be(strict: bool, text: str) -> None:
    args = (torch.randn(2, 5, 3), torch.tensor([5, 3]))
    attempt = capture(Request(target=Packs(), args=args, strict=strict))
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.kind is FailureKind.LOOP_ON_DATA
    assert found.sentence.startswith(f"`{text}")
    assert "uses a PackedSequence" in found.sentence


class Draws(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if random.uniform(0, 1) < 2 else x


class Picks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[None, 0, int((x > 9).sum().item())]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            Draws(),
            "it draws a number with Python's `random`, which strict mode would make an input of "
            "the program",
        ),
        (Picks(), "one of several indices is data-dependent"),
        (Inner(), "a class cannot be defined inside the model"),
        (Collects(), "strict mode does not trace into it"),
    ],
)
@pytest.mark.slow
def test_a_graph_break_is_said_in_plain_words(model: nn.Module, said: str) -> None:
    attempt = capture(Request(target=model, args=(torch.ones(3, 3),), strict=True))
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.sentence.startswith("Strict mode cannot trace ")
    assert found.sentence.endswith(f": {said}.")
    assert is_plain(found.why)


def test_no_graph_break_is_said_in_words_of_dynamos_own_code() -> None:
    pages = graph_break_pages()
    assert len(pages) > 400
    for page in pages:
        assert is_plain(plain_break(page.title)), page.title


def test_a_scripted_module_keeps_torchs_hint() -> None:
    scripted = torch.jit.script(nn.Linear(2, 2))
    attempt = capture(Request(target=scripted, args=(torch.ones(1, 2),)))
    assert isinstance(attempt, Failed)
    assert "`TS2EPConverter(mod, args, kwargs).convert()`" in diagnose(attempt).why


@pytest.mark.parametrize(
    ("error_type", "kind"),
    [
        ("INVALID_INPUT", FailureKind.SHAPES_MISMATCH),
        ("DYNAMIC_CONTROL_FLOW", FailureKind.BRANCH_ON_DATA),
        ("INVALID_OUTPUT", FailureKind.UNKNOWN_OUTPUT_TYPE),
    ],
)
def test_what_torch_names_has_its_kind(error_type: str, kind: FailureKind) -> None:
    types = torch._dynamo.exc.UserErrorType
    error = torch._dynamo.exc.UserError(types[error_type], "It does not fit.\n\nMore.")
    attempt = Failed(error=error, request=None, recording=Recording())
    found = diagnose(attempt)
    assert found.kind is kind
    assert found.sentence == "torch.export rejects this call: It does not fit."


def test_the_sentence_comes_before_fixes_and_stop_keeps_those_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Progress] = []

    def one(_: Failed) -> Iterator[Fix]:
        yield Fix(kind="mode", title="The first", change=lambda request: request)
        raise KeyboardInterrupt

    monkeypatch.setattr(providers, "PROVIDERS", (one,))
    attempt = capture(
        Request(target=CountsRows(), args=(torch.ones(9),), shapes=Shapes.parse("x: rows"))
    )
    assert isinstance(attempt, Failed)
    found = explain(attempt, told.append)
    assert [fix.title for fix in found.fixes] == ["The first"]
    assert [each.what for each in told] == ["failure", "found"]
    assert "`len(x)` needs a concrete number. (test_true_sentences.py, line " in told[0].label
    assert told[1].label == "The first"


class Squares(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == y.shape[0]:
            return x.sum() + y.sum()
        return x.sum()


def test_a_condition_on_two_sizes_of_one_name_tells_them_apart() -> None:
    request = Request(
        target=Squares(),
        args=(torch.ones(4, 2), torch.ones(4, 2)),
        shapes=Shapes.parse("x: seq, _; y: *, _"),
    )
    facts = size_facts(capture(request))
    assert facts is not None
    facts.names.update(dict.fromkeys(facts.names, "seq"))  # as where both were named so
    recorded = [facts.text(each.recorded) for each in facts.conditions]
    assert "seq == seq" not in recorded
    assert "x.shape[0] == y.shape[0]" in [text.replace("Eq", "") for text in recorded], recorded


class Chunked(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() if x.shape[0] <= 4_000_000 else x.cos()


@pytest.mark.after_check
def test_a_condition_is_not_tested_on_inputs_that_take_all_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run: list[int] = []
    monkeypatch.setattr(
        "export_engine.in_eager.excluded_calls.runs_in_eager",
        lambda request: run.append(request.args[0].shape[0]),
    )
    shapes = Shapes.parse("x: batch, _")
    failed = capture(Request(target=Chunked(), args=(torch.ones(4, 3),), dynamic_shapes=shapes))
    assert isinstance(failed, Failed)
    diagnosis = explain(failed).diagnosis
    assert diagnosis is not None
    assert "4000000" in diagnosis.sentence, diagnosis.sentence
    assert max(run, default=0) < 2**20


class Recent(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = np.exp(-np.arange(x.shape[1])[::-1] / x.shape[1])
        return x * torch.as_tensor((weights / weights.sum()).copy(), dtype=x.dtype)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_bound_that_every_size_keeps_is_said_as_one(strict: bool) -> None:
    shapes = Shapes.parse("x: batch, time")
    report = autofix(
        Request(target=Recent(), args=(torch.randn(2, 9),), dynamic_shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    assert "time is at most 2**63 - 1" in report.sentence
    assert ("Export in strict mode, then" in report.sentence) is not strict
    x = torch.randn(3, 5)
    torch.testing.assert_close(report.attempt.program.module()(x), Recent()(x))


class Task(enum.Enum):
    NEGATE = "negate"


class ByTask(nn.Module):
    def forward(self, x: torch.Tensor, task: Task) -> torch.Tensor:
        return -x if task is Task.NEGATE else x


@pytest.mark.after_check
def test_a_member_of_an_enum_is_named_as_an_input_and_becomes_a_constant() -> None:
    request = Request(
        target=ByTask(), args=(torch.ones(3), Task.NEGATE), shapes=Shapes.parse("x: n")
    )
    report = autofix(request)
    assert isinstance(report.first, Failed)
    assert report.first.diagnosis is not None
    assert report.first.diagnosis.sentence.startswith("The input `task` is of class `Task`")
    assert [each.fix.title for each in report.kept] == ["Register `Task` as a constant"]


class Shuffles(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        order = np.random.RandomState(0).permutation(x.shape[0])
        return x[torch.from_numpy(order)]


def test_an_error_in_compiled_code_is_shown_where_the_model_calls_it() -> None:
    request = Request(target=Shuffles(), args=(torch.ones(4),), shapes=Shapes.parse("x: n"))
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    assert diagnose(attempt).stack[-1].file == __file__


def test_a_gradient_is_named_where_its_ops_have_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, whose backward pass is in a thread of autograd's."""
    attempt = capture(Request(target=Forces(), args=(torch.ones(4),)))
    assert isinstance(attempt, Failed)
    named = diagnose(attempt)
    monkeypatch.setattr("export_engine.diagnose.python._where_leaked", lambda *_: ())
    assert diagnose(attempt).sentence == named.sentence
    assert diagnose(attempt).stack == named.stack


def test_torchs_words_on_a_device_are_made_plain() -> None:
    said = "got FakeTensor(..., device='cuda:0', size=(3, 4), dtype=torch.bool)."
    assert plain(said, {}) == "got a tensor of shape (3, 4)"
    said = (
        "Could not run 'mine::op' with arguments from the 'CUDA' backend. This could be because "
        "the operator doesn't exist for this backend, or was omitted during the selective/custom "
        "build process (if using custom build)."
    )
    assert plain(said, {}) == "`mine::op` has no kernel for CUDA"
    said = (
        "CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in https://there "
        "for more information.\nCUDA kernel errors might be asynchronously reported."
    )
    lost = "CUDA error: device-side assert triggered; nothing runs on the GPU until Python starts"
    assert plain(said, {}) == f"{lost} again"
    said = "CUDA out of memory. Tried to allocate 192.00 GiB. GPU 0 has a capacity of 139 GiB."
    assert plain(said, {}) == "CUDA out of memory. Tried to allocate 192.00 GiB"


def test_a_gpu_that_has_failed_is_said_to_have() -> None:
    class Fails(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise torch.AcceleratorError("CUDA error: unspecified launch failure\nSearch for `it'.")

    attempt = capture(Request(target=Fails(), args=(torch.ones(4),)))
    assert isinstance(attempt, Failed)
    found, runs = beside_eager(replace(attempt, diagnosis=diagnose(attempt)))
    assert found is not None
    assert not runs
    assert "launch failure; nothing runs on the GPU until Python starts again." in found.sentence


def test_a_kernel_of_tritons_is_said_to_be_launched() -> None:
    """Triton is not here: a function of a module that is called as its own takes the addresses."""
    names: dict[str, Any] = {"__name__": "triton.runtime.jit"}
    exec("def launch(*tensors):\n    return [each.data_ptr() for each in tensors]", names)
    kernel = {(4,): names["launch"]}

    class Launches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            kernel[(4,)](x, out)
            return out

    attempt = capture(Request(target=Launches(), args=(torch.ones(4),)))
    assert isinstance(attempt, Failed)
    found = diagnose(attempt)
    assert found.sentence.startswith("`kernel[(4,)](x, out)` launches a Triton kernel")
    assert "triton_op" in found.why


def of_a_view(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda a, b: a[0] + b, lambda a, b: b - a[1], (x, x[0]))


def returns_a_view_of_its_own(x: torch.Tensor) -> torch.Tensor:
    def both(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made = a + 1
        return made, made[0]

    return torch.cond(x.sum() > 0, both, both, (x,))[0]


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("target", "said"),
    [
        (of_a_view, "Two operands of `torch.cond` share memory"),
        (returns_a_view_of_its_own, "A branch of `torch.cond` returns two tensors that share"),
    ],
)
def test_which_tensors_of_an_operator_share_memory(target: Any, said: str, strict: bool) -> None:
    attempt = capture(Request(target=target, args=(torch.randn(3, 4),), strict=strict))
    assert isinstance(attempt, Failed)
    assert diagnose(attempt).sentence.startswith(said)
