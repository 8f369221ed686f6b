"""`a, b = x.chunk(2)` and `x.split(4)[-1]` as pieces of symbolic sizes, checked as in eager.

How many pieces `split` and `chunk` give depends on the size, and a program has a fixed number of
tensors. Where so many names take them, eager raises for all sizes that give another number; where
one piece is taken, the others do not matter.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Source, free_name

_PARAMETERS = {
    "split": (("split_size_or_sections", "split_size"), "dim"),
    "chunk": (("chunks",), "dim"),
    "tensor_split": (("indices_or_sections", "sections"), "dim"),
}
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_WHERE_NEEDED = (
    *(ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.NamedExpr, ast.Await),
)
"""What need not evaluate a part of it, or binds the names in it."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Which evaluate at once what their first loop runs over."""


class Cut(NamedTuple):
    """A call that cuts a tensor into pieces."""

    tensor: ast.expr
    number: str
    """The size of a piece, but with `split` alone: how many are asked for. Can be multiplied."""
    called: str
    """`split`, `chunk` or `tensor_split`."""
    dim: str

    @property
    def chunked(self) -> bool:
        """Whether it is asked for a number of pieces, and gives fewer where it can."""
        return self.called == "chunk"


def in_pieces(source: Source, statement: ast.stmt, *, unpacked: bool) -> list[Piece]:
    """The pieces of text that replace what a statement cuts; none for another.

    Args:
        source: of the function.
        statement: in it.
        unpacked: whether to replace a call whose pieces get a name each, too.
    """
    value = statement.value if isinstance(statement, _SIMPLE) else None
    if value is None:
        return []
    try:
        if unpacked and isinstance(statement, ast.Assign):
            pieces = _replace_unpacking(source, statement)
            if pieces:
                return pieces
        return _replace_subscript(source, statement, value) or _sections(source, statement, value)
    except CannotRewrite:
        return []


def cut_of(source: Source, call: ast.expr) -> Cut | None:
    """What `x.split(2, 1)` and `torch.chunk(x, 2)` cut; None for what gives sizes in a list."""
    called = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(called, ast.Attribute):
        return None
    if called.attr not in _PARAMETERS or any(
        isinstance(argument, ast.Starred) for argument in call.args
    ):
        return None
    numbers, dim = _PARAMETERS[called.attr]
    of_torch = source.of(called.value) == source.torch
    expressions = list(call.args) if of_torch else [called.value, *call.args]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    for names in (("tensor", "input"), numbers, (dim,))[len(expressions) :]:
        value = next((named[name] for name in names if name in named), None)
        if value is None and names == (dim,):
            value = ast.Constant(0)
        if value is None:
            return None
        expressions.append(value)
    if len(expressions) != 3 or not _can_be_repeated(expressions[1]):
        return None
    return Cut(expressions[0], _factor(expressions[1]), called.attr, ast.unparse(expressions[2]))


def _can_be_repeated(number: ast.expr) -> bool:
    """Whether an expression is a number, as far as its text says, and may be evaluated again."""
    calls = [node for node in ast.walk(number) if isinstance(node, ast.Call)]
    sizes = (isinstance(call.func, ast.Attribute) and call.func.attr == "size" for call in calls)
    return not isinstance(number, ast.List | ast.Tuple | ast.ListComp | ast.Dict) and all(sizes)


def _factor(number: ast.expr) -> str:
    text = ast.unparse(number)
    plain = ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.Call
    return text if isinstance(number, plain) else f"({text})"


def _replace_unpacking(source: Source, statement: ast.Assign) -> list[Piece]:
    """`a, b = x.split(4)` with the last piece as long as what is left."""
    target, call = statement.targets[0], statement.value
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if len(names) < 2 or any(isinstance(name, ast.Starred) for name in names):
        return []
    cut = cut_of(source, call)
    if cut is None or cut.called == "tensor_split":
        return []
    if cut.chunked and cut.number != str(len(names)):
        return []
    tensor, lines = _name_tensor(source, statement, cut)
    rest, size = len(names) - 1, f"{tensor}.shape[{cut.dim}]"
    text = f"({size} + {rest}) // {len(names)}" if cut.chunked else cut.number
    one = f"({text})" if cut.chunked else text
    before = one if rest == 1 else f"{rest} * {one}"
    if cut.chunked:  # without elements there are as many pieces as asked for
        lines.append(_check(source, f"{size} >= {before} + {source.torch}.sym_min({size}, 1)"))
    else:
        lines.append(_check(source, f"{size} > {before}"))
        lines.append(_check(source, f"{size} <= {rest + 1} * {one}"))
    last = f"{size} - {text if rest == 1 and not cut.chunked else before}"
    sizes = f"[{text}, {last}]" if rest == 1 else f"[{text}] * {rest} + [{last}]"
    return _replace(source, statement, call, lines, f"{tensor}.split({sizes}, {cut.dim})")


