"""The cases that the project was founded on: the topics of the torch.export tutorial, and ExportDB.

Each case knows how it ends in both modes, and at which line a failure must be diagnosed: the one
that ends in `# <- name`, or, where the modes differ, in `# <- name, strict`. The modules are our
own; those of ExportDB come with the installed torch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import nn

from export_engine.attempt import Attempt, Failed, Kind, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.shapes import Shapes


class SeedCase(NamedTuple):
    """A call, and what must be said of it."""

    name: str
    row: str
    """Of the founding list: `A3`, `B`."""
    target: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})
    shapes: Any = None
    """In the short language, or as torch takes it."""
    non_strict: Kind | None = None
    """The kind of failure without a fix; None where it exports."""
    strict: Kind | None = None
    mark: str = ""
    """What is in the failing line, where it is not marked as above."""
    file: str = __file__

    def kind(self, strict: bool) -> Kind | None:
        """How it ends in a mode."""
        return self.strict if strict else self.non_strict

    def lines(self, strict: bool) -> list[int]:
        """The lines at one of which the failure must be diagnosed, from 1; empty for a failure
        that is about the call and about no line.
        """
        mode = "strict" if strict else "non-strict"
        ends = (f"# <- {self.name}", f"# <- {self.name}, {mode}")
        lines = enumerate(Path(self.file).read_text().splitlines(), start=1)
        if self.mark:
            return [number for number, text in lines if self.mark in text]
        return [number for number, text in lines if text.rstrip().endswith(ends)]


def seed_cases() -> list[SeedCase]:
    """All of them, in the order of the founding list."""
    return [*tutorial_cases(), *exportdb_cases()]


@cache
def attempted(name: str, strict: bool) -> Attempt:
    """A case as it is exported, once for all tests of a process.

    A failure is diagnosed at once: fixing takes the tracebacks, from which diagnoses are made.
    """
    case = next(each for each in seed_cases() if each.name == name)
    shapes = Shapes.parse(case.shapes) if isinstance(case.shapes, str) else case.shapes
    request = Request(
        target=case.target, args=case.args, kwargs=case.kwargs, dynamic_shapes=shapes, strict=strict
    )
    found = capture(request)
    return replace(found, diagnosis=diagnose(found)) if isinstance(found, Failed) else found


# A3 to A7: what strict mode cannot follow, and what non-strict mode cannot see


class BranchOnSum(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # <- branch
            return torch.sin(x)
        return torch.cos(x)


class BranchAssigns(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.abs().max() > 1:  # <- branch-assigns
            scale = 0.5
            x = x * scale
        else:
            scale = 2.0
        return x + scale


class BranchChain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.mean() > 1:  # <- branch-chain
            y = x.sin()
        elif x.mean() > 0:
            y = x.cos()
        else:
            y = x.tanh()
        return y


class ConditionalExpression(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shifted = x + 1
        return shifted.sin() if shifted.min() > 0 else shifted.cos()  # <- conditional-expression


def is_loud(x: torch.Tensor) -> torch.Tensor:
    return x.abs().mean() > 1


class FlagFromHelper(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        loud = is_loud(x)
        y = x * 2
        if loud:  # <- flag
            y = y / 4
        return y


class BranchOnNumber(nn.Module):
    def forward(self, x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        count = k.item()
        if count > 5:  # <- number
            return x + 1
        return x - 1


class AssertOnData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.sum() > -1e6, "too small"  # <- assert
        return x * 2


class LoopOverLength(nn.Module):
    def forward(self, x: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        for _ in range(steps.item()):  # <- loop
            x = x * 0.5
        return x


class WritesData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        x.data[0, 0] = 3  # <- data-write
        return y + x


class AddsId(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + id(x)


class Tries(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            x = x.sin()
            raise RuntimeError("on purpose")
        except RuntimeError:
            return x.cos()


class Matches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        match x.dim():
            case 2:
                return x.relu()
            case _:
                return x.tanh()


class CallsNumpy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        doubled = x.numpy() * 2  # <- numpy
        return torch.from_numpy(doubled)


# A8: torch.cond and its rules


class Cond(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, torch.sin, lambda x: x.cos() + 1, (x,))


class CondMutates(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            x.add_(1)  # <- cond-mutates
            return x.sin()

        def negative(x: torch.Tensor) -> torch.Tensor:
            return x.cos()

        return torch.cond(x.sum() > 0, positive, negative, (x,))


class CondReturnsInput(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            return x  # <- cond-returns-input

        def negative(x: torch.Tensor) -> torch.Tensor:
            return x.cos()

        return torch.cond(x.sum() > 0, positive, negative, (x,))


class CondReturnsView(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            return x.t()  # <- cond-returns-view

        def negative(x: torch.Tensor) -> torch.Tensor:
            return x.t().cos()

        return torch.cond(x.sum() > 0, positive, negative, (x,))


class CondAppends(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen: list[torch.Tensor] = []

        def positive(x: torch.Tensor) -> torch.Tensor:
            seen.append(x)  # <- cond-appends
            return x.sin()

        return torch.cond(x.sum() > 0, positive, torch.cos, (x,))


class CondSetsAttribute(nn.Module):
    def positive(self, x: torch.Tensor) -> torch.Tensor:
        self.last = x * 2  # <- cond-sets-attribute
        return x.sin()

    def negative(self, x: torch.Tensor) -> torch.Tensor:
        return x.cos()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, self.positive, self.negative, (x,))


class CondDtypes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, torch.sin, lambda x: x.long(), (x,))  # <- cond-dtypes


class CondDims(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, torch.sin, lambda x: x.sum(), (x,))  # <- cond-dims


class CondOperand(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, x)  # <- cond-operand


class CondPredicate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x > 0, torch.sin, torch.cos, (x,))  # <- cond-predicate, non-strict


class BranchInCond(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            if x.max() > 3:  # <- branch-in-cond
                return x.sin()
            return x.cos()

        return torch.cond(x.sum() > 0, positive, torch.tanh, (x,))


# A9 to A16: shapes


class Affine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


class Slices(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, 2:] * 2


class Multiplies(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y  # <- equal


class AddsTail(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1:]  # <- derived


class Joins(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x, x, y])


class SmallProduct(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 16:  # <- all-relaxed
            return x @ y[:, :16]  # <- all-relaxed
        return y


class Halves(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: round(x.shape[0] / 2)]  # <- rounded


# A17: custom operators

seeds = torch.library.Library("seeds", "FRAGMENT")
seeds.define("doubled(Tensor x) -> Tensor")
seeds.impl("doubled", lambda x: x * 2, "CPU")
torch.library.register_fake("seeds::doubled", torch.empty_like, lib=seeds)
seeds.define("unfaked(Tensor x) -> Tensor")
seeds.impl("unfaked", lambda x: x * 2, "CPU")


@torch.library.custom_op("seeds::tripled", mutates_args=())
def tripled(x: torch.Tensor) -> torch.Tensor:
    return x * 3


class CustomOp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.seeds.doubled(x.sin()).cos()


class UnfakedOp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.ops.seeds.unfaked(x.sin())  # <- unfaked-library-op
        return y.cos()


class UnfakedCustomOp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return tripled(x.sin()).cos()  # <- unfaked-custom-op


def tutorial_cases() -> list[SeedCase]:
    """A3 to A17."""
    x = torch.linspace(-1, 2, 12).reshape(3, 4)
    three, seven = torch.tensor(3), torch.tensor(7)
    data, number, failed = Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED, Kind.OPERATOR_FAILED
    violated, unfaked = Kind.SHAPES_VIOLATED, Kind.NO_FAKE_KERNEL

    def case(
        name: str,
        row: str,
        model: type[nn.Module],
        *args: torch.Tensor,
        shapes: str | None = None,
        non_strict: Kind | None = None,
        strict: Kind | None = None,
        both: Kind | None = None,
    ) -> SeedCase:
        ends = (non_strict or both, strict or both)
        return SeedCase(name, row, model(), args or (x,), {}, shapes, *ends)

    square, wide = torch.ones(8, 16), torch.ones(16, 32)
    return [
        case("branch", "A3", BranchOnSum, both=data),
        case("branch-assigns", "A3", BranchAssigns, both=data),
        case("branch-chain", "A3", BranchChain, both=data),
        case("conditional-expression", "A3", ConditionalExpression, both=data),
        case("flag", "A3", FlagFromHelper, both=data),
        case("number", "A3", BranchOnNumber, x, seven, both=number),
        case("assert", "A3", AssertOnData, non_strict=Kind.ASSERT_ON_DATA),
        case("loop", "A3", LoopOverLength, x, three, both=Kind.LOOP_ON_DATA),
        case("data-write", "A4", WritesData, x.clone(), both=Kind.DATA_WRITE),
        case("id", "A5", AddsId),
        case("try", "A6", Tries),
        case("match", "A6", Matches),
        case("numpy", "A7", CallsNumpy, non_strict=Kind.NUMPY),
        case("cond", "A8", Cond),
        case("cond-mutates", "A8", CondMutates, both=Kind.COND_MUTATES),
        case("cond-returns-input", "A8", CondReturnsInput, both=Kind.COND_ALIASES),
        case("cond-returns-view", "A8", CondReturnsView, both=Kind.COND_ALIASES),
        case("cond-appends", "A8", CondAppends, both=Kind.COND_SIDE_EFFECT),
        case("cond-sets-attribute", "A8", CondSetsAttribute, both=Kind.COND_SIDE_EFFECT),
        case("cond-dtypes", "A8", CondDtypes, both=Kind.COND_BRANCHES_DIFFER),
        case("cond-dims", "A8", CondDims, both=Kind.COND_BRANCHES_DIFFER),
        case("cond-operand", "A8", CondOperand, both=failed),
        case("cond-predicate", "A8", CondPredicate, non_strict=failed),
        case("branch-in-cond", "A8", BranchInCond, both=data),
        case("static", "A9", Affine),
        case("bounds", "A10", Slices, torch.ones(3, 10, 5), shapes="x: a, b[4..18], _"),
        case(
            "out-of-range",
            "A11",
            Slices,
            torch.ones(3, 10, 5),
            shapes="x: a, b[11..18], _",
            both=Kind.EXAMPLE_OUT_OF_RANGE,
        ),
        case("equal", "A12", Multiplies, square, wide, shapes="x: a, b; y: c, d", both=violated),
        case(
            "derived",
            "A13",
            AddsTail,
            torch.ones(5),
            torch.ones(6),
            shapes="x: dx; y: dy",
            both=violated,
        ),
        case(
            "derived-given",
            "A13",
            AddsTail,
            torch.ones(5),
            torch.ones(6),
            shapes="x: dx; y: dx + 1",
        ),
        case("tripled", "A13", Joins, torch.ones(5), torch.ones(1), shapes="x: dx; y: _"),
        case(
            "all-relaxed",
            "A14 to A16",
            SmallProduct,
            square,
            wide,
            shapes="x: x0, x1; y: y0, y1",
            both=violated,
        ),
        case("rounded", "B", Halves, torch.ones(10), shapes="x: rows", both=violated),
        case("custom-op", "A17", CustomOp),
        case("unfaked-library-op", "A17", UnfakedOp, both=unfaked),
        case("unfaked-custom-op", "A17", UnfakedCustomOp, both=unfaked),
    ]


EXPORTDB = (
    "cond_branch_class_method",
    "cond_branch_nested_function",
    "cond_branch_nonlocal_variables",
    "cond_operands",
    "cond_predicate",
    "dynamic_shape_constructor",
    "dynamic_shape_if_guard",
    "dynamic_shape_map",
    "dynamic_shape_round",
    "dynamic_shape_slicing",
    "dynamic_shape_view",
    "list_contains",
    "scalar_output",
    "constrain_as_size_example",
    "constrain_as_value_example",
)
"""The pages of ExportDB under torch.dynamic-shape and torch.dynamic-value."""


@cache
def exportdb_cases() -> tuple[SeedCase, ...]:
    """B: the cases of the installed torch's library, with the inputs they come with."""
    from torch._export.db.examples import all_examples

    known = all_examples()
    return tuple(_from_exportdb(name, known[name]) for name in EXPORTDB)


def _from_exportdb(name: str, example: Any) -> SeedCase:
    rounds = name == "dynamic_shape_round"
    return SeedCase(
        name,
        "B",
        example.model,
        tuple(example.example_args),
        dict(example.example_kwargs or {}),
        example.dynamic_shapes,
        Kind.SHAPES_VIOLATED if rounds else None,
        Kind.SHAPES_VIOLATED if rounds else None,
        mark="round(" if rounds else "",
        file=inspect.getsourcefile(type(example.model)) or "",
    )
