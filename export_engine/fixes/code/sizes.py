"""Rewrites Python and NumPy around sizes, so that no plain number is made of a size.

torch has functions that keep a size symbolic, and that are Python's own for plain numbers. No
symbol stands for the logarithm or the root of a size: an op computes it when the program runs, of a
tensor that holds one number in 64 bits, and `.item()` reads it, as a number that is data-dependent.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import product

from export_engine.attempt import Edit, Request
from export_engine.fixes.code.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    last_name,
    spans,
)
from export_engine.fixes.rules.factories import by_arange
from export_engine.in_eager import agrees_at, resize
from export_engine.traced_sizes import leaf_values

_FORMAT = re.compile(r"(?<!\{)\{([^{}:!]+):[^{}]*\}")
"""A value of an f-string that has a format: `{n:>4}`."""
_ROUNDED = ("ceil", "floor")
_COMPUTED = ("log", "log2", "log10", "log1p", "exp", "sin", "cos", "tan", "tanh")
_REDUCED = (
    *("all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min"),
    *("norm", "prod", "round", "sum"),
)
"""Methods of tensors that give one number: `int` reads it, with or without torch's help."""
LENGTHS = (".shape[0]", ".__len__()")
"""What `len(x)` becomes: of a tensor, and of an object of the user's own, whose size `len` would
make an int."""


def symbolic(text: str, line: int, length: str = LENGTHS[0]) -> Rewritten:
    """The text with sizes kept symbolic at a line."""
    source = Source(text, line)
    idioms = _Idioms(source, length)
    pieces: list[Piece] = []
    names: list[str] = []
    for node in ast.walk(source.function):  # outer ones come first
        if not isinstance(node, ast.Call | ast.JoinedStr) or not spans(node, line):
            continue
        new = idioms.find(node)
        if any(a.start < b.end and b.start < a.end for a in new for b in pieces):
            continue
        pieces += new
        if new:
            names.append(f"`{source.of(node.func if isinstance(node, ast.Call) else node)}`")
    if not pieces:
        raise CannotRewrite("that line needs no concrete size")
    return source.replace(pieces)._replace(what=" and ".join(dict.fromkeys(names)))