def _replace_subscript(source: Source, statement: ast.stmt, value: ast.expr) -> list[Piece]:
    """`x.split(4)[1]` as a part of the tensor."""
    for node in _always_evaluated(value):
        cut = cut_of(source, node.value) if isinstance(node, ast.Subscript) else None
        if cut is None or not isinstance(node, ast.Subscript) or cut.called == "tensor_split":
            continue
        try:
            index = ast.literal_eval(node.slice)
        except ValueError:
            continue
        if type(index) is not int:
            continue
        if not isinstance(cut.tensor, ast.Name) and node is not value:
            raise CannotRewrite("the tensor would be evaluated earlier")
        tensor, lines = _name_tensor(source, statement, cut)
        checks, text = _part(source, tensor, cut, index)
        return _replace(source, statement, node, lines + checks, text)
    return []


def _sections(source: Source, statement: ast.stmt, value: ast.expr) -> list[Piece]:
    """`x.tensor_split(3)` with the size of each piece, of which the first ones are longer."""
    for node in _always_evaluated(value):
        cut = cut_of(source, node)
        if cut is None or cut.called != "tensor_split" or not cut.number.isdigit():
            continue
        if not isinstance(cut.tensor, ast.Name) and node is not value:
            raise CannotRewrite("the tensor would be evaluated earlier")
        tensor, lines = _name_tensor(source, statement, cut)
        count, more = int(cut.number), free_name("more", source.names)
        size = f"({tensor}.shape[{cut.dim}] + {more}) // {count}"
        sizes = f"[{size} for {more} in range({count - 1}, -1, -1)]"
        return _replace(source, statement, node, lines, f"{tensor}.split({sizes}, {cut.dim})")
    return []


def _part(source: Source, tensor: str, cut: Cut, index: int) -> tuple[list[str], str]:
    """Checks that there is a piece, and that piece."""
    torch, size = source.torch, f"{tensor}.shape[{cut.dim}]"
    length = f"(({size} + {cut.number} - 1) // {cut.number})" if cut.chunked else cut.number
    checks = []
    if not cut.chunked and not length.isdigit():
        checks.append(_check(source, f"{length} > 0"))
    if index >= 0:
        start = "0" if index == 0 else length if index == 1 else f"{index} * {length}"
        left = f"{size} - {start}" if index else size
        if index and cut.chunked:  # without elements there are as many pieces as asked for
            checks.append(_check(source, f"{size} >= {start} + {torch}.sym_min({size}, 1)"))
        elif index:
            checks.append(_check(source, f"{size} > {start}"))
        return checks, f"{tensor}.narrow({cut.dim}, {start}, {torch}.sym_min({length}, {left}))"
    length = f"{torch}.sym_max({length}, 1)" if cut.chunked else length
    start = f"{torch}.sym_max({size} - 1, 0) // {length} * {length}"
    if index == -1:
        return checks, f"{tensor}.narrow({cut.dim}, {start}, {size} - {start})"
    if cut.chunked:
        raise CannotRewrite("an empty tensor has as many pieces as requested")
    start = f"{start} - {-index - 1} * {length}"
    checks.append(_check(source, f"{start} >= 0"))
    return checks, f"{tensor}.narrow({cut.dim}, {start}, {length})"


def _always_evaluated(value: ast.expr) -> list[ast.expr]:
    """The parts of an expression that are evaluated whenever it is."""
    nodes, waiting = list[ast.expr](), list[ast.AST]([value])
    while waiting:
        node = waiting.pop()
        if isinstance(node, _COMPREHENSIONS):
            waiting.append(node.generators[0].iter)
        if isinstance(node, _WHERE_NEEDED):
            continue
        if isinstance(node, ast.expr):
            nodes.append(node)
        waiting += ast.iter_child_nodes(node)
    return nodes


def _name_tensor(source: Source, statement: ast.stmt, cut: Cut) -> tuple[str, list[str]]:
    """The name of what is cut, and the lines that give it one."""
    if isinstance(cut.tensor, ast.Name):
        return cut.tensor.id, []
    name = free_name("_whole", source.names)
    return name, [f"{name} = {source.of(cut.tensor)}"]


def _check(source: Source, condition: str) -> str:
    return f"{source.torch}._check({condition})"


def _replace(
    source: Source, statement: ast.stmt, call: ast.expr, lines: list[str], made: str
) -> list[Piece]:
    pieces = [Piece(source.start(call), source.end(call), made)]
    if lines:
        indent, start = source.indent(statement), source.start(statement)
        before = "".join(f"{line}\n{indent}" for line in lines)
        pieces.insert(0, Piece(start, start, before))
    return pieces
