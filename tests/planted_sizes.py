"""Models whose code compares, slices or divides by sizes, each with a twin without the fault.

The faulty one goes another way at a size that the example does not have and that the program of
torch.export accepts: mostly 0 and 1, which torch assumes that no size is. Its twin computes what a
program of it computes at every size. The line that asks ends in `# <-`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

Tensor = torch.Tensor


class Plant(NamedTuple):
    """A faulty model and its twin."""

    name: str
    faulty: Callable[..., Any]
    clean: Callable[..., Any]
    shapes: str = "x: n, _"
    args: tuple[Any, ...] = ()
    twin_shapes: str = ""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The example's."""
        return self.args or (torch.arange(20.0).reshape(5, 4) / 7 + 0.5,)


_ONE = 1
_LIMITS = {"least": 1}


def is_one(n: int) -> bool:
    return n == 1  # <-


class Windowed(nn.Module):
    """An attribute as the constant."""

    def __init__(self, least: int, factor: float) -> None:
        super().__init__()
        self.least = least
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > self.least:  # <-
            return x * 2
        return x * self.factor


class Settings:
    """A configuration."""

    def __init__(self, least: int) -> None:
        self.least = least


class Configured(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.config = Settings(1)
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) <= self.config.least:  # <-
            return x.sum(0, keepdim=True).expand(x.shape) * self.factor
        return x * 1.0


