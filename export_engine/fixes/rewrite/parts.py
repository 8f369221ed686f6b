"""A list, tuple or dict of a known layout as a name for each part: `state = (h, c)`.

So a loop carries its parts, and a branch selects between them, as it does with any other name.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import Any

from export_engine.fixes.rewrite.form import (
    SCOPES,
    Function,
    Namer,
    change_children,
    find_names,
    find_stored,
    let,
    load,
    mark,
)

Key = str | int


def name_parts(function: Function) -> Function:
    """A function in which the parts of what has a known layout, and changes, have names."""
    body = function.node.body
    own = {inner.arg for inner in ast.walk(function.node.args) if isinstance(inner, ast.arg)}
    layouts = {
        name: layout
        for name, layout in _find_layouts(body).items()
        if name not in own and _is_in_parts(name, layout, body)
    }
    if not layouts:
        return function
    namer = Namer(find_names(function.node) | find_stored(function.node))
    names = {n: {key: namer.new(f"{n}_{key}") for key in _find_keys(d)} for n, d in layouts.items()}
    return function.with_body(_Parts(layouts, names).visit_block(body))


def _find_layouts(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """By name: a display that it is bound to, where it has one key for each part."""
    layouts: dict[str, ast.expr] = {}
    for node in _walk(body):
        match node:
            case ast.Assign([ast.Name(id=name)], value) if _find_keys(value):
                before = layouts.setdefault(name, value)
                if type(before) is not type(value) or _find_keys(before) != _find_keys(value):
                    layouts[name] = ast.List([])  # of no parts
    return layouts


def _walk(body: list[ast.stmt]) -> list[ast.AST]:
    return [node for statement in body for node in ast.walk(statement)]


def _find_keys(value: ast.expr) -> list[Key]:
    """The keys of a display's parts; empty where they are not plain."""
    match value:
        case ast.List(elts) | ast.Tuple(elts):
            if not any(isinstance(part, ast.Starred) for part in elts):
                return list(range(len(elts)))
        case ast.Dict(keys):
            plain = [key.value for key in keys if isinstance(key, ast.Constant)]
            texts = [key for key in plain if isinstance(key, str) and key.isidentifier()]
            if len(texts) == len(keys) == len(set(texts)):
                return [*texts]
    return []


def _is_in_parts(name: str, layout: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether every use of a name is of its parts, and a branch or a loop changes some."""
    keys, changes = _find_keys(layout), False
    clear: set[int] = set()
    compound = [n for s in body if isinstance(s, ast.For | ast.While | ast.If) for n in _walk([s])]
    inside = {id(node) for node in compound}
    bindings = 0
    for node in _walk(body):
        match node:
            case ast.Subscript(ast.Name(id=of) as whole) if of == name:
                if _find_key(node, len(keys)) not in keys:
                    return False
                clear.add(id(whole))
                changes |= isinstance(node.ctx, ast.Store) and id(node) in inside
            case ast.Call(ast.Attribute(ast.Subscript(ast.Name(id=of)), "append")) if of == name:
                changes |= id(node) in inside
            case ast.Assign(targets, value):
                for target in targets:
                    stored = [target, *(target.elts if isinstance(target, ast.Tuple) else [])]
                    for part in stored:
                        if not isinstance(part, ast.Name) or part.id != name:
                            continue
                        if part is not target and not isinstance(layout, ast.Tuple):
                            return False
                        plain = isinstance(layout, ast.Tuple) or bool(_find_keys(value))
                        if not plain or len(targets) > 1:
                            return False
                        bindings += 1
                        clear.add(id(part))
                        changes |= bindings > 1 and id(node) in inside
            case ast.Return(ast.expr() as value):
                clear |= {id(n) for n in ast.walk(value) if not isinstance(n, SCOPES)}
            case ast.Call(ast.Attribute(ast.Name(id="torch")), [ast.Name() as whole, *_]):
                clear.add(id(whole))
            case ast.FunctionDef() | ast.Lambda() | ast.ClassDef() | ast.Global():
                if name in find_names(node) or not keys:
                    return False
    uses = [n for n in _walk(body) if isinstance(n, ast.Name) and n.id == name]
    is_tuple = isinstance(layout, ast.Tuple)  # which is the same wherever it is made again
    kept = all(id(n) in clear or (is_tuple and isinstance(n.ctx, ast.Load)) for n in uses)
    return bool(keys) and changes and kept


def _find_key(node: ast.Subscript, count: int) -> Key | None:
    match node.slice:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int() as back)):
            return count - back
    return None


class _Parts:
    """Puts names in the place of parts."""

    def __init__(self, layouts: dict[str, ast.expr], names: dict[str, dict[Key, str]]) -> None:
        self.layouts, self.names = layouts, names

    def visit_block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in body:
            result += self._statement(statement)
        return result

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign([ast.Name(id=name)], value) if name in self.layouts:
                names = list(self.names[name].values())
                if _find_keys(value):
                    parts = value.values if isinstance(value, ast.Dict) else value.elts  # type: ignore[attr-defined]
                    values = [self.visit(part) for part in parts]
                    if not {name, *names} & find_names(value, *values):
                        pairs = zip(names, values, strict=True)
                        return [mark(let(n, v), node, n) for n, v in pairs]
                    return [mark(let(self._whole(name, True), ast.Tuple(values, ast.Load())), node)]
        fields = {
            part: self.visit_block(block)
            for part in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(node, part, None), list) and block
        }
        changed = change_children(node, lambda n: n if isinstance(n, ast.stmt) else self.visit(n))
        same = all(
            len(block) == len(getattr(node, part))
            and all(a is b for a, b in zip(block, getattr(node, part), strict=True))
            for part, block in fields.items()
        )
        if same:
            return [changed]
        result = type(node)(**{**dict(ast.iter_fields(changed)), **fields})
        return [mark(ast.copy_location(result, node), node)]

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        match node:
            case ast.Subscript(ast.Name(id=name)) if name in self.layouts:
                key = _find_key(node, len(self.names[name]))
                part = self.names[name][key]  # type: ignore[index]
                return ast.copy_location(ast.Name(part, node.ctx), node)
            case ast.Name(id=name) if name in self.layouts:
                return self._whole(name, not isinstance(node.ctx, ast.Load))
        return change_children(node, self.visit)

    def _whole(self, name: str, stored: bool) -> ast.expr:
        """A display of the parts, which is read or assigned to."""
        names, layout = self.names[name], self.layouts[name]
        if stored:
            return ast.Tuple([ast.Name(n, ast.Store()) for n in names.values()], ast.Store())
        parts: list[ast.expr] = [load(n) for n in names.values()]
        if isinstance(layout, ast.Dict):
            return ast.Dict(deepcopy(layout.keys), parts)
        kind = ast.List if isinstance(layout, ast.List) else ast.Tuple
        return kind(parts, ast.Load())
