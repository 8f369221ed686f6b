"""One analysis each: which names matter later, and which writes another name would see."""

from __future__ import annotations

import ast

from export_engine.fixes.rewrite.form import (
    COLLECT,
    WRITE,
    Block,
    find_blocks,
    find_loaded,
    find_site,
    find_stored,
    walk_scope,
)

_VIEWS = frozenset(
    [
        *("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "t"),
        *("permute", "expand", "expand_as", "narrow", "select", "unbind", "split", "chunk"),
        *("contiguous", "float", "double", "half", "long", "int", "bool", "type", "type_as"),
        *("to", "swapaxes", "movedim", "diagonal", "detach", "unfold", "view_as", "ravel"),
        *("numpy", "get", "setdefault"),
    ]
)
"""Methods whose result may share memory with what they are called of."""


class Liveness:
    """Which names' values matter before a statement."""

    @staticmethod
    def before(node: ast.stmt, after: set[str]) -> set[str]:
        """The names that matter before a statement, of those that do after it."""
        if isinstance(node, ast.If):
            ways = Liveness.of(node.body, after) | Liveness.of(node.orelse, after)
            return find_loaded(node.test) | ways
        if isinstance(node, ast.For | ast.While):
            head = find_loaded(node.iter if isinstance(node, ast.For) else node.test)
            target = find_stored(node.target) if isinstance(node, ast.For) else set()
            once = Liveness.of(node.body, after | head) - target
            again = Liveness.of(node.body, after | head | once) - target
            return head | after | again | Liveness.of(node.orelse, after)
        if isinstance(node, ast.FunctionDef):
            own = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
            return (after - {node.name}) | (find_loaded(*node.body) - own - find_stored(*node.body))
        if find_blocks(node):
            return after | find_loaded(node)
        stored = find_stored(node) if isinstance(node, ast.Assign | ast.AnnAssign) else set()
        return (after - stored) | find_loaded(node)

    @staticmethod
    def of(statements: Block, after: set[str]) -> set[str]:
        """The names that matter before a block."""
        for statement in reversed(statements):
            after = Liveness.before(statement, after)
        return after


def find_shared(function: ast.FunctionDef, *, views: bool = True) -> set[str]:
    """Names whose tensor or list another name, an argument, or a list may hold as well.

    Args:
        function: in which they are.
        views: whether elements of a tensor or a list also count.
    """
    names = {inner.arg for inner in ast.walk(function.args) if isinstance(inner, ast.arg)}
    shared = {name for name in names if not _is_bound_first(function, name)}
    for node in walk_scope(function.body):
        match node:
            case ast.Assign([ast.Tuple(parts)], ast.Tuple(values)) if len(parts) == len(values):
                for target, value in zip(parts, values, strict=True):
                    if behind := _find_behind(value, views):
                        shared |= find_stored(target) | behind
            case ast.Assign([target], value) | ast.NamedExpr(target, value):
                for one, its in _find_pairs(target, value):
                    behind = _find_behind(its, views)
                    if isinstance(its, ast.List) and isinstance(one, ast.Name) and not views:
                        shared |= behind  # the list itself is new
                        continue
                    if behind or isinstance(one, ast.Tuple | ast.List):
                        shared |= find_stored(one) | behind
            case ast.Assign(targets, _):
                shared |= set().union(*(find_stored(expression) for expression in targets))
            case ast.For(target, _):
                shared |= find_stored(target)
            case ast.Call(ast.Attribute(_, "append" | "extend" | "insert"), args):
                shared |= {argument.id for argument in args if isinstance(argument, ast.Name)}
    return shared


def _find_pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """What `a, b = c, d` assigns to each, where both sides are as long."""
    match target, value:
        case ((ast.Tuple(targets) | ast.List(targets)), (ast.Tuple(values) | ast.List(values))):
            starred = any(isinstance(expression, ast.Starred) for expression in [*targets, *values])
            if len(targets) == len(values) and not starred:
                return list(zip(targets, values, strict=True))
    return [(target, value)]


def _is_bound_first(function: ast.FunctionDef, name: str) -> bool:
    """Whether the first statement with an argument's name binds it to a new value."""
    for statement in function.body:
        if name in find_loaded(statement) | find_stored(statement):
            match statement:
                case ast.Assign([ast.Name(id=bound)], ast.BinOp() | ast.List() | ast.Constant()):
                    return bound == name
                case ast.Assign([ast.Name(id=bound)], ast.Call(ast.Attribute(attr="clone"))):
                    return bound == name
            return False
    return False


def _find_behind(value: ast.expr, views: bool) -> set[str]:
    """The names whose memory a value may share."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.Subscript(of, _) | ast.Attribute(of, _) | ast.Starred(of) if views:
            return _find_behind(of, views) or {""}
        case ast.Call(ast.Attribute(of, attr), _) if attr in _VIEWS and views:
            return _find_behind(of, views)
        case ast.IfExp(_, first, second):
            return _find_behind(first, views) | _find_behind(second, views)
        case ast.BoolOp(_, values) | ast.Tuple(values) | ast.List(values):
            return set().union(*(_find_behind(expression, views) for expression in values))
    return set()


def find_seen_writes(block: Block, fresh: set[str]) -> set[str]:
    """Names of a normal form that are written while another name may hold the same object.

    Args:
        block: in which they are.
        fresh: names that hold what nothing else does; changed to those after the block.
    """
    seen: set[str] = set()
    for node in block:
        match node:
            case ast.If(_, body, orelse):
                ways = [set(fresh), set(fresh)]
                seen |= find_seen_writes(body, ways[0]) | find_seen_writes(orelse, ways[1])
                fresh &= ways[0] & ways[1]
            case ast.For() | ast.While():
                fresh &= find_fresh(node, fresh)
                seen |= find_seen_writes(node.body, set(fresh))
                seen |= find_seen_writes(node.orelse, set(fresh))
            case ast.Assign([ast.Name(id=name)], value):
                args = value.args if isinstance(value, ast.Call) else []
                if _writes(node):
                    seen |= {name} - fresh
                    fresh -= set().union(*(_find_behind(argument, True) for argument in args[1:]))
                elif behind := _find_behind(value, True):
                    fresh -= {name} | behind
                else:
                    fresh -= _find_passed(value)
                    fresh |= {name}
            case ast.AugAssign(ast.Name(), _, value):
                fresh -= _find_behind(value, True)
            case _:
                fresh -= find_stored(node) | find_loaded(node)
    return seen


def _find_passed(value: ast.expr) -> set[str]:
    """The names that a dict, or an object that a call makes, may hold."""
    match value:
        case ast.Dict(_, values):
            pass
        case ast.Call(ast.Name(), args, keywords):
            values = [*args, *(keyword.value for keyword in keywords)]
        case _:
            return set()
    return set().union(*(_find_behind(part, True) for part in values))


def find_fresh(loop: ast.For | ast.While, fresh: set[str]) -> set[str]:
    """Those of the fresh names before a loop that are so before each iteration."""
    fresh = fresh - (find_stored(loop.target) if isinstance(loop, ast.For) else set())
    while True:
        after = set(fresh)
        find_seen_writes(loop.body, after)
        if fresh <= after:
            return fresh
        fresh &= after


def _writes(node: ast.Assign) -> bool:
    """Whether a statement of a normal form was a write in place, or an append."""
    of = node.value.func if isinstance(node.value, ast.Call) else None
    is_placeholder = isinstance(of, ast.Name) and of.id in (COLLECT, WRITE)
    return is_placeholder or find_site(node)[2].startswith("AugAssign")


def find_appended(statements: Block) -> set[str]:
    """Lists that are filled."""
    texts = set()
    for node in walk_scope(statements):
        match node:
            case ast.Call(ast.Attribute(of, "append" | "extend" | "insert"), _):
                texts.add(find_root(of))
    return texts - {""}


def find_written_in_place(statements: Block) -> set[str]:
    """Tensors of which a part is written, or that a method changes in place."""
    texts = set()
    for node in walk_scope(statements):
        match node:
            case ast.AugAssign(target, _, _):
                texts.add(find_root(target))
            case ast.Assign(targets, _):
                texts |= {find_root(e) for e in targets if isinstance(e, ast.Subscript)}
            case ast.Call(ast.Attribute(of, attr), _):
                if is_in_place(attr):
                    texts.add(find_root(of))
    return texts - {""}


def is_in_place(attr: str) -> bool:
    """Whether a method of this name changes its tensor."""
    return attr.endswith("_") and not attr.endswith("__")


def find_root(target: ast.expr) -> str:
    """The name that a path of attributes and elements begins with; empty where there is none."""
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