class Inner(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        if n == 1:  # <-
            return x * self.factor
        return x * 2


class Nested(nn.Module):
    """The line is in a module within."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.ReLU(), Inner(factor))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.inner(x) + 1
        return out


def equal_one(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def not_one(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] != 1:  # <-
            return x * 2
        return x * factor

    return forward


def above_one(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        x = x - x.mean()
        if x.shape[0] > 1:  # <-
            return x.abs()
        x = x.abs() * factor
        return x + (factor - 1)

    return forward


def below_two(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.size(0)
        if n < 2:  # <-
            return x * factor
        return x * 2

    return forward


def empty_zero(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] == 0:  # <-
            return x.sum() + value
        return x.sum()

    return forward


def numel_zero(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.numel() == 0:  # <-
            return x.sum() + value
        return x.sum()

    return forward


def not_size(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if not x.shape[0]:  # <-
            return x.sum() + value
        return x.sum()

    return forward


def truth(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        if n:  # <-
            return x.sum()
        return x.sum() + value

    return forward


def early(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] <= 1:  # <-
            return x.sum() * value
        return x.sum() * 2

    return forward


def ternary(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        scale = factor if x.shape[0] == 1 else 2.0  # <-
        return x * scale

    return forward


def ternary_number(one: int) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        keep = one if x.shape[0] < 2 else 2  # <-
        return x[:, :keep]

    return forward


def global_constant(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] == _ONE:  # <-
            return x * factor
        return x * 2

    return forward


def closure_constant(factor: float) -> Callable[..., Any]:
    limit = 1

    def forward(x: Tensor) -> Tensor:
        if x.shape[0] <= limit:  # <-
            return x * factor
        return x * 2

    return forward


def in_tuple(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] in (0, 1):  # <-
            return x * factor
        return x * 2

    return forward


def chained(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if 0 < x.shape[0] < 2:  # <-
            return x * factor
        return x * 2

    return forward


def both(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.dim() == 2 and x.shape[0] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def matched(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        match x.shape[0]:
            case 1:  # <-
                return x * factor
            case _:
                return x * 2

    return forward


def by_helper(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if is_one(x.shape[0]):  # <-
            return x * factor
        return x * 2

    return forward


def second_dim(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        _rows, columns = x.shape
        if columns == 1:  # <-
            return x * factor
        return x * 2

    return forward


def negative_dim(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[-1] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def standardized(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] > 1:  # <-
            return (x - x.mean(0)) / 2
        return x * factor + (x - x.mean(0)) / 2

    return forward


def squeezed(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        if n == 1:  # <-
            x = x.squeeze(0).unsqueeze(0) * factor
        return x.cos()

    return forward


def loop_once(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        while x.shape[0] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def asserted(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        alone = x.shape[0] == 1  # <-
        return x * (factor if alone else 2.0)

    return forward


def maybe_more(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        ones = [x] if x.shape[0] == 1 else []  # <-
        return x * 2 + sum((each * (factor - 2) for each in ones), torch.zeros(()))

    return forward


def minimum(least: int | None) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        return x * ((least or n) if n < 2 else n)  # <-

    return forward


def maximum_two(least: int) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        if n <= 1:  # <-
            n = n + least
        return x.sum(0) * n

    return forward


def smaller(most: int) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        if n == 1 or n == 0:  # <-
            return x + most
        return x

    return forward


def halves(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] // 2 == 0 and x.shape[0] < 2:  # <-
            return x * factor
        return x * 2

    return forward


def padded(value: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] < 2:  # <-
            x = nn.functional.pad(x, (1, 0), value=value)[:, 1:] + value
        return x

    return forward


def shape_compared(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape == (1, 4):  # <-
            return x * factor
        return x * 2

    return forward


def minus_one(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] - 1 == 0:  # <-
            return x * factor
        return x * 2

    return forward


def times_two(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if 2 * x.shape[0] == 2:  # <-
            return x * factor
        return x * 2

    return forward


def log_of(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        n = x.shape[0]
        scale = math.pi if n > 1 else factor * math.pi  # <-
        return x * scale

    return forward


def buffered(factor: float) -> Callable[..., Any]:
    class Buffered(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.ones(8, 4))
            self.table: Tensor

        def forward(self, x: Tensor) -> Tensor:
            rows = self.table[:1] if x.shape[0] != 1 else self.table[:1] * factor  # <-
            return x + rows

    return Buffered()


def default_argument(factor: float) -> Callable[..., Any]:
    def scaled(x: Tensor, least: int = 1) -> Tensor:
        return x * factor if x.shape[0] <= least else x * 2  # <-

    def forward(x: Tensor) -> Tensor:
        return scaled(x)

    return forward


def in_dictionary(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.shape[0] <= _LIMITS["least"]:  # <-
            return x * factor
        return x * 2

    return forward


def two_ones(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        if x.shape[0] == 1 and y.shape[0] == 1:  # <-
            return x.sum() * factor + y.sum()
        return x.sum() + y.sum()

    return forward


def second_is_one(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        if y.shape[0] == 1:  # <-
            return x.sum() + y.sum() * factor
        return x.sum() + y.sum()

    return forward


def either_empty(value: float) -> Callable[..., Any]:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        if x.shape[0] == 0 or y.shape[0] == 0:  # <-
            return x.sum() + y.sum() + value
        return x.sum() + y.sum()

    return forward


def decoding(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor, cache: Tensor) -> Tensor:
        joined = torch.cat([cache, x], 1)
        if x.shape[1] == 1:  # <-
            return joined.sum(1) * factor
        return joined.sum(1)

    return forward


def tied(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        z = x + y
        if z.shape[0] == 1:  # <-
            return z * factor
        return z * 2

    return forward


def of_result(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        z = torch.cat([x, x], 1)
        if z.size(0) < 2:  # <-
            return z * factor
        return z

    return forward


def third(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        b, s, d = x.shape
        if s == 1:  # <-
            return x.reshape(b, d) * factor
        return x.mean(1)

    return forward


def from_len(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        sizes = list(x.shape)
        if sizes[0] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def counted(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        ones = sum(1 for size in x.shape if size == 1)  # <-
        return x * (factor if ones else 2.0)

    return forward


def any_of(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if any(size == 1 for size in x.shape):  # <-
            return x * factor
        return x * 2

    return forward


def contiguous(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.mT.is_contiguous():  # <-
            return x * factor
        return x * 2

    return forward


def squeezes(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x.squeeze(0).dim() == 1:  # <-
            return x * factor
        return x * 2

    return forward


def strided(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        if x[:, ::2].sum(1).shape[0] == 1:  # <-
            return x * factor
        return x * 2

    return forward


def tail(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        more = x.shape[0] - 1
        if more < 1:  # <-
            return x * factor
        return x * 2

    return forward


def caught(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> Tensor:
        try:
            if x.shape[0] < 2:  # <-
                raise ValueError("too short")
            return x * 2
        except ValueError:
            return x * factor

    return forward


def method_of(factor: float) -> Callable[..., Any]:
    class Helper(nn.Module):
        def alone(self, x: Tensor) -> bool:
            return x.shape[0] == 1  # <-

        def forward(self, x: Tensor) -> Tensor:
            if self.alone(x):  # <-
                return x * factor
            return x * 2

    return Helper()


def property_of(factor: float) -> Callable[..., Any]:
    class Limited(nn.Module):
        @property
        def least(self) -> int:
            return 1

        def forward(self, x: Tensor) -> Tensor:
            if x.shape[0] <= self.least:  # <-
                return x * factor
            return x * 2

    return Limited()


def norm_or_not(factor: float) -> Callable[..., Any]:
    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(4)

        def forward(self, x: Tensor) -> Tensor:
            if x.size(0) == 1:  # <-
                return x * (factor - 2) + self.norm(x)
            out: Tensor = self.norm(x)
            return out

    return Norm()


def listed(factor: float) -> Callable[..., Any]:
    def forward(x: Tensor) -> list[Tensor]:
        if x.shape[0] == 1:  # <-
            return [x * factor, x]
        return [x * 2, x]

    return forward


_PAIR = (torch.arange(12.0).reshape(3, 4) + 1, torch.arange(20.0).reshape(5, 4) + 1)
_SAME = (torch.arange(12.0).reshape(3, 4) + 1, torch.arange(12.0).reshape(3, 4) + 2)
_CUBE = (torch.arange(30.0).reshape(2, 5, 3) + 1,)
_CACHE = (torch.arange(30.0).reshape(2, 5, 3) + 1, torch.arange(24.0).reshape(2, 4, 3) + 1)
_TWO = "x: n, _; y: m, _"

PLANTS = (
    Plant("== 1", equal_one(100.0), equal_one(2.0)),
    Plant("== 1, bounded", equal_one(100.0), equal_one(2.0), "x: n[1..64], _"),
    Plant("== 1, left to torch", equal_one(100.0), equal_one(2.0), "x: *, _"),
    Plant("!= 1", not_one(100.0), not_one(2.0)),
    Plant("> 1", above_one(3.0), above_one(1.0)),
    Plant("< 2", below_two(100.0), below_two(2.0)),
    Plant("== 0", empty_zero(9.0), empty_zero(0.0)),
    Plant("numel", numel_zero(9.0), numel_zero(0.0)),
    Plant("not size", not_size(9.0), not_size(0.0)),
    Plant("if size", truth(9.0), truth(0.0)),
    Plant("early return", early(9.0), early(2.0)),
    Plant("conditional expression", ternary(9.0), ternary(2.0)),
    Plant("conditional number", ternary_number(1), ternary_number(2)),
    Plant("a global", global_constant(9.0), global_constant(2.0)),
    Plant("a closure", closure_constant(9.0), closure_constant(2.0)),
    Plant("in a tuple", in_tuple(9.0), in_tuple(2.0)),
    Plant("chained", chained(9.0), chained(2.0)),
    Plant("and", both(9.0), both(2.0)),
    Plant("match", matched(9.0), matched(2.0)),
    Plant("a helper", by_helper(9.0), by_helper(2.0)),
    Plant("an attribute", Windowed(1, 9.0), Windowed(1, 2.0)),
    Plant("a setting", Configured(9.0), Configured(1.0)),
    Plant("a module within", Nested(9.0), Nested(2.0)),
    Plant("the second dim", second_dim(9.0), second_dim(2.0), "x: _, m"),
    Plant("the last dim", negative_dim(9.0), negative_dim(2.0), "x: n, m"),
    Plant("standardized", standardized(9.0), standardized(0.0)),
    Plant("squeezed", squeezed(9.0), squeezed(1.0)),
    Plant("while", loop_once(9.0), loop_once(2.0)),
    Plant("a flag", asserted(9.0), asserted(2.0)),
    Plant("a list for 1", maybe_more(9.0), maybe_more(2.0)),
    Plant("at least", minimum(7), minimum(None)),
    Plant("one more", maximum_two(2), maximum_two(0)),
    Plant("at most", smaller(1), smaller(0)),
    Plant("//", halves(9.0), halves(2.0)),
    Plant("pad", padded(9.0), padded(0.0)),
    Plant("a shape", shape_compared(9.0), shape_compared(2.0)),
    Plant("- 1", minus_one(9.0), minus_one(2.0)),
    Plant("2 *", times_two(9.0), times_two(2.0)),
    Plant("math", log_of(9.0), log_of(1.0)),
    Plant("a buffer", buffered(9.0), buffered(1.0)),
    Plant("a default", default_argument(9.0), default_argument(2.0)),
    Plant("a dictionary", in_dictionary(9.0), in_dictionary(2.0)),
    Plant("both are 1", two_ones(9.0), two_ones(1.0), _TWO, _PAIR),
    Plant("the second is 1", second_is_one(9.0), second_is_one(1.0), _TWO, _PAIR),
    Plant("either is 0", either_empty(9.0), either_empty(0.0), _TWO, _PAIR),
    Plant("decoding", decoding(9.0), decoding(1.0), "x: b, s, _; cache: b, p, _", _CACHE),
    Plant("tied", tied(9.0), tied(2.0), "x: n, _; y: n, _", _SAME),
    Plant("of a result", of_result(9.0), of_result(1.0)),
    Plant("the middle dim", third(9.0), third(1.0), "x: b, s, _", _CUBE),
    Plant("a list of sizes", from_len(9.0), from_len(2.0)),
    Plant("counted ones", counted(9.0), counted(2.0)),
    Plant("any is 1", any_of(9.0), any_of(2.0)),
    Plant("contiguous", contiguous(9.0), contiguous(2.0)),
    Plant("squeeze(0)", squeezes(9.0), squeezes(2.0)),
    Plant("a stride", strided(9.0), strided(2.0)),
    Plant("the rest", tail(9.0), tail(2.0)),
    Plant("an exception", caught(9.0), caught(2.0)),
    Plant("a method", method_of(9.0), method_of(2.0)),
    Plant("a property", property_of(9.0), property_of(2.0)),
    Plant("a norm", norm_or_not(9.0), norm_or_not(2.0)),
    Plant("a list of outputs", listed(9.0), listed(2.0)),
)
