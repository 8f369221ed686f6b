"""Lists that a loop fills by place, or goes through as pieces, as loops that append and cut.

`outs = [None] * n` with `outs[t] = v` is a list that is appended to; `outs.insert(0, v)` is one
that is turned after the loop. Each piece of `torch.split(x, lengths.tolist())` is a slice of `x`.
`out = torch.cat([out, v])` is a list that is appended to, and joined after the loop.
A `deque` that stays in the function is a list of its last elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.form import (
    Block,
    Function,
    Namer,
    call,
    change_blocks,
    change_children,
    fill,
    find_names,
    find_stored,
    let,
    load,
    mark,
    method,
    parse_expression,
    replace_nodes,
)


def append_in_order(function: Function) -> Function:
    """A function whose lists are appended to in the order of the loop; the same if all are."""
    return function.with_body(_appending(function.node, function.node.body))


def cut_pieces(function: Function) -> Function:
    """A function that cuts tensors where it went through pieces of them; the same without any."""
    names = Namer(find_names(function.node))
    return function.with_body(_cutting(function.node, function.node.body, names))


def list_deques(function: Function) -> Function:
    """A function whose deques are lists; the same one where it has none."""
    most: dict[str, int | None] = {}
    for node in ast.walk(function.node):
        match node:
            case ast.Assign([ast.Name(id=name)], ast.Call(of, _, keywords)):
                if ast.unparse(of).rpartition(".")[2] == "deque":
                    most[name] = _find_most(keywords)
    stays = [name for name in most if not _is_given_away(function.node, name)]
    if not stays:
        return function
    deques = _Deques({name: most[name] for name in stays})
    body = [new for statement in function.node.body for new in deques.statement(statement)]
    return function.with_body(body)


def append_grown(function: Function, name: str) -> Function:
    """A function that collects what its loops join to a tensor, and joins it after them.

    Raises:
        CannotRewrite: the loops do more with it.
    """
    names = Namer(find_names(function.node))
    body: Block = []
    for statement in function.node.body:
        is_loop = isinstance(statement, ast.For | ast.While)
        if is_loop and name in find_stored(statement):
            body += _Grown(statement, name, names).find_statements()
        else:
            body.append(statement)
    return function.with_body(body)


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


# -- tensors that a loop makes longer ------------------------------------------------------------


class _Grown:
    """One loop with an append in the place of `out = torch.cat([out, v])`."""

    def __init__(self, loop: ast.stmt, name: str, names: Namer) -> None:
        self.loop, self.name, self.names = loop, name, names
        self.parts, self.last = names.new(f"{name}_parts"), names.new(f"last_{name}")
        self.end: ast.expr | None = None
        """The expression that reads the last element."""
        uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
        stored = [n for n in ast.walk(loop) if isinstance(n, ast.stmt) and self._is_bound(n)]
        joined = [self._find_joined(n) for n in stored]
        pair = joined[0] if len(joined) == 1 else None
        if pair is None:
            raise CannotRewrite(f"`{name}` is used for more than concatenation in a loop")
        self.dim, allowed = pair[0], 2
        for node in ast.walk(loop):
            match node:
                case ast.Subscript(ast.Name(id=own), index, ast.Load()) if own == name:
                    if _find_last(index) == self.dim:
                        self.end = node
                        allowed += 1
        if len(uses) != allowed:
            raise CannotRewrite(f"`{name}` is used for more than concatenation in a loop")

    def _is_bound(self, node: ast.stmt) -> bool:
        return not hasattr(node, "body") and self.name in find_stored(node)

    def _find_joined(self, node: ast.stmt) -> tuple[int, ast.expr] | None:
        """The dim and the value that a statement joins to the tensor."""
        match node:
            case ast.Assign(
                [ast.Name()],
                ast.Call(
                    ast.Attribute(ast.Name(id="torch"), "cat" | "concat"),
                    [
                        ast.List([ast.Name(id=own), part]) | ast.Tuple([ast.Name(id=own), part]),
                        *dims,
                    ],
                    keywords,
                ),
            ) if own == self.name:
                dims += [keyword.value for keyword in keywords]
                match dims:
                    case []:
                        return 0, part
                    case [ast.Constant(value=int() as dim)]:
                        return dim, part
        return None

    def find_statements(self) -> Block:
        """The statements before the loop, the loop, and the statements after it."""
        loop, name = self.loop, self.name
        result = change_blocks(loop, self._statement, self._visit)
        before = [_at(let(self.parts, ast.List([], ast.Load())), loop, self.parts)]
        if self.end is not None:
            end = parse_expression(f"{name}.select({self.dim}, -1).unsqueeze({self.dim})")
            before.append(_at(let(self.last, end), loop, self.last))
        text = f"torch.cat([{name}, torch.cat({self.parts}, {self.dim})], {self.dim})"
        return [*before, result, _at(let(name, parse_expression(text)), loop, "joined")]

    def _statement(self, node: ast.stmt) -> Block:
        pair = self._find_joined(node) if self._is_bound(node) else None
        if pair is None:
            return [change_blocks(node, self._statement, self._visit)]
        part: ast.expr = self._visit(pair[1])
        if self.end is None:
            return [_at(ast.Expr(method(load(self.parts), "append", part)), node)]
        row = self.names.new(f"{self.name}_part")
        assert isinstance(self.end, ast.Subscript)
        end = mark(ast.Subscript(load(row), self.end.slice, ast.Load()), node, "end")
        append = _at(ast.Expr(method(load(self.parts), "append", load(row))), node)
        return [_at(let(row, part), node, "part"), append, _at(let(self.last, end), node, "last")]

    def _visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Subscript(ast.Name(id=own), _, ast.Load()) if own == self.name:
                return load(self.last)
        return change_children(node, self._visit)


def _find_last(index: ast.expr) -> int | None:
    """The dim of which `x[-1:]` or `x[:, -1:]` takes the last element; None for another index."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    *before, last = map(ast.unparse, parts)
    return len(before) if last == "-1:" and set(before) <= {":"} else None


