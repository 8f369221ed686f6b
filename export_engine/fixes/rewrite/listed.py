"""Lists that a loop fills by place, or goes through as pieces, as loops that append and cut.

`outs = [None] * n` with `outs[t] = v` is a list that is appended to; `outs.insert(0, v)` is one
that is turned behind the loop. Of `torch.split(x, lengths.tolist())` each piece is a slice of `x`.
Of a loop over the rows of `x`, `x[i:i + 1]` is `x[i].unsqueeze(0)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from export_engine.fixes.rewrite.form import (
    Block,
    Function,
    Namer,
    call,
    change_children,
    find_names,
    let,
    load,
    map_children,
    mark,
    method,
    parse_expression,
)


def append_in_order(function: Function) -> Function:
    """A function whose lists are appended to in the order of the loop; the same if all are."""
    return function.with_body(_appending(function.node, function.node.body))


def cut_pieces(function: Function) -> Function:
    """A function that cuts tensors where it went through pieces of them; the same without any."""
    names = Namer(find_names(function.node))
    return function.with_body(_cutting(function.node, function.node.body, names))


def take_rows(function: Function) -> Function:
    """A function that reads the slices of one row that its loops cut by their rows."""
    return function.with_body([_Rows().visit(statement) for statement in function.node.body])


def _at(node: ast.stmt, origin: ast.stmt, part: str = "") -> ast.stmt:
    return mark(ast.copy_location(node, origin), origin, part)


# -- lists that are filled by place -------------------------------------------------------------


def _appending(function: ast.FunctionDef, body: Block) -> Block:
    statements: Block = []
    for statement in body:
        appending_loop = (
            _find_appending_loop(function, statement) if isinstance(statement, ast.For) else None
        )
        if appending_loop is None:
            statements.append(statement)
            continue
        name, loop, is_turned, start = appending_loop
        begun = [_at(let(name, ast.List([], ast.Load())), start)] if start else []
        statements = [new for old in statements for new in (begun if old is start else [old])]
        statements.append(loop)
        if is_turned:
            back = parse_expression(f"{name}[::-1]")
            statements.append(_at(let(name, back), statement, "turned"))
    return statements


def _find_appending_loop(
    function: ast.FunctionDef, loop: ast.For
) -> tuple[str, ast.stmt, bool, ast.stmt | None] | None:
    """The list that a loop fills, the loop that appends, whether its order is other, its start."""
    for at, statement in enumerate(loop.body):
        match statement:
            case ast.Assign([ast.Subscript(ast.Name(id=name), ast.Name(id=index))], value):
                start = _find_start(function, name)
                order = _find_order(loop, index, start)
                is_turned = order == "down"
                if order is None:
                    continue
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Name(id=name), "insert"), [ast.Constant(value=0), value])
            ):
                start, is_turned = None, True
            case _:
                continue
        uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
        if len(uses) > 1:
            continue
        appended = _at(ast.Expr(method(load(name), "append", value)), statement)
        body = [*loop.body[:at], appended, *loop.body[at + 1 :]]
        result = _at(ast.For(loop.target, loop.iter, body, loop.orelse), loop)
        return name, result, is_turned, start
    return None


def _find_start(function: ast.FunctionDef, name: str) -> ast.Assign | None:
    """The statement `outs = [None] * n`, if it alone binds a list of this name."""
    stored = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]
    for statement in function.body:
        match statement:
            case ast.Assign([ast.Name(id=own)], ast.BinOp(ast.List([_]), ast.Mult(), _)):
                if own == name and len(stored) == 1:
                    return statement
    return None


def _find_order(loop: ast.For, index: str, start: ast.Assign | None) -> str | None:
    """Whether a loop goes up or down over every place of a list; None for another loop."""
    if start is None or not isinstance(loop.target, ast.Name) or loop.target.id != index:
        return None
    assert isinstance(start.value, ast.BinOp)
    count = ast.unparse(start.value.right)
    down = (f"range({count} - 1, -1, -1)", f"reversed(range({count}))")
    return {f"range({count})": "up", **dict.fromkeys(down, "down")}.get(ast.unparse(loop.iter))


# -- pieces of lengths that the program knows ----------------------------------------------------


def _cutting(function: ast.FunctionDef, body: Block, names: Namer) -> Block:
    statements: Block = []
    for other_statement in body:
        result, checks, gone = other_statement, Block(), set[int]()
        for over, target in list(_find_iterated(other_statement)):
            cut = _find_cut(function, over)
            piece = target.elts[1] if isinstance(target, ast.Tuple) else target
            if cut is None or not isinstance(piece, ast.Name):
                continue
            of, lengths, made_by = cut
            ends = [names.new("start"), names.new("end")]
            result = _Cutting(over, piece.id, of, lengths, ends).visit(result)
            gone |= {id(statement) for statement in made_by}
            text = f"{ast.unparse(lengths)}.sum() == {ast.unparse(of)}.shape[0]"
            node = ast.Constant("the lengths do not cover all pieces")
            check = call("torch._assert_async", parse_expression(text), node)
            checks.append(_at(ast.Expr(check), other_statement, "lengths"))
        statements = [old for old in statements if id(old) not in gone]
        statements += [*checks, result]
    return statements


def _find_iterated(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What loops and comprehensions of a statement go through, and their targets."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.For | ast.comprehension):
            match inner.iter, inner.target:
                case ast.Call(ast.Name(id="enumerate"), [of]), ast.Tuple([_, _]):
                    yield of, inner.target
                case _, ast.Name():
                    yield inner.iter, inner.target


def _find_cut(
    function: ast.FunctionDef, node: ast.expr
) -> tuple[ast.expr, ast.expr, list[ast.stmt]] | None:
    """The tensor that is split, the lengths of its pieces, and what only names them."""
    node, made_by = _follow(function, node)
    match node:
        case ast.Call(ast.Attribute(ast.Name(id="torch"), "split"), [of, sizes, *dims], keywords):
            pass
        case ast.Call(ast.Attribute(of, "split"), [sizes, *dims], keywords):
            pass
        case _:
            return None
    dims += [keyword.value for keyword in keywords]
    if any(not isinstance(dim, ast.Constant) or dim.value != 0 for dim in dims):
        return None
    sizes, more = _follow(function, sizes)
    match sizes:
        case ast.Call(ast.Attribute(lengths, "tolist"), []):
            if isinstance(of, ast.Name | ast.Attribute):
                return of, lengths, [*made_by, *more]
    return None


def _follow(function: ast.FunctionDef, node: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
    """What a name that is read once is bound to, and the statement."""
    if not isinstance(node, ast.Name):
        return node, []
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == node.id]
    for statement in function.body:
        match statement:
            case ast.Assign([ast.Name(id=name)], value) if name == node.id and len(uses) == 2:
                return value, [statement]
    return node, []


class _Cutting:
    """Puts the ends of pieces in the place of what is gone through, and a slice in that of one."""

    def __init__(
        self, over: ast.expr, piece: str, of: ast.expr, lengths: ast.expr, ends: list[str]
    ) -> None:
        self.over, self.piece = over, piece
        ended = method(lengths, "cumsum", ast.Constant(0))
        self.rows = call("zip", ast.BinOp(ended, ast.Sub(), lengths), ended)
        self.slice = ast.Subscript(of, ast.Slice(load(ends[0]), load(ends[1])), ast.Load())
        self.ends = ast.Tuple([ast.Name(end, ast.Store()) for end in ends], ast.Store())

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        if node is self.over:
            return self.rows
        if isinstance(node, ast.Name) and node.id == self.piece:
            return self.ends if isinstance(node.ctx, ast.Store) else self.slice
        return change_children(node, self.visit)


# -- slices of one row ---------------------------------------------------------------------------


class _Rows:
    """Reads `x[i:i + 1]` as a row of `x`, in a loop whose `i` is the number of each."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, int]] = {}
        """By the variable of a loop, the tensor and the dim whose rows it numbers."""
        self.counters: set[str] = set()
        """The variables of loops that count."""

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        match node:
            case ast.For(target=ast.Name(id=index)) if index not in _find_rebound(node):
                numbered = _find_numbered(node.iter)
            case _:
                index, numbered = "", None
        outer = self.rows, self.counters
        if numbered is not None:
            self.rows = {**self.rows, index: numbered}
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        self.counters = self.counters.union(*map(_find_counters, loops))
        result = map_children(node, self.visit)
        self.rows, self.counters = outer
        if isinstance(result, ast.Subscript) and isinstance(result.ctx, ast.Load):
            result = self._take_row(result)
        return node if result is node else mark(result, node)

    def _take_row(self, node: ast.Subscript) -> ast.expr:
        match node.slice:
            case ast.Tuple([ast.Name(id=name), *rest]) if name in self.counters:
                if any(_is_cut(part) for part in rest):
                    index = ast.Tuple(rest, ast.Load()) if len(rest) > 1 else rest[0]
                    of_row = mark(ast.Subscript(node.value, load(name), ast.Load()), node, "row")
                    return ast.Subscript(of_row, index, ast.Load())
        whole = isinstance(node.slice, ast.Tuple)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for dim, index in enumerate(indices):
            match index:
                case ast.Slice(ast.Name(id=name), ast.BinOp(ast.Name(id=again), ast.Add(), more)):
                    is_one = isinstance(more, ast.Constant) and more.value == 1
                case _:
                    continue
            of = (ast.unparse(node.value), dim)
            sliced = all(isinstance(before, ast.Slice) for before in indices[:dim])
            if name != again or not is_one or not sliced or self.rows.get(name) != of:
                continue
            taken = [*indices[:dim], load(name), *indices[dim + 1 :]]
            at = ast.Tuple(taken, ast.Load()) if whole else load(name)
            row = ast.Subscript(node.value, at, ast.Load())
            return method(row, "unsqueeze", ast.Constant(dim))
        return node