class _Idioms:
    """The replacements in one function."""

    def __init__(self, source: Source, length: str) -> None:
        self.source, self.torch, self.length = source, source.torch, length
        self.numpy, self.math = source.names_of("numpy"), source.names_of("math")
        calls = [node for node in ast.walk(source.function) if isinstance(node, ast.Call)]
        firsts = [(last_name(call.func), call.args[0]) for call in calls if call.args]
        self.rounded = {part for name, part in firsts if name in (*_ROUNDED, "int", "round")}
        """What is made an int, which no tensor is."""
        self.looked_up = {key for name, key in firsts if name == "get"}
        """Keys of dicts, which no symbol is."""

    def find(self, node: ast.Call | ast.JoinedStr) -> list[Piece]:
        """The replacement of a call, or of an f-string with number formats; None for others."""
        of = self.source.of
        match node:
            case ast.JoinedStr():
                text = _FORMAT.sub(r"{\1!s}", of(node))
                return self._put(node, text) if text != of(node) else []
            case ast.Call() if rounded := self._find_rounded(node):
                return self._put(node, rounded)
            case ast.Call(ast.Name("int" | "float" as name), [inner], []):
                if name == "int" and self._calls(inner, (*_ROUNDED, "prod"), self.math):
                    return []  # NumPy's function is replaced by Python's, which gives an int
                if self._calls(inner, _REDUCED, self.numpy | self.math) or node in self.looked_up:
                    return []
                return self._put(node.func, f"{self.torch}.sym_{name}")
            case ast.Call(ast.Name("map"), [ast.Name("int" | "float" as name) as first, *_]):
                return self._put(first, f"{self.torch}.sym_{name}")
            case ast.Call(ast.Name("len"), [ast.Name()], []):
                return self._wrap(node, "", self.length)
            case ast.Call(ast.Name("isinstance"), [_, ast.Name("int") as kind]):
                return self._put(kind, f"(int, {self.torch}.SymInt)")
            case ast.Call(ast.Attribute(owner, name)):
                return self._of_library(node, of(owner), name)
        return []

    def _of_library(self, node: ast.Call, owner: str, name: str) -> list[Piece]:
        """The replacement of a function of torch, NumPy or math."""
        if owner in (self.torch, "F") or owner.endswith((".fft", "functional")):
            text = by_arange(node, name, self.torch, self.source.of)
            if text is not None:
                return self._put(node, text)
        match node.args:
            case [inner] if owner in self.numpy | self.math and not node.keywords:
                if name == "sqrt":
                    return self._put(node.func, f"{self.torch}.sym_sqrt")
                if name in _COMPUTED and node not in self.rounded:
                    double = f", dtype={self.torch}.float64))"
                    return self._wrap(node, f"{self.torch}.{name}({self.torch}.tensor(", double)
                if owner in self.numpy and name in (*_ROUNDED, "prod"):
                    return self._put(node.func, f"{self._math}.{name}")
            case [inner, *_] if owner == self.torch and name == "as_tensor" and _is_shape(inner):
                function = self._put(node.func, f"{self.torch}.tensor")
                if isinstance(inner, ast.List | ast.Tuple):
                    return function
                return [*function, *self._put(inner, f"[*{self.source.of(inner)}]")]
            case [inner] if owner == self.torch and name == "_shape_as_tensor":
                return self._wrap(node, f"{self.torch}.tensor([*", ".shape])")
            case [inner, *_] if owner == "copy" and name in ("copy", "deepcopy"):
                return self._wrap(node, "", "") if _is_shape(inner) else []
        return []

    def _calls(self, node: ast.expr, names: tuple[str, ...], others: frozenset[str]) -> bool:
        """Whether a value is a call of a method of these names, and of none of other modules."""
        match node:
            case ast.Call(ast.Attribute(owner, name)) if name in names:
                return self.source.of(owner) not in others
        return False

    def _find_rounded(self, node: ast.Call) -> str:
        """`torch.ceil(torch.tensor(n / 2)).long()`, or `int` of it, by `math`; empty for others.

        The tensor is a float32, so that from 2**24 on it is the less exact of the two.
        """
        match node:
            case ast.Call(ast.Attribute(inner, "long" | "int" | "item"), [], []):
                pass
            case ast.Call(ast.Name("int"), [inner], []):
                pass
            case _:
                return ""
        match inner:
            case ast.Call(
                ast.Attribute(ast.Name(outer), name),
                [ast.Call(ast.Attribute(ast.Name(made), "tensor" | "as_tensor"), [number])],
                [],
            ) if outer == made == self.torch and name in _ROUNDED:
                return f"{self._math}.{name}({self.source.of(number)})"
        return ""

    @property
    def _math(self) -> str:
        return next(iter(sorted(self.math)), "__import__('math')")

    def _put(self, node: ast.expr, text: str) -> list[Piece]:
        return [self.source.put(node, text)]

    def _wrap(self, node: ast.Call, before: str, after: str) -> list[Piece]:
        """The call's argument with other text around it."""
        argument = node.args[0]
        return [
            Piece(self.source.start(node), self.source.start(argument), before),
            Piece(self.source.end(argument), self.source.end(node), after),
        ]


def _is_shape(value: ast.expr) -> bool:
    """Whether a value is a shape, or sizes listed."""
    of = value.value if isinstance(value, ast.Subscript) else value
    match of:
        case ast.Attribute(attr="shape") | ast.Call(ast.Attribute(attr="size")):
            return True
    return isinstance(value, ast.List | ast.Tuple)


# -- numbers by ops --------------------------------------------------------------------------------


