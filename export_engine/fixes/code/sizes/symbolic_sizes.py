"""Rewrites Python and NumPy around sizes, so that a size stays symbolic where its number is asked.

torch has functions that keep it symbolic, and that are Python's own for plain numbers.
"""

from __future__ import annotations

import ast
import re

from export_engine.fixes.code.editing.bound_names import find_assignment
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.code.sizes.chunk_split import in_pieces
from export_engine.fixes.code.sizes.number_lists import by_indices
from export_engine.fixes.rules.factories import by_arange

_FORMAT = re.compile(r"(?<!\{)\{([^{}:!]+):[^{}]*\}")
"""A value of an f-string that has a format: `{n:>4}`."""
_TO_NUMBER = {"int": "sym_int", "float": "sym_float"}
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


def symbolic(
    text: str, lines: set[int], *, pieces: bool = False, length: str = LENGTHS[0]
) -> tuple[Rewritten, list[str]]:
    """The text with sizes kept symbolic at some lines of one function, and what was replaced.

    Args:
        text: of the file.
        lines: of the function.
        pieces: whether to cut tensors into pieces of symbolic sizes where each has a name, too,
            which a Dim cannot say.
        length: what takes the place of `len`, behind its argument.

    Raises:
        CannotRewrite: that line needs no concrete size.
    """
    source = Source(text, min(lines))
    idioms = _Idioms(source, length)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Call):
            idioms.of_a_named_list(node, lines)
        if isinstance(node, ast.Call) and _lines(node) & lines:
            idioms.call(node)
        elif isinstance(node, ast.JoinedStr) and _lines(node) & lines:
            idioms.text(node)
    for statement in ast.walk(source.function):
        if isinstance(statement, ast.stmt) and _lines(statement) & lines:
            cut = in_pieces(source, statement, unpacked=pieces)
            if cut:
                idioms.names.append(source.text[cut[-1].start : cut[-1].end])
                idioms.pieces += cut
    if not idioms.pieces:
        raise CannotRewrite("that line needs no concrete size")
    return source.replace(idioms.list_pieces()), idioms.names