def _find_counters(loop: ast.For | ast.comprehension) -> set[str]:
    """The variable of a loop that counts, if its body does not bind it."""
    match loop.target, loop.iter:
        case (ast.Name(id=name), ast.Call(ast.Name(id="range"))) | (
            ast.Tuple([ast.Name(id=name), _]),
            ast.Call(ast.Name(id="enumerate")),
        ):
            return {name} - (_find_rebound(loop) if isinstance(loop, ast.For) else set())
    return set()


def _is_cut(part: ast.expr) -> bool:
    """Whether a slice ends where an expression says."""
    ends = (part.lower, part.upper) if isinstance(part, ast.Slice) else ()
    return any(not isinstance(end, ast.Constant | ast.UnaryOp | None) for end in ends)


def _find_rebound(loop: ast.For) -> set[str]:
    """Names that the body of a loop binds."""
    names = [n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name)]
    return {name.id for name in names if not isinstance(name.ctx, ast.Load)}


def _find_numbered(over: ast.expr) -> tuple[str, int] | None:
    """The tensor and the dim that a loop counts through: `range(x.shape[0])`, `range(len(x))`."""
    match over:
        case ast.Call(ast.Name(id="range"), [count], []):
            pass
        case _:
            return None
    match count:
        case ast.Call(ast.Name(id="len"), [of], []):
            return ast.unparse(of), 0
        case ast.Subscript(ast.Attribute(of, "shape"), ast.Constant(int(dim))) | ast.Call(
            ast.Attribute(of, "size"), [ast.Constant(int(dim))], []
        ):
            return ast.unparse(of), dim
    return None


__all__ = ["append_in_order", "cut_pieces", "take_rows"]
