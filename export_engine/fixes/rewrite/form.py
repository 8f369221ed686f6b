"""A function as statements: Let, Write, Collect, Effect, If, Loop, Return, each with its place.

The statements are Python's own syntax tree. Those of the user's text are never changed: a pass that
changes one makes another, so the printer can give what was left alone verbatim.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from typing import Any, NamedTuple, TypeVar

from export_engine.fixes.code.text_edits import CannotRewrite

Node = TypeVar("Node", bound=ast.AST)
Block = list[ast.stmt]
Site = tuple[int, int, str]
"""Line, column and kind of a construct in the user's text: equal in all copies of it."""
COLLECT, WRITE = "_ee_collect", "_ee_write"
"""Placeholders of the normal form: `out = _ee_collect(out, v)`, `x = _ee_write(x, i, v)`."""
PROBE = "_ee"
"""Queries of instrumented code."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
EXITS = (ast.Break, ast.Continue, ast.Return)


class NotStaged(CannotRewrite):
    """Nothing of a function has to be rewritten, or it does not run that far."""


class Unequal(CannotRewrite):
    """A name has values on the two ways of a branch between which no op selects."""

    def __init__(self, reason: str, site: Site | None, *apart: str) -> None:
        super().__init__(reason)
        self.site = site
        self.apart = apart
        """How the value is of two parts, and its name: `none`, where it may be None, or `grown`."""


class Function(NamedTuple):
    """The outermost function around a line, as the user wrote it."""

    text: str
    """The text of the whole file."""
    node: ast.FunctionDef
    name: str
    """Qualified name."""
    origin: ast.FunctionDef | None = None
    """As it is in the text, where `node` has another body."""

    def with_body(self, body: Block) -> Function:
        """The function with another body; itself where it is the same."""
        if is_same(body, self.node.body):
            return self
        result = copy(self.node)
        result.body = body
        return self._replace(node=result, origin=self.origin or self.node)


def parse_function(text: str, line: int) -> Function:
    """The innermost function of a text that a line is in, under the name of the outermost.

    Raises:
        CannotRewrite: there is none, or it is not a plain function.
    """
    try:
        tree: ast.AST = ast.parse(text)
    except SyntaxError as error:
        raise CannotRewrite("the source text is not valid Python") from error
    path: list[str] = []
    result: ast.FunctionDef | None = None
    while True:
        inner = [
            node
            for node in ast.iter_child_nodes(tree)
            if isinstance(node, ast.stmt | ast.match_case | ast.ExceptHandler)
            and _first_line(node) <= line <= _last_line(node)
        ]
        if not inner:
            break
        tree = inner[0]
        if isinstance(tree, ast.ClassDef | ast.FunctionDef) and result is None:
            path.append(tree.name)
        if isinstance(tree, ast.FunctionDef):
            result = tree
    if result is None:
        raise CannotRewrite("there is no function at that line")
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in ast.walk(result)):
        raise CannotRewrite("the function is a generator")
    if result.body[0].lineno <= result.lineno:
        raise CannotRewrite("the function is written on one line")
    return Function(text, result, ".".join(path))


def _first_line(node: ast.AST) -> int:
    return min(int(n.lineno) for n in ast.walk(node) if hasattr(n, "lineno"))


def _last_line(node: ast.AST) -> int:
    return max(int(n.end_lineno or 0) for n in ast.walk(node) if hasattr(n, "end_lineno"))


def find_site(node: ast.AST) -> Site:
    """Which construct of the user's text a node is, or was made from."""
    result: Site | None = getattr(node, "site", None)
    if result is not None:
        return result
    kind = type(node).__name__
    if isinstance(node, ast.expr):  # `x.mean()` begins where `x.mean().item()` does
        kind += f"-{node.end_lineno},{node.end_col_offset}" if hasattr(node, "end_lineno") else ""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0), kind


def mark(node: Node, origin: ast.AST, part: str = "") -> Node:
    """A new node, made from a construct of the user's text, or from a part of it."""
    line, column, kind = find_site(origin)
    node.site = (line, column, f"{kind}:{part}" if part else kind)  # type: ignore[attr-defined]
    return node


