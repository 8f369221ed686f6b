"""Facts from a run of the normal form under fake tensors, for each site and each value there."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from export_engine.fixes.rewrite.form import Site, find_site

NUMBERS = ("bool", "int", "float")


class Undefined:
    """The value of a name that is not bound on a way."""


UNDEFINED = Undefined()


class Value(NamedTuple):
    """What is known of a value before any data are."""

    kind: str
    """tensor, bool, int, float, none, list (of a length), rows, undefined, or other."""
    dtype: torch.dtype | None = None
    shape: tuple[Any, ...] = ()
    """Ints, and torch's symbols."""
    constant: Any = None
    """The value of a plain number."""
    is_contiguous: bool = True
    """Whether a tensor's elements lie in order."""
    layout: str = ""
    """`list`, `tuple` or `dict`, where all its parts are tensors."""

    @property
    def rank(self) -> int:
        """Number of dims a tensor has."""
        return len(self.shape)

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python's, or a symbol that stands for one."""
        return self.kind in NUMBERS


@dataclass
class Choice:
    """An `if`, as it was met while tracing."""

    ways: set[str] = field(default_factory=set)
    """then and else where Python can decide; tensor and symbol where it cannot."""
    test: Value = field(default_factory=lambda: Value("bool"))
    pairs: dict[str, list[tuple[Value, Value, bool, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By name: its value on either way, whether both are one object, and whether of one shape."""
    is_unsafe: bool = False
    """Whether a way may raise an error where eager does not take it."""
    may_raise: bool = False
    """Whether a way runs ops that raise errors for some data, as an index out of range."""
    shared: set[str] = field(default_factory=set)
    """Names that the ways may read, each of which shares memory with another."""
    before: dict[str, Value] = field(default_factory=dict)
    """By name that the ways may read: its value before them."""


@dataclass
class Iteration:
    """A loop, as it was met while tracing."""

    ways: set[str] = field(default_factory=set)
    """plain, rows (over a dynamic length), or while."""
    start: dict[str, Value] = field(default_factory=dict)
    """Every known name before the loop."""
    after: dict[str, Value] = field(default_factory=dict)
    """Names that an iteration binds."""
    is_steady: dict[str, bool] = field(default_factory=dict)
    """Whether the shape that an iteration gives is the one that it took."""
    collected: dict[str, Value] = field(default_factory=dict)
    """What is appended, by list."""
    appended: dict[str, int] = field(default_factory=dict)
    """How many values an iteration appends, by list."""
    has_sized_length: bool = True
    """Whether the length is known while tracing, up to the sizes of the inputs."""
    shared: set[str] = field(default_factory=set)
    """Names whose first memory is also another's."""
    is_needed: bool = False
    """Whether eager needs an iteration: it stacks what they collect."""


@dataclass
class Facts:
    """All that a run told."""

    choices: dict[Site, Choice] = field(default_factory=lambda: defaultdict(Choice))
    loops: dict[Site, Iteration] = field(default_factory=lambda: defaultdict(Iteration))
    notes: dict[Site, Any] = field(default_factory=dict)
    """Of expressions: what stands for a question that Python would ask, or a row."""
    own_methods: set[Site] = field(default_factory=set)
    """Calls of a module's own methods, which may read or write its attributes."""
    grown: dict[str, torch.dtype] = field(default_factory=dict)
    """Names of numbers that are tensors from some iteration of a plain loop on, and the dtypes."""
    tensors: dict[str, torch.dtype] = field(default_factory=dict)
    """Names whose numbers were tensors from the start in this run, and the dtypes."""
    was_reached: bool = False
    is_mixed: bool = False
    """Whether a test was decided by Python in some iterations, and not in others."""
    was_left: bool = False
    """Whether the function ran to its end."""
    keeps_symbols: bool = False
    """Whether a whole number of a tensor is a symbol, as sizes are; else it stays a tensor."""
    reads_whole: bool = False
    """Whether a whole number of a tensor is read."""

    def is_staged(self, node: ast.AST) -> bool:
        """Whether a construct of the user's text cannot be decided in Python."""
        line, column, kind = find_site(node)
        is_map = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "map"
        if is_map or isinstance(node, ast.ListComp | ast.GeneratorExp | ast.Match):
            sites = self._by_place.get((line, column), set())
            return any(site.startswith(f"{kind}:") for site in sites)
        if isinstance(node, ast.NamedExpr):
            return False
        return (line, column, kind) in self._staged

    def close(self) -> None:
        """Counts what is staged, once the run is over."""
        loops = {site for site, loop in self.loops.items() if loop.ways - {"plain"}}
        choices = {site for site, choice in self.choices.items() if choice.ways - {"then", "else"}}
        self._staged = loops | choices | self.notes.keys()
        self._by_place = defaultdict(set)
        for line, column, kind in self._staged:
            self._by_place[line, column].add(kind)

    _staged: set[Site] = field(default_factory=set)
    _by_place: dict[tuple[int, int], set[str]] = field(default_factory=dict)


def describe(value: Any) -> Value:
    """What is known of a value."""
    match value:
        case torch.Tensor():
            has_unknown = any(map(free_unbacked_symbols, value.shape))
            is_contiguous = not has_unknown and value.is_contiguous()
            return Value("tensor", value.dtype, tuple(value.shape), is_contiguous=is_contiguous)
        case bool() | torch.SymBool():
            return Value("bool", constant=value)
        case int() | torch.SymInt():
            return Value("int", constant=value)
        case float() | torch.SymFloat():
            return Value("float", constant=value)
        case None:
            return Value("none")
        case Masked():
            return Value("other")
        case list():
            return Value("list", constant=len(value), layout=_layout_of(value, value))
        case tuple():
            return Value("tree", constant=len(value), layout=_layout_of(value, value))
        case dict():
            return Value("tree", constant=len(value), layout=_layout_of(value, [*value.values()]))
        case Rows():
            return Value("rows")
        case Undefined():
            return Value("undefined")
    return Value("other", constant=value if isinstance(value, str) else None)


def _layout_of(value: Any, parts: Sequence[Any]) -> str:
    is_plain = type(value) in (list, tuple, dict) and bool(parts)
    tensors = is_plain and all(isinstance(part, torch.Tensor) for part in parts)
    return type(value).__name__ if tensors else ""


class Masked(list[Any]):
    """A list that stays one, of which only some elements count."""


class Rows:
    """A list that a staged loop or choice fills, as one tensor of equal pieces."""

    def __init__(
        self,
        piece: Any,
        values: torch.Tensor,
        *,
        is_masked: bool = False,
        loop: Iteration | None = None,
    ) -> None:
        self.piece, self.values, self.is_masked, self.loop = piece, values, is_masked, loop
