"""Integers that the user's code, a guard or an op compares a size with, or divides it by.

At these a program is most likely to differ from its model: a branch goes the other way there, a
slice is cut off, a remainder is 0. They are read from the source of the functions that the model
may run, from the guards of the trace and from the arguments of ops; nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported, as_module
from export_engine.defects import log_internal_error
from export_engine.findings import find_reached_functions
from export_engine.source import closure_of, code_of

_MOST = 48
"""Numbers that are kept, those of comparisons first."""
_LARGEST = 2**16
_MOST_FUNCTIONS = 400
_COMPARED, _DIVIDED, _CHOSEN, _PASSED, _SLICED, _CALLED = range(6)
"""How likely a number is to decide something, the likeliest first."""
_SIZE_CALLS = frozenset({"size", "numel", "nelement", "__len__", "size_of"})
_CHOOSING = frozenset({"min", "max", "sym_min", "sym_max", "clamp", "range", "arange", "islice"})
_PIECES = frozenset(
    {"chunk", "split", "tensor_split", "unfold", "unflatten", "view", "reshape", "repeat", "pad"}
    | {"topk", "narrow", "kthvalue", "roll", "expand", "tile", "zeros", "ones", "pixel_shuffle"}
)
_DIVIDING = frozenset({"FloorDiv", "Mod", "PythonMod", "CleanDiv", "CeilToInt", "floor"})
_SLICES = frozenset({"slice", "narrow", "select", "constant_pad_nd", "unfold", "split", "topk"})


class Number(NamedTuple):
    """An integer that a size may be compared with."""

    value: int
    divides: bool
    """Whether the size is divided by it, so that its multiples count as well."""
    rank: int
    """The smaller, the likelier it decides something."""
    file: str = ""
    line: int = 0
    """Where it is written; 0 for one of a guard or an op."""


def find_numbers(exported: Exported) -> tuple[Number, ...]:
    """The numbers of a program and its model, each once, the most suspicious first."""
    entries: dict[tuple[int, bool], Number] = {}
    target = exported.request.target if exported.request else None
    numbers = [*_of_guards(exported), *_of_code(target), *_of_ops(exported)]
    for number in sorted(numbers, key=lambda each: each.rank):
        if 0 <= number.value <= _LARGEST:
            entries.setdefault((number.value, number.divides), number)
    return tuple(entries.values())[:_MOST]


def find_code_numbers(target: Any) -> tuple[Number, ...]:
    """Every number that the user's code compares with a size, with its line, in order of rank.

    Args:
        target: the model, or the function.
    """
    return tuple(sorted(_of_code(target), key=lambda each: each.rank))


def _of_guards(exported: Exported) -> Iterator[Number]:
    for guard in exported.recording.guards:
        atoms = getattr(guard.condition, "atoms", None)
        if atoms is None:
            continue
        place = (guard.stack[-1].file, guard.stack[-1].line) if guard.stack else ("", 0)
        integers = [abs(int(atom)) for atom in atoms() if getattr(atom, "is_Integer", False)]
        divisors = {
            abs(int(part))
            for atom in atoms(*_divisions(guard.condition))
            for part in atom.args[1:]
            if getattr(part, "is_Integer", False)
        }
        rank = _COMPARED if not guard.asked_by else _PASSED
        for value in _combine(integers, divisors):
            yield Number(value, value in divisors, rank, *place)


def _divisions(condition: Any) -> list[type]:
    """The classes of the divisions in a condition: torch has its own."""
    import sympy

    items = {type(atom) for atom in condition.atoms(sympy.Function)}
    return [item for item in items if item.__name__ in _DIVIDING] or [sympy.Mod]


def _combine(integers: Iterable[int], divisors: set[int]) -> list[int]:
    """The integers of one condition, and those that they make together: `n // 4 == 3` is 12."""
    own = list(dict.fromkeys(integers))
    numbers = [one * other for one in own for other in divisors if one != other]
    others = [number for number in own if number not in divisors]
    numbers += [abs(one - other) for at, one in enumerate(others) for other in others[:at]]
    numbers += [one + other for at, one in enumerate(others) for other in others[:at]]
    return list(dict.fromkeys([*own, *numbers]))


def _of_ops(exported: Exported) -> Iterator[Number]:
    """Arguments of slices and of arithmetic on sizes."""
    for module in exported.program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op != "call_function":
                continue
            name = str(getattr(node.target, "__name__", node.target)).partition(".")[0]
            symbolic = isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool)
            if not symbolic and name not in _SLICES:
                continue
            divides = name in ("floordiv", "mod", "truediv", "unfold", "split")
            rank = (_DIVIDED if divides else _COMPARED) if symbolic else _SLICED
            for value in node.args[1:]:
                if type(value) is int and abs(value) <= _LARGEST:
                    yield Number(abs(value), divides, rank)


def _of_code(target: Any) -> Iterator[Number]:
    if target is None:
        return
    attributes = _Attributes(as_module(target))
    for count, function in enumerate(find_reached_functions(target)):
        if count >= _MOST_FUNCTIONS:
            return
        try:
            node = _definition(function)
            if node is not None:
                yield from _Function(function, node, attributes).numbers()
        except Exception as error:  # noqa: BLE001 - odd source tells nothing; the others may
            log_internal_error(error, "looking for numbers that code compares sizes with")


def _definition(function: FunctionType) -> ast.AST | None:
    """The syntax tree of a function or a lambda."""
    code = code_of(function.__code__.co_filename)
    return code.by_first_line.get(function.__code__.co_firstlineno) if code is not None else None


class _Attributes:
    """Integers that attributes of a model's modules and of their settings are, by name."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module

    @cached_property
    def by_name(self) -> Mapping[str, set[int]]:
        groups: dict[str, set[int]] = {}
        for module in self._module.modules():
            for name, value in (*_class_values(type(module)), *vars(module).items()):
                self._add(groups, name, value)
                if _is_settings(value):
                    for inner, held in list(vars(value).items()):
                        self._add(groups, inner, held)
        return groups

    @staticmethod
    def _add(found: dict[str, set[int]], name: str, value: Any) -> None:
        values = value if type(value) in (tuple, list) and len(value) <= 8 else (value,)
        for item in values:
            if type(item) is int:
                found.setdefault(name, set()).add(item)