_SIZES = (*range(2, 11), 15, 16, 17, 25, 31, 32, 33, 36, 63, 64, 65)
"""Where a number in floats may be one off: around powers and squares, and others between."""
_MOST_ELEMENTS = 2**20
_METHODS = (
    *("log", "log2", "log10", "log1p", "exp", "exp2", "sqrt", "sin", "cos"),
    *("floor", "ceil", "trunc", "round"),
)
_OPS: dict[tuple[str, int], str] = {
    **{(name, 1): f"{{}}.{name}()" for name in _METHODS},
    **{(name, 1): "{}" for name in ("float", "float64")},
    **{(name, 1): "{}.trunc()" for name in ("int", "int64", "int32", "fix")},
    **{(name, 2): "{torch}.minimum({}, {})" for name in ("min", "minimum")},
    **{(name, 2): "{torch}.maximum({}, {})" for name in ("max", "maximum")},
    ("rint", 1): "{}.round()",
    ("isqrt", 1): "{}.sqrt().floor()",
    ("log", 2): "({}.log() / {}.log())",
}
"""By the name of a function and how many numbers it takes: what computes it of tensors."""
_INTS = frozenset(
    {*("int", "int64", "int32", "isqrt", "round", "bit_length"), *("floor", "ceil", "trunc")}
)
"""Those that give an int; the last three, NumPy's give a float."""
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "* 2 **",
}


def agrees_at_many_sizes(request: Request, edit: Edit) -> bool:
    """Whether an edited model answers as it did at sizes where a number in floats may be one off.

    One name's size is changed, to each size that is small enough to run on.
    """
    others, asked = list[Request](), request.shapes
    for name, size in product(asked.dims() if asked is not None else (), _SIZES):
        assert asked is not None
        other = resize(request, asked, name, size)
        shapes = [getattr(value, "shape", (0,)) for value in leaf_values(other).values()]
        others += [other] if sum(map(math.prod, shapes)) <= _MOST_ELEMENTS else []
    return agrees_at(request, edit, others)


def by_ops(text: str, line: int) -> Rewritten:
    """The text with each int that a line computes of a size as an op, and its number read back."""
    source = Source(text, line)
    nodes = list(ast.walk(source.function))
    simple = [n for n in nodes if isinstance(n, ast.stmt) and not hasattr(n, "body")]
    here = [node for node in simple if spans(node, line)]
    read = {node.id for one in here for node in ast.walk(one) if isinstance(node, ast.Name)}
    stores: dict[str, list[ast.stmt]] = {}
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name)]) if name in read:
                stores.setdefault(name, []).append(node)
    once = [statements[0] for statements in stores.values() if len(statements) == 1]
    ops = _Ops(source)
    for block in (here, once):
        pieces = [piece for statement in block for piece in ops.find_ints(statement)]
        if pieces:
            return source.replace([*pieces, *_of_powers(source, block)])
    raise CannotRewrite("that line needs no concrete size")


def _of_powers(source: Source, statements: list[ast.stmt]) -> Iterator[Piece]:
    """Of a name for a power: a check that says it is at least 1, and the transforms of its length.

    torch cannot know this for a data-dependent number. A transform asks whether its length is
    more than there is, to pad or to cut; `pad` by a difference does either, and asks nothing.
    """
    for statement in statements:
        match statement:
            case ast.Assign(
                [ast.Name(name)], ast.BinOp(ast.Constant(int(base)), ast.Pow() | ast.LShift(), _)
            ) if base >= 1:
                after = source.line_after(statement)
                check = f"{source.indent(statement)}{source.torch}._check({name} >= 1)\n"
                yield Piece(after, after, check)
                for call in ast.walk(source.function):
                    yield from _pad_transform(source, call, name)


def _pad_transform(source: Source, call: ast.AST, name: str) -> Iterator[Piece]:
    """`torch.fft.rfft(x, name)` of x that is padded, or cut, to that length."""
    match call:
        case ast.Call(
            ast.Attribute(owner, "fft" | "rfft" | "ifft"),
            [ast.Name() | ast.Attribute() as value, ast.Name(length)],
        ) if length == name and source.of(owner).endswith("fft"):
            text = source.of(value)
            pad = f"{source.torch}.nn.functional.pad({text}, (0, {name} - {text}.shape[-1]))"
            yield source.put(value, pad)


