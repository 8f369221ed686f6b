"""A module that data choose from a list, `self.experts[k](x)`, as all of them and a selection.

Which module runs is then no question to Python: every one does, and the index is one of the stacked
outputs, which have to be of one shape.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_NUMBERS = ("item", "tolist")


def all_run(text: str, line: int, *, keyed: bool = False) -> Rewritten:
    """The text with the module that is chosen at a line replaced by a choice of outputs.

    Args:
        text: of the file.
        line: of the choice.
        keyed: whether only one that is chosen by the text of a number is meant.

    Raises:
        Unclear: none is chosen there, or what is chosen is not only called.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.expr) or not spans(node, line):
            continue
        if isinstance(node, ast.Call) and is_choice(node.func):
            assert isinstance(node.func, ast.Subscript)
            key = _key(node.func.slice)
            if key is not None:
                made = _by_key(source, node, source.of(node.func.value), key)
            elif not keyed:
                element = chosen_element(source, node.func.slice)
                made = _selected(source, node, source.of(node.func.value), element)
            else:
                continue
            return source.changed([Piece(source.start(node), source.end(node), made)])
    for statement in ast.walk(source.function):
        if not keyed and isinstance(statement, ast.Assign) and spans(statement, line):
            return _named(source, statement)
    raise Unclear("no module is chosen at that line")


def _named(source: Source, statement: ast.Assign) -> Rewritten:
    """`expert = self.experts[k]`, whose name is called further down."""
    target, chosen = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or len(statement.targets) > 1 or not is_choice(chosen):
        raise Unclear("no module is chosen at that line")
    assert isinstance(chosen, ast.Subscript)
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    ]
    calls = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call) and any(node.func is use for use in uses)
    ]
    if not calls or len(calls) != len(uses) or any(c.lineno <= statement.lineno for c in calls):
        raise Unclear(f"`{target.id}` is not only called")
    chosen_one = free_name("_chosen", source.names)
    index, tensor = _index(source, chosen.slice)
    bound = f"{target.id}, {chosen_one} = {source.of(chosen.value)}, {index}"
    element = _element(chosen_one, tensor)
    pieces = [Piece(source.start(statement), source.end(statement), bound)]
    pieces += [
        Piece(source.start(c), source.end(c), _selected(source, c, target.id, element))
        for c in calls
    ]
    return source.changed(pieces)


def _selected(source: Source, call: ast.Call, modules: str, chosen: str) -> str:
    each = free_name("_module", source.names)
    given = source.text[source.end(call.func) : source.end(call)]
    return f"{source.torch}.stack([{each}{given} for {each} in {modules}]){chosen}"


def _key(index: ast.expr) -> ast.expr | None:
    """The number whose text is the key of a dict: of `str(int(task))`, or `f"{task}"`."""
    called = index.func if isinstance(index, ast.Call) and len(index.args) == 1 else None
    if isinstance(called, ast.Name) and called.id == "str":
        assert isinstance(index, ast.Call)
        return index.args[0]
    whole = index.values if isinstance(index, ast.JoinedStr) else []
    if len(whole) == 1 and isinstance(whole[0], ast.FormattedValue):
        return whole[0].value if whole[0].format_spec is None else None
    return None


def _by_key(source: Source, call: ast.Call, modules: str, key: ast.expr) -> str:
    """A call of the module whose key is a number: there has to be one for each of 0, 1, ….

    `index_select` rejects every other number, as the dict does; a plain index would count negative
    ones from the end.
    """
    text, is_tensor = _index(source, key)
    given = source.text[source.end(call.func) : source.end(call)]
    each = free_name("_key", source.names)
    every = f"[{modules}[str({each})]{given} for {each} in range(len({modules}))]"
    index = f"({text}).reshape(1)" if is_tensor else f"{source.torch}.tensor([{text}])"
    return f"{source.torch}.stack({every}).index_select(0, {index}).squeeze(0)"


def chosen_element(source: Source, index: ast.expr) -> str:
    """The subscript of a stack that takes what a list has at an index from data."""
    return _element(*_index(source, index))


def is_choice(node: ast.expr) -> bool:
    """Whether a value is an element of a list by an index that is not written out."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name | ast.Attribute):
        return False
    return not isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant)


def _index(source: Source, index: ast.expr) -> tuple[str, bool]:
    """The index, and whether it is a tensor: a scan takes no number that is read in it."""
    if _calls_int(index):
        assert isinstance(index, ast.Call)
        index = index.args[0]
    if _reads(index):
        assert isinstance(index, ast.Call)
        assert isinstance(index.func, ast.Attribute)
        index = index.func.value
    text = source.of(index)
    assigned = [
        node.value
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == [text]
    ]
    return text, not any(_reads(each) or _calls_int(each) for each in assigned)


def _element(text: str, tensor: bool) -> str:
    return f".index_select(0, ({text}).reshape(1)).squeeze(0)" if tensor else f"[{text}]"


def _reads(value: ast.expr) -> bool:
    """Whether a value is read of a tensor."""
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _NUMBERS


def _calls_int(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) and len(value.args) == 1 else None
    return isinstance(called, ast.Name) and called.id == "int"