def find_names(*nodes: ast.AST) -> set[str]:
    """Every name that is read, bound, or an argument."""
    every = [inner for node in nodes for inner in ast.walk(node)]
    names = {node.id for node in every if isinstance(node, ast.Name)}
    return names | {node.arg for node in every if isinstance(node, ast.arg)}


def find_stored(*nodes: ast.AST) -> set[str]:
    """The names that statements bind, not those of functions within."""
    names = set()
    for node in walk_scope(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def find_loaded(*nodes: ast.AST) -> set[str]:
    """The names that are read, those of functions within as well."""
    every = [inner for node in nodes for inner in ast.walk(node)]
    names = {n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    targets = (node.target for node in every if isinstance(node, ast.AugAssign))
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def walk_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes and what is in them, without what is in functions and comprehensions' own scopes."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            waiting += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            continue
        waiting += ast.iter_child_nodes(node)


def find_blocks(node: ast.stmt) -> list[Block]:
    """The blocks of a compound statement that run in order."""
    items = [getattr(node, part, None) for part in ("body", "orelse", "finalbody")]
    return [value for value in items if value and isinstance(value, list)]


def has_exit(
    statements: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...], *, loops: bool = True
) -> bool:
    """Whether there is an exit of these kinds; `loops` says if those of inner loops count."""
    for statement in statements:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, SCOPES) or (
            not loops and isinstance(statement, ast.For | ast.While)
        ):
            continue
        blocks = find_blocks(statement)
        if isinstance(statement, ast.Match):
            blocks = [case.body for case in statement.cases]
        if any(has_exit(block, kinds, loops=loops) for block in blocks):
            return True
    return False


def map_children(node: Node, change: Callable[[ast.AST], Any]) -> Node:
    """A node with its parts changed, in a copy; the node itself where none changes."""
    changed: dict[str, object] = {}
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            new = change(value)
            if new is not value:
                changed[field] = new
        elif isinstance(value, list):
            items = [change(item) if isinstance(item, ast.AST) else item for item in value]
            if not is_same(items, value):
                changed[field] = items
    if not changed:
        return node
    result = copy(node)
    for field, new in changed.items():
        setattr(result, field, new)
    return result


def change_children(node: Node, change: Callable[[ast.AST], object]) -> Node:
    """As `map_children`; a copy keeps the site of the node."""
    result = map_children(node, change)
    return node if result is node else mark(result, node)


def replace_nodes(node: ast.AST, change: Callable[[ast.AST], ast.AST | None]) -> Any:
    """A node with what `change` gives for nodes in it, in a copy; None leaves one as it is."""
    new = change(node)
    return change_children(node, lambda n: replace_nodes(n, change)) if new is None else new


def change_blocks(
    node: ast.stmt, statement: Callable[[ast.stmt], Block], expression: Callable[[ast.AST], object]
) -> ast.stmt:
    """A statement whose expressions, and the statements within, are changed; itself if none is."""
    changed = change_children(node, lambda n: n if isinstance(n, ast.stmt) else expression(n))
    return map_blocks(changed, lambda block: [new for old in block for new in statement(old)])


def map_blocks(node: ast.stmt, change: Callable[[Block], Block]) -> ast.stmt:
    """A statement whose blocks are changed; itself if none is."""
    fields = {
        part: change(block)
        for part in ("body", "orelse", "finalbody")
        if isinstance(block := getattr(node, part, None), list) and block
    }
    if all(is_same(block, getattr(node, part)) for part, block in fields.items()):
        return node
    result = type(node)(**{**dict(ast.iter_fields(node)), **fields})
    return mark(ast.copy_location(result, node), node)


