"""Numbers that are read of tensors, as tensors or truncated by torch; flags; and copies.

An op that takes a plain bool, as `is_causal=seq > 1`, needs the comparison decided.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)


def keep_as_tensor(text: str, line: int, *, whole: bool = False) -> Rewritten:
    """The text with the numbers that are read of tensors at a line as the tensors themselves.

    Args:
        text: of the file.
        line: at which they are read.
        whole: whether they are ints, which Python computes with in any size.

    Raises:
        CannotRewrite: no number is read there that Python need not know.
    """
    source = Source(text, line)
    pieces: list[Piece] = []
    pythons = _pythons_own(source)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line) or node in pythons:
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id in ("float", "int"):
            inner = node.args[0] if len(node.args) == 1 else None
            if inner is not None and not isinstance(inner, ast.Constant):
                start, end = source.start(node), source.start(inner)
                closing = ").long()" if whole else ")"
                pieces += [
                    Piece(start, end, "("),
                    Piece(source.end(inner), source.end(node), closing),
                ]
        elif isinstance(function, ast.Attribute) and function.attr == "item" and not node.args:
            pieces.append(_replace_method(source, node, ".long()" if whole else ""))
        elif _find_tolist_tensor(node) is not None and (loop := _find_iteration(source, node)):
            flags = ".bool()" if _only_asked(loop) else ""
            pieces.append(_replace_method(source, node, flags))
    if not pieces:
        raise CannotRewrite("no number is read of a tensor at that line")
    return source.replace(pieces)


def _replace_method(source: Source, node: ast.Call, instead: str) -> Piece:
    """The method at the end of a call, which may stand behind a bracket, as another text."""
    end = source.end(node)
    return Piece(source.text.rindex(".", 0, end), end, instead)


def pass_plain_bools(text: str, line: int) -> Rewritten:
    """The text with flags that a call at a line is given as plain bools.

    Raises:
        CannotRewrite: no call there is given a comparison.
    """
    source = Source(text, line)
    pieces: list[Piece] = []
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or line):
            continue
        for keyword in node.keywords:
            compares = isinstance(keyword.value, ast.Compare | ast.BoolOp)
            if compares or ((keyword.arg or "").startswith("is_") and _is_name(keyword.value)):
                start, end = source.start(keyword.value), source.end(keyword.value)
                pieces += [Piece(start, start, "True if "), Piece(end, end, " else False")]
    if not pieces:
        raise CannotRewrite("no flag is computed at that line")
    return source.replace(pieces)


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def copy_by_torch(text: str, line: int) -> Rewritten:
    """The text with `copy.copy(x)` and `copy.deepcopy(x)` as a view, and as a clone.

    Those at a line; where it copies nothing, those of its function, whose copies it may use.

    Raises:
        CannotRewrite: nothing is copied there, or not a name.
    """
    source = Source(text, line)
    modules = source.names_of("copy")
    alone = {
        alias.asname or alias.name: alias.name
        for inner in ast.walk(source.tree)
        if isinstance(inner, ast.ImportFrom) and inner.module == "copy"
        for alias in inner.names
    }
    pieces: dict[bool, list[Piece]] = {True: [], False: []}
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            continue
        called, value = node.func, node.args[0]
        if isinstance(called, ast.Name):
            copies = alone.get(called.id, "")
        elif isinstance(called, ast.Attribute) and source.of(called.value) in modules:
            copies = called.attr
        else:
            continue
        if not isinstance(value, ast.Name | ast.Attribute):
            continue
        name = source.of(value)
        message = {"copy": f"{name}.view_as({name})", "deepcopy": f"{name}.clone()"}.get(copies)
        if message is not None:
            here = node.lineno <= line <= (node.end_lineno or 0)
            pieces[here].append(Piece(source.start(node), source.end(node), message))
    if not pieces[True] and not pieces[False]:
        raise CannotRewrite("nothing is copied by Python there")
    return source.replace(pieces[True] or pieces[False])


def _find_iteration(source: Source, node: ast.Call) -> ast.For | None:
    """The loop that goes through the numbers of `x.tolist()`, also beside a count or others."""
    for loop in ast.walk(source.function):
        if isinstance(loop, ast.For):
            expressions = [loop.iter]
            if getattr(getattr(loop.iter, "func", None), "id", "") in ("enumerate", "zip"):
                expressions = list(getattr(loop.iter, "args", ()))
            if node in expressions:
                return loop
    return None


def _only_asked(loop: ast.For) -> bool:
    """Whether a loop's last variable is only asked, as in `if flag`, whether it is not 0."""
    target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    name = getattr(target, "id", "")
    used = [
        n for statement in loop.body for n in ast.walk(statement) if getattr(n, "id", "") == name
    ]
    asked = [node.test for node in ast.walk(loop) if isinstance(node, ast.If | ast.IfExp)]
    asked += [expression.operand for expression in asked if isinstance(expression, ast.UnaryOp)]
    return all(node in asked for node in used)


def _pythons_own(source: Source) -> set[ast.AST]:
    """What a `range` counts to and what `sorted` compares: Python has to know the number."""
    calls = [
        (source.of(node.func), node)
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call)
    ]
    asked = [argument for name, node in calls if name == "range" for argument in node.args]
    asked += [
        keyword.value
        for name, node in calls
        if name in ("sorted", "min", "max") or name.endswith(".sort")
        for keyword in node.keywords
        if keyword.arg == "key"
    ]
    return {inner for expression in asked for inner in ast.walk(expression)}


def _find_tolist_tensor(node: ast.AST) -> ast.expr | None:
    """The tensor of `x.tolist()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value if node.func.attr == "tolist" else None
    return None