class _Ops:
    """Writes expressions of one function as ops on tensors of one number."""

    def __init__(self, source: Source) -> None:
        self._of, self._torch, self._source = source.of, source.torch, source
        self._numpy = source.names_of("numpy")
        self._libraries = self._numpy | source.names_of("math")

    def find_ints(self, node: ast.AST) -> Iterator[Piece]:
        """The outermost expressions that are ints, each read of the ops that compute it."""
        if isinstance(node, ast.expr) and self._asks(node) and self._is_int(node):
            try:
                text = f"{self._write(node)}.long().item()"
            except CannotRewrite:
                text = ""
            if text:
                yield self._source.put(node, text)
                return
        for inner in ast.iter_child_nodes(node):
            yield from self.find_ints(inner)

    def _write(self, node: ast.expr) -> str:
        """An expression as a tensor that holds its number."""
        if not self._asks(node):
            if not all(map(_is_of_sizes, ast.walk(node))):
                raise CannotRewrite("it may be data-dependent")
            return f"{self._torch}.tensor({self._of(node)}, dtype={self._torch}.float64)"
        match node:
            case ast.UnaryOp(ast.USub(), inner):
                return f"(-{self._write(inner)})"
            case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
                return f"({self._write(left)} {_OPERATORS[type(operator)]} {self._write(right)})"
            case ast.Call(ast.Attribute(owner, "item"), [], []):
                return self._write(owner)
            case ast.Call(ast.Attribute(owner, "bit_length"), [], []):
                return f"{self._torch}.frexp({self._write(owner)}).exponent"
            case ast.Call(ast.Attribute(owner, "astype"), [_], []):
                return f"{self._write(owner)}.trunc()" if self._is_int(node) else self._write(owner)
            case ast.Call(function, values, []) if (last_name(function), len(values)) in _OPS:
                form = _OPS[last_name(function), len(values)]
                return form.format(*map(self._write, values), torch=self._torch)
        raise CannotRewrite("no op computes this expression")

    def _is_int(self, node: ast.expr) -> bool:
        """Whether Python's number is an int."""
        match node:
            case ast.UnaryOp(ast.USub(), inner) | ast.Call(ast.Attribute(inner, "item"), [], []):
                return self._is_int(inner)
            case ast.BinOp(left, operator, right):
                return not isinstance(operator, ast.Div) and all(map(self._is_int, (left, right)))
            case ast.Call(ast.Attribute(_, "astype"), [kind], []):
                return "int" in self._of(kind)
            case ast.Call(function, values, _) if last_name(function) in ("min", "max"):
                return all(map(self._is_int, values))
            case ast.Call(function) if self._asks(node):
                by_numpy = getattr(function, "value", None)
                is_float = by_numpy is not None and self._of(by_numpy) in self._numpy
                name = last_name(function)
                return name in _INTS and not (is_float and name in ("floor", "ceil", "trunc"))
        return not (isinstance(node, ast.Constant) and isinstance(node.value, float))

    def _asks(self, node: ast.expr) -> bool:
        """Whether something in an expression asks a size for its number."""
        for part in ast.walk(node):
            match part:
                case ast.Call(ast.Name("int" | "round"), values):
                    computed = (inner for value in values for inner in ast.walk(value))
                    if any(isinstance(inner, ast.Call | ast.BinOp) for inner in computed):
                        return True
                case ast.Call(ast.Attribute(_, "bit_length")):
                    return True
                case ast.Call(ast.Attribute(owner)) if self._of(owner) in self._libraries:
                    return True
        return False


def _is_of_sizes(node: ast.AST) -> bool:
    """Whether code calls nothing, or what gives a size: a method of a tensor may give data."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr in ("size", "numel", "dim")
    return called is None or getattr(called, "id", "") in ("len", "min", "max", "abs")