def is_same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Whether two lists hold the same objects."""
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def load(name: str) -> ast.Name:
    """A read of a name."""
    return ast.Name(name, ast.Load())


def let(target: str | ast.expr, value: ast.expr) -> ast.Assign:
    """An assignment to a name, or to another target."""
    if isinstance(target, str):
        target = ast.Name(target, ast.Store())
    return ast.Assign([target], value, lineno=0)


def parse_expression(text: str) -> ast.expr:
    """An expression from its text."""
    return ast.parse(text, mode="eval").body


def fill(template: str, **parts: ast.expr) -> ast.expr:
    """An expression from its text, with other expressions in the places of its `$names`."""
    places = {f"{_PLACE}{name}": part for name, part in parts.items()}

    def change(node: ast.AST) -> ast.AST | None:
        return places.get(node.id) if isinstance(node, ast.Name) else None

    result: ast.expr = replace_nodes(parse_expression(template.replace("$", _PLACE)), change)
    return result


_PLACE = "_export_explorer_"
"""Begins a name that no code has: a list that is called `value` is not the `$value` beside it."""


def call(function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """A call of what a dotted name says."""
    items = [ast.keyword(name, value) for name, value in keywords.items()]
    return ast.Call(parse_expression(function), list(args), items)


def method(of: ast.expr, name: str, *args: ast.expr) -> ast.Call:
    """A call of a method."""
    return ast.Call(ast.Attribute(of, name, ast.Load()), list(args), [])


def as_tuple(items: Sequence[ast.expr]) -> ast.expr:
    """One expression, or a tuple of several."""
    return items[0] if len(items) == 1 else ast.Tuple(list(items), ast.Load())


def as_target(names: Sequence[str]) -> ast.expr:
    """What is assigned to: one name, or several."""
    stored: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return stored[0] if len(stored) == 1 else ast.Tuple(stored, ast.Store())


class Namer:
    """Names that nothing has yet."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def new(self, stem: str) -> str:
        """A free name: the stem, or with a number."""
        name, count = stem, 1
        while name in self.taken:
            count += 1
            name = f"{stem}_{count}"
        self.taken.add(name)
        return name


class Renamer(ast.NodeTransformer):
    """Gives names others, in a copy."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """A name."""
        if node.id not in self.names:
            return node
        return ast.copy_location(ast.Name(self.names[node.id], node.ctx), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A function within, that binds none of the names."""
        own = {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
        own |= find_stored(*node.body)
        inner = Renamer({a: b for a, b in self.names.items() if a not in own})
        node.body = [inner.visit(statement) for statement in node.body]
        node.name = self.names.get(node.name, node.name)
        return node


def rename(nodes: Sequence[Node], names: dict[str, str]) -> list[Node]:
    """Copies of nodes with other names; the nodes themselves where none is in them."""
    result = []
    for node in nodes:
        wanted = names.keys() & (find_names(node) | find_stored(node))
        result.append(Renamer(names).visit(deepcopy(node)) if wanted else node)
    return result


def as_collected(node: ast.stmt) -> tuple[str, ast.expr, ast.expr | None] | None:
    """The list, the value, and whether it counts, of a statement that appends."""
    match node:
        case ast.Assign([ast.Name(id=name)], ast.Call(ast.Name(id=function), args)):
            if function == COLLECT:
                return name, args[1], args[2] if len(args) > 2 else None
    return None


def start_numbers(node: ast.Assign, start: Callable[[str, ast.expr], ast.expr]) -> ast.expr:
    """What is assigned, with another expression for each plain number that a name begins with."""
    match node.targets, node.value:
        case [ast.Name(id=name)], value if _is_number(value):
            return start(name, value)
        case [ast.Tuple(parts)], ast.Tuple(values) if len(parts) == len(values):
            expressions = [
                start(part.id, value) if isinstance(part, ast.Name) and _is_number(value) else value
                for part, value in zip(parts, values, strict=True)
            ]
            if not is_same(expressions, values):
                return ast.Tuple(expressions, ast.Load())
    return node.value


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=bool() | int() | float()):
            return True
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int() | float())):
            return True
    return False


def thunk(value: ast.expr) -> ast.Lambda:
    """A function of nothing that gives a value."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


def make_function(name: str, given: list[str], body: Block) -> ast.FunctionDef:
    """A function of some names."""
    statement = ast.parse(f"def {name}({', '.join(given)}): pass").body[0]
    assert isinstance(statement, ast.FunctionDef)
    statement.body = body
    return statement


def is_own(node: ast.stmt) -> bool:
    """Whether a statement is the user's."""
    return not hasattr(node, "site") and bool(getattr(node, "lineno", 0))


def without_last_name(body: Block) -> Block:
    """`result = value` and `return result` as one."""
    if len(body) > 1:
        match body[-2], body[-1]:
            case ast.Assign([ast.Name(id=name)], value), ast.Return(ast.Name(id=other)):
                if name == other and not is_own(body[-2]):
                    return [*body[:-2], mark(ast.Return(value), body[-2])]
    return body