def _class_values(cls: type) -> Iterator[tuple[str, Any]]:
    for item in cls.__mro__:
        if item is torch.nn.Module or item is object:
            return
        yield from ((name, value) for name, value in vars(item).items() if type(value) is int)


def _is_settings(value: Any) -> bool:
    """Whether a value may be a model's configuration: an object with plain attributes."""
    if isinstance(value, torch.nn.Module | torch.Tensor | type | ModuleType | FunctionType):
        return False
    return hasattr(type(value), "__dict__") and isinstance(getattr(value, "__dict__", None), dict)


class _Function:
    """The numbers that one function compares sizes with."""

    def __init__(self, function: FunctionType, node: ast.AST, attributes: _Attributes) -> None:
        self._function = function
        self._node = node
        self._attributes = attributes
        self._sizes: set[str] = set()
        """Names of sizes, and of what is computed from them."""
        arguments = getattr(node, "args", None)
        names = (
            [inner.arg for inner in ast.walk(arguments) if isinstance(inner, ast.arg)]
            if (arguments)
            else []
        )
        self._parameters = {name for name in names if name not in ("self", "cls")}
        self._inner = list(ast.walk(node))
        for _ in range(2):  # a loop may use above what it computes below
            for body_node in self._inner:
                self._learn(body_node)

    def _learn(self, node: ast.AST) -> None:
        """A statement by which a name is a size."""
        value: ast.AST | None = getattr(node, "value", None)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
            targets = [node.target]
        elif isinstance(node, ast.For | ast.comprehension):
            targets, value = [node.target], node.iter
        if value is None or not targets or not self._is_size(value):
            return
        for target in targets:
            for inner in ast.walk(target):
                if isinstance(inner, ast.Name):
                    self._sizes.add(inner.id)

    def _is_size(self, node: ast.AST) -> bool:
        """Whether an expression is a size, or an int computed from one."""
        if isinstance(node, ast.Name):
            return node.id in self._sizes
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if isinstance(node, ast.Call):
            called = _call_name(node)
            if called in _SIZE_CALLS or called == "len":
                return True
            if called in ("int", "float", "abs", "sqrt", "ceil", "floor", "round", *_CHOOSING):
                return any(map(self._is_size, node.args))
            return False
        if isinstance(node, ast.Subscript):
            return self._is_size(node.value)
        if isinstance(node, ast.BinOp):
            return self._is_size(node.left) or self._is_size(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_size(node.operand)
        if isinstance(node, ast.Tuple | ast.List):
            return any(map(self._is_size, node.elts))
        return isinstance(node, ast.IfExp) and (
            self._is_size(node.body) or self._is_size(node.orelse)
        )

    def _may_be_size(self, node: ast.AST) -> bool:
        """Whether an expression has a parameter in it, which a caller may pass a size for."""
        return any(isinstance(e, ast.Name) and e.id in self._parameters for e in ast.walk(node))

    def numbers(self) -> Iterator[Number]:
        """In the order of the source."""
        for node in self._inner:
            if isinstance(node, ast.Compare):
                yield from self._of_compare(node)
            elif isinstance(node, ast.BinOp) and isinstance(
                node.op, ast.Mod | ast.FloorDiv | ast.Div | ast.RShift
            ):
                yield from self._of_division(node)
            elif isinstance(node, ast.Subscript):
                yield from self._of_subscript(node)
            elif isinstance(node, ast.Call):
                yield from self._of_call(node)
            elif isinstance(node, ast.match_case):
                yield from self._of_case(node)

    def _of_compare(self, node: ast.Compare) -> Iterator[Number]:
        sides = [node.left, *node.comparators]
        is_known = any(map(self._is_size, sides))
        if not is_known and not any(map(self._may_be_size, sides)):
            return
        divisors = {v for inner in ast.walk(node) for v in self._divisors(inner)}
        own = [value for side in sides for value in self._ints(side)]
        for value in _combine(own, divisors):
            yield self._number(value, False, _COMPARED if is_known else _PASSED, node)

    def _divisors(self, node: ast.AST) -> list[int]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Div):
            return self._ints(node.right)
        return []

    def _of_division(self, node: ast.BinOp) -> Iterator[Number]:
        is_known = self._is_size(node.left)
        if not is_known and not self._may_be_size(node.left):
            return
        for value in self._ints(node.right):
            divisor = 1 << min(value, 12) if isinstance(node.op, ast.RShift) else value
            yield self._number(divisor, True, _DIVIDED if is_known else _PASSED, node)

    def _of_subscript(self, node: ast.Subscript) -> Iterator[Number]:
        if self._is_size(node.value):
            return  # the number of a dim
        for inner in ast.walk(node.slice):
            if isinstance(inner, ast.Slice):
                ends = [end for end in (inner.lower, inner.upper) if end is not None]
                for value in (value for end in ends for value in self._ints(end)):
                    yield self._number(value, False, _SLICED, node)
                for value in self._ints(inner.step) if inner.step is not None else ():
                    yield self._number(value, True, _SLICED, node)
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for entry in entries:
            for value in self._ints(entry) if not isinstance(entry, ast.Slice) else ():
                yield self._number(value + 1 if value > 0 else value, False, _CALLED, node)

    def _of_call(self, node: ast.Call) -> Iterator[Number]:
        called = _call_name(node)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if called in _CHOOSING:
            is_known = any(map(self._is_size, arguments))
            if not is_known and not any(map(self._may_be_size, arguments)):
                return
            rank = _CHOSEN if is_known else _PASSED
            for at, argument in enumerate(arguments):
                steps = called in ("range", "arange") and at == 2
                for value in self._ints(argument):
                    yield self._number(value, steps, rank, node)
        elif called in _PIECES:
            for value in (value for expression in arguments for value in self._ints(expression)):
                yield self._number(value, True, _CALLED, node)

    def _of_case(self, node: ast.match_case) -> Iterator[Number]:
        for inner in ast.walk(node.pattern):
            if isinstance(inner, ast.MatchValue):
                for value in self._ints(inner.value):
                    yield self._number(value, False, _PASSED, node.body[0])

    def _number(self, value: int, divides: bool, rank: int, node: ast.AST) -> Number:
        line = getattr(node, "lineno", 0)
        return Number(abs(value), divides, rank, self._function.__code__.co_filename, line)

    def _ints(self, node: ast.AST) -> list[int]:
        """The integers in an expression: written, of attributes, of names outside, of defaults."""
        items: list[int] = []
        waiting = [node]
        while waiting:
            each = waiting.pop(0)
            if isinstance(each, ast.Constant):
                if type(each.value) is int:
                    items.append(abs(each.value))
            elif isinstance(each, ast.Attribute):
                items += self._attributes.by_name.get(each.attr, ())
            elif isinstance(each, ast.Name):
                items += self._find_integers(each.id)
            elif isinstance(each, ast.Subscript) and self._is_size(each.value):
                continue  # the number of a dim
            elif isinstance(each, ast.Call) and _call_name(each) in _SIZE_CALLS:
                continue
            else:
                waiting += ast.iter_child_nodes(each)
        return [value for value in items if abs(value) <= _LARGEST]

    def _find_integers(self, name: str) -> list[int]:
        """The integers that a name outside of the function stands for, or a parameter's default."""
        if name in self._sizes:
            return []
        outside = {**dict(closure_of(self._function))}
        values = [outside.get(name), self._function.__globals__.get(name), self._local.get(name)]
        values.append(self._defaults.get(name))
        return [value for value in values if type(value) is int]

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        code = self._function.__code__
        items = self._function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        return {
            **dict(zip(names[len(names) - len(items) :], items, strict=True)),
            **(self._function.__kwdefaults__ or {}),
        }

    @cached_property
    def _local(self) -> dict[str, int]:
        """Names that the function itself gives a number, as `window = 8`."""
        return {
            target.id: node.value.value
            for node in self._inner
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and type(node.value.value) is int
            for target in node.targets
            if isinstance(target, ast.Name)
        }


def _call_name(node: ast.Call) -> str:
    """The last name of what is called: `min` of `torch.sym_min` is `sym_min`."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