def _lines(node: ast.expr | ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _last_name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


class _Idioms:
    """The replacements in one function."""

    def __init__(self, source: Source, length: str) -> None:
        self.source, self.torch, self.length = source, source.torch, length
        self.numpy, self.math = source.names_of("numpy"), source.names_of("math")
        self.pieces: list[Piece] = []
        self.names: list[str] = []
        self.list_takers = {f"{self.torch}.{other_text}" for other_text in ("tensor", "as_tensor")}
        self.inside: set[ast.AST] = set()
        """Of calls that are replaced as a whole, all that is in them."""
        self.rounded = {
            part
            for node in ast.walk(source.function)
            if isinstance(node, ast.Call) and _last_name(node.func) in (*_ROUNDED, "int", "round")
            for part in node.args[:1]
        }
        """What is made an int, which no tensor is."""
        self.looked_up = {
            key
            for node in ast.walk(source.function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if node.func.attr == "get"
            for key in node.args[:1]
        }
        """Keys of dicts, which no symbol is."""

    def list_pieces(self) -> list[Piece]:
        """The pieces, none of which overlap: each is a name, or a bracket, of its own."""
        kept: list[Piece] = []
        for piece in sorted(set(self.pieces)):
            if not kept or piece.start >= kept[-1].end:
                kept.append(piece)
        return kept

    def call(self, node: ast.Call) -> None:
        """Records what replaces a call."""
        pieces = self._replace(node) if node not in self.inside else None
        if pieces is not None:
            self.names.append(self.source.of(node.func))
            self.pieces += pieces
            if pieces == self._name_value(node, pieces[0].text):
                self.inside |= set(ast.walk(node))

    def of_a_named_list(self, node: ast.Call, lines: set[int]) -> None:
        """Records what replaces `torch.tensor(rows)`, of a list that gets its name at a line."""
        name = node.args[0] if node.args and isinstance(node.args[0], ast.Name) else None
        assignment = find_assignment(self.source.function, name.id) if name is not None else None
        if name is None or assignment is None or not _lines(assignment) & lines:
            return
        uses = [n for n in ast.walk(self.source.function) if getattr(n, "id", "") == name.id]
        if len(uses) != 2 or self.source.of(node.func) not in self.list_takers:
            return
        whole = ast.Call(node.func, [assignment.value, *node.args[1:]], node.keywords)
        computed = by_indices(whole, self.torch, self.math, self.source.of)
        if computed is not None:
            self.names.append(self.source.of(assignment.value))
            self.pieces += [
                *self._name_value(node, computed),
                *self._name_value(assignment.value, "None"),
            ]

    def text(self, node: ast.JoinedStr) -> None:
        """Records an f-string without its formats of numbers, which a symbol does not take."""
        message = _FORMAT.sub(r"{\1!s}", self.source.of(node))
        if message != self.source.of(node):
            self.names.append(self.source.of(node))
            self.pieces += self._name_value(node, message)

    def _replace(self, node: ast.Call) -> list[Piece] | None:
        function = node.func
        rounded = self._find_rounded(node)
        if rounded:
            return self._name_value(node, rounded)
        if isinstance(function, ast.Name):
            return self._builtin(node, function.id)
        if not isinstance(function, ast.Attribute):
            return None
        owner = self.source.of(function.value)
        if owner == self.torch or owner.endswith((".fft", "functional")) or owner == "F":
            message = by_arange(node, function.attr, self.torch, self.source.of)
            if message is not None:
                return self._name_value(node, message)
        if not isinstance(function.value, ast.Name):
            return None
        name = function.attr
        if owner in self.numpy | self.math:
            return self._of_math(node, owner, name)
        if owner == self.torch:
            return self._of_torch(node, name)
        if owner == "copy" and name in ("copy", "deepcopy") and self._is_shape(node.args[:1]):
            return self._unwrap(node, "", "")
        return None

    def _builtin(self, node: ast.Call, name: str) -> list[Piece] | None:
        if name in _TO_NUMBER and len(node.args) == 1 and not node.keywords:
            inner = node.args[0]
            if name == "int" and self._rounds(inner):
                return None  # the inner call is replaced, and gives an int
            if self._is_tensor(inner) or node in self.looked_up:
                return None
            return self._name_value(node.func, f"{self.torch}.{_TO_NUMBER[name]}")
        if name == "map" and node.args and isinstance(node.args[0], ast.Name):
            to = _TO_NUMBER.get(node.args[0].id)
            return self._name_value(node.args[0], f"{self.torch}.{to}") if to else None
        if name == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return self._unwrap(node, "", self.length)
        if name == "isinstance" and len(node.args) == 2:
            kind = node.args[1]
            if isinstance(kind, ast.Name) and kind.id == "int":
                return self._name_value(kind, f"(int, {self.torch}.SymInt)")
        return None

    def _rounds(self, node: ast.expr) -> bool:
        """Whether it is a call of NumPy's that is replaced by Python's, which gives an int."""
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or self.source.of(called.value) in self.math:
            return False
        return called.attr in (*_ROUNDED, "prod")

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

    def _is_tensor(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr not in _REDUCED:
            return False
        return self.source.of(called.value) not in self.numpy | self.math

    def _of_math(self, node: ast.Call, owner: str, name: str) -> list[Piece] | None:
        if len(node.args) != 1 or node.keywords:
            return None
        if name == "sqrt":
            return self._name_value(node.func, f"{self.torch}.sym_sqrt")
        if name in _COMPUTED and node not in self.rounded:
            double = f"dtype={self.torch}.float64"
            return self._unwrap(node, f"{self.torch}.{name}({self.torch}.tensor(", f", {double}))")
        if owner in self.math:
            return None
        if name in (*_ROUNDED, "prod"):
            return self._name_value(node.func, f"{self._math}.{name}")
        return None

    def _of_torch(self, node: ast.Call, name: str) -> list[Piece] | None:
        if name in ("tensor", "as_tensor"):
            computed = by_indices(node, self.torch, self.math, self.source.of)
            if computed is not None:
                return self._name_value(node, computed)
        if name == "as_tensor" and node.args and self._is_shape(node.args[:1]):
            argument = node.args[0]
            at, end = self.source.start(argument), self.source.end(argument)
            star = not isinstance(argument, ast.List | ast.Tuple)
            return [
                *self._name_value(node.func, f"{self.torch}.tensor"),
                *([Piece(at, at, "[*"), Piece(end, end, "]")] if star else []),
            ]
        if name == "_shape_as_tensor" and len(node.args) == 1:
            return self._unwrap(node, f"{self.torch}.tensor([*", ".shape])")
        return None

    def _is_shape(self, values: list[ast.expr]) -> bool:
        """Whether a value is a shape, or sizes listed."""
        for value in values:
            inner = value.value if isinstance(value, ast.Subscript) else value
            if isinstance(inner, ast.Attribute) and inner.attr == "shape":
                return True
            called = inner.func if isinstance(inner, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == "size":
                return True
            if isinstance(inner, ast.List | ast.Tuple):
                return True
        return False

    def _name_value(self, node: ast.expr, text: str) -> list[Piece]:
        return [Piece(self.source.start(node), self.source.end(node), text)]

    def _unwrap(self, node: ast.Call, before: str, after: str) -> list[Piece]:
        """The call's argument with other text around it."""
        argument = node.args[0]
        return [
            Piece(self.source.start(node), self.source.start(argument), before),
            Piece(self.source.end(argument), self.source.end(node), after),
        ]