# -- deques --------------------------------------------------------------------------------------


def _find_most(keywords: list[ast.keyword]) -> int | None:
    """The number of elements that a deque has at most; 0 where it is not written out."""
    for keyword in keywords:
        value = getattr(keyword.value, "value", 0)
        return value if isinstance(value, int) or value is None else 0
    return None


def _is_given_away(function: ast.FunctionDef, name: str) -> bool:
    """Whether a deque leaves the function, or is bound more than once."""
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    stored = [n for n in uses if not isinstance(n.ctx, ast.Load)]
    away = [n.value for n in ast.walk(function) if isinstance(n, ast.Return | ast.Assign)]
    return len(stored) > 1 or any(isinstance(n, ast.Name) and n.id == name for n in away)


class _Deques:
    """Puts lists in the place of deques."""

    def __init__(self, most: dict[str, int | None]) -> None:
        self.most = {name: count for name, count in most.items() if count != 0}

    def statement(self, node: ast.stmt) -> Block:
        """The statements that replace a statement."""
        match node:
            case ast.Assign([ast.Name(id=name)], ast.Call(_, args)) if name in self.most:
                of: ast.expr = ast.List([ast.Starred(args[0])] if args else [], ast.Load())
                if args and isinstance(args[0], ast.List | ast.ListComp | ast.BinOp):
                    of = args[0]
                return [_at(let(name, self._cut(name, of, args)), node)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), how), args)) if (
                name in self.most
            ):
                if how == "appendleft" and self.most[name] is None:
                    first = [ast.Constant(0), *args]
                    return [_at(ast.Expr(method(load(name), "insert", *first)), node)]
                new = self._change(name, how, args)
                return [node if new is None else _at(let(name, new), node)]
            case ast.Assign([_], ast.Call(ast.Attribute(ast.Name(id=name) as of, "popleft"), [])):
                if name in self.most:
                    popped = method(of, "pop", ast.Constant(0))
                    return [_at(ast.Assign(node.targets, popped), node)]
        return [change_blocks(node, self.statement, lambda n: replace_nodes(n, self._find_list))]

    def _find_list(self, node: ast.AST) -> ast.expr | None:
        """The list of `list(name)`."""
        match node:
            case ast.Call(ast.Name(id="list" | "tuple"), [ast.Name(id=name)]) if name in self.most:
                return load(name)
        return None

    def _change(self, name: str, how: str, args: list[ast.expr]) -> ast.expr | None:
        """The list after a method, None where a list has the same one."""
        most = self.most[name]
        match how, args:
            case "append", [value] if most is not None:
                return fill(f"[*{name}, $value][-{most}:]", value=value)
            case "appendleft", [value]:
                return fill(f"[$value, *{name}][:{most}]", value=value)
            case "popleft", []:
                return parse_expression(f"{name}[1:]")
        return None

    def _cut(self, name: str, of: ast.expr, args: list[ast.expr]) -> ast.expr:
        """The last elements of a list."""
        most = self.most[name]
        return of if most is None or not args else fill(f"$of[-{most}:]", of=of)


# -- pieces of lengths that the program knows ----------------------------------------------------


def _cutting(function: ast.FunctionDef, body: Block, names: Namer) -> Block:
    statements: Block = []
    for body_statement in body:
        result, checks, gone = body_statement, Block(), set[int]()
        for over, target in list(_find_iterated(body_statement)):
            cut = _find_cut(function, over)
            piece = target.elts[1] if isinstance(target, ast.Tuple) else target
            if cut is None or not isinstance(piece, ast.Name):
                continue
            of, lengths, made_by = cut
            ends = [names.new("start"), names.new("end")]
            result = replace_nodes(result, _make_cut(over, piece.id, of, lengths, ends))
            gone |= {id(statement) for statement in made_by}
            text = f"{ast.unparse(lengths)}.sum() == {ast.unparse(of)}.shape[0]"
            node = ast.Constant("the lengths do not cover all pieces")
            check = call("torch._assert_async", parse_expression(text), node)
            checks.append(_at(ast.Expr(check), body_statement, "lengths"))
        statements = [old for old in statements if id(old) not in gone]
        statements += [*checks, result]
    return statements


def _find_iterated(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The iterables of a statement's loops and comprehensions, and their targets."""
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
    """The value of a name that is read once, and its statement."""
    if not isinstance(node, ast.Name):
        return node, []
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == node.id]
    for statement in function.body:
        match statement:
            case ast.Assign([ast.Name(id=name)], value) if name == node.id and len(uses) == 2:
                return value, [statement]
    return node, []


def _make_cut(
    over: ast.expr, piece: str, of: ast.expr, lengths: ast.expr, ends: list[str]
) -> Callable[[ast.AST], ast.AST | None]:
    """A change of the iterable into the ends of pieces, and of a piece into a slice."""
    ended = method(lengths, "cumsum", ast.Constant(0))
    rows = call("zip", ast.BinOp(ended, ast.Sub(), lengths), ended)
    cut = ast.Subscript(of, ast.Slice(load(ends[0]), load(ends[1])), ast.Load())
    targets = ast.Tuple([ast.Name(end, ast.Store()) for end in ends], ast.Store())

    def change(node: ast.AST) -> ast.AST | None:
        if node is over:
            return rows
        if isinstance(node, ast.Name) and node.id == piece:
            return targets if isinstance(node.ctx, ast.Store) else cut
        return None

    return change


__all__ = ["append_grown", "append_in_order", "cut_pieces", "list_deques"]
