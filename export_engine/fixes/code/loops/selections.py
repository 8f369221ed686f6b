"""What data select for a Python loop: `for e in hit.nonzero()`, and all that could be selected."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.variables import stored_names

_PLAIN = frozenset(
    {
        *("tolist", "cpu", "numpy", "detach", "to", "int", "long", "contiguous", "item"),
        *("flatten", "squeeze", "view", "reshape", "ravel"),
    }
)
"""Methods behind which the values are the same ones."""
_FLAT = frozenset({"flatten", "squeeze", "view", "reshape", "ravel"})
_IN_RANGE = frozenset({"topk", "argmax", "argsort", "sort", "multinomial"})
"""Functions whose indices are those of a dim, so none of them is out of range."""


class Traced(NamedTuple):
    """Where a value comes from."""

    value: ast.expr
    """The expression that computes it."""
    behind: list[str]
    """Methods and indices behind that, from it on."""
    made: list[ast.Assign]
    """The assignments on the way, the last one first."""


class Selected(NamedTuple):
    """What a loop iterates, and what there is."""

    total: str
    """How many indices there are, as an expression."""
    rows: bool
    """Whether an element is a row of one number, and not the number."""
    flag: str
    """Whether an index is selected, as an expression with `{}` for it."""
    skips: str
    """Whether the loop leaves out an index, as an expression before it."""
    check: str
    """A statement before the loop that rejects what could not be an index; empty for none."""
    pieces: list[Piece]
    keys: str = ""
    """What the loop goes through instead of a range, as an expression: the keys of a dict."""


def traced(source: Source, value: ast.expr) -> Traced:
    """A value as what computes it, behind names and methods that keep its values."""
    behind: list[str] = []
    made: list[ast.Assign] = []
    line = value.lineno
    while True:
        if isinstance(value, ast.Name):
            last = last_assignment(source.function, value.id, line)
            if last is None:
                break
            made.append(last)
            value, line = last.value, last.lineno
        elif isinstance(value, ast.Subscript) and source.of(value.slice) in ("0", ":, 0"):
            behind.insert(0, f"[{source.of(value.slice)}]")
            value = value.value
        elif isinstance(value, ast.Call) and _is_plain(source, value):
            assert isinstance(value.func, ast.Attribute)
            behind.insert(0, value.func.attr)
            value = value.func.value
        elif isinstance(value, ast.Call) and _named(value) in ("list", "sorted", "set"):
            if len(value.args) != 1 or value.keywords:
                break
            behind.insert(0, _named(value))
            value = value.args[0]
        else:
            break
    return Traced(value, behind, made)


def last_assignment(function: ast.AST, name: str, line: int) -> ast.Assign | None:
    """The last assignment of one name to it above a line; None if something else binds it there."""
    found: ast.Assign | None = None
    latest = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            latest = max(latest, node.lineno) if node.lineno < line else latest
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and node.lineno == latest:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                found = node
    return found


def _named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_plain(source: Source, call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in _PLAIN:
        return False
    return source.of(function.value) != source.torch


def selected(source: Source, loop: ast.For, line: int) -> Selected | None:
    """What a loop iterates, where data select it; None for another loop.

    Args:
        source: the text.
        loop: in it.
        line: of the failure; a `range` is of a length from data if it is at the loop's own.

    Raises:
        Unclear: how many indices there are cannot be told.
    """
    from_ = traced(source, loop.iter)
    condition = _condition(source, from_)
    if condition is not None:
        return _of_condition(source, loop, from_, condition)
    if not isinstance(loop.target, ast.Name):
        return None
    index = loop.target.id
    values = _unique(source, from_)
    if values is not None:
        text = _alone(source, values)
        keyed = _keyed(source, loop, index)
        if keyed:
            return _of_keys(source, text, keyed)
        count = _indexed(source, loop, index)
        check = (
            ""
            if _is_in_range(source, values)
            else (
                f"{source.torch}.ops.aten._assert_async.msg(({text} >= 0).all() & ({text} < "
                f'{count}).all(), "an index is out of range")'
            )
        )
        skips = f"len({source.torch}.unique({text})) < {count}"
        return Selected(count, False, f"({text} == {{}}).any()", skips, check, [])
    stop = _data_range(source, loop.iter)
    if stop is None or not loop.lineno <= line <= (loop.iter.end_lineno or 0):
        return None
    count = _indexed(source, loop, index)
    text = _alone(source, stop)
    check = f"{source.torch}._check({text} <= {count})"
    return Selected(count, False, f"{{}} < {text}", f"{text} < {count}", check, [])


def _of_condition(source: Source, loop: ast.For, from_: Traced, condition: ast.expr) -> Selected:
    """A loop over the indices at which a condition holds."""
    if not isinstance(loop.target, ast.Name):
        raise Unclear("the loop also counts what is selected")
    rows = not _is_flat(from_)
    text = _alone(source, condition)
    flags, pieces = text, list[Piece]()
    made = from_.made
    spare = _has_spare_row(source, condition, loop.lineno)
    there = _shortest_indexed(source, loop) if spare else ""
    if len(made) == 1 and isinstance(loop.iter, ast.Name) and _used_once(source, made[0], loop):
        name = loop.iter.id
        value = made[0].value
        piece = Piece(source.start(value), source.end(value), source.of(condition))
        flags, pieces = name, [piece]
    skips = f"len({source.of(loop.iter)}) < {there or f'{text}.shape[0]'}"
    check = (
        f"{source.torch}.ops.aten._assert_async.msg(~{flags}[{there}:].any(), "
        '"an index is out of range")'
        if there
        else ""
    )
    return Selected(there or f"{flags}.shape[0]", rows, f"{flags}[{{}}]", skips, check, pieces)


def _shortest_indexed(source: Source, loop: ast.For) -> str:
    """The length of the shortest of all that a loop's elements index; empty if that is unknown."""
    assert isinstance(loop.target, ast.Name)
    bound, names = stored_names(*loop.body), {loop.target.id}
    for each in loop.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            value = each.value
            inner = value.value if isinstance(value, ast.Subscript) else value
            if isinstance(inner, ast.Name) and inner.id in names:
                names.add(each.targets[0].id)
    lengths = {
        f"len({source.of(node.value)})": None
        for node in _reads(loop)
        if isinstance(node.slice, ast.Name) and node.slice.id in names
        if not {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)} & {*bound, *names}
    }
    return f"min({', '.join(lengths)})" if len(lengths) > 1 else ""


def _has_spare_row(source: Source, condition: ast.expr, line: int) -> bool:
    """Whether a mask may have a row for an index of nothing: `one_hot(at, num_classes=n + 1)`."""
    waiting = [(condition, line)]
    known: set[ast.AST] = set()
    for value, at in waiting:
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and source.of(node.func).endswith("one_hot"):
                given = [each.value for each in node.keywords if each.arg == "num_classes"]
                for count in given or node.args[1:2]:
                    if isinstance(count, ast.BinOp) and isinstance(count.op, ast.Add):
                        return True
            made = (
                last_assignment(source.function, node.id, at)
                if isinstance(node, ast.Name)
                else None
            )
            if made is not None and made not in known:
                known.add(made)
                waiting.append((made.value, made.lineno))
    return False


def _alone(source: Source, value: ast.expr) -> str:
    """A value's text, in brackets where something may follow."""
    text = source.of(value)
    plain = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return text if plain else f"({text})"


def _used_once(source: Source, made: ast.Assign, loop: ast.For) -> bool:
    """Whether what an assignment binds is only iterated by the loop."""
    assert isinstance(made.targets[0], ast.Name)
    name = made.targets[0].id
    uses = [n for n in ast.walk(source.function) if isinstance(n, ast.Name) and n.id == name]
    return len(uses) == 2 and loop.iter in uses


def _condition(source: Source, from_: Traced) -> ast.expr | None:
    """The condition of `nonzero` and its kin, of whose indices the loop's elements are."""
    value = from_.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    of_torch = source.of(value.func.value) == source.torch
    given = [*([] if of_torch else [value.func.value]), *value.args]
    tuple_ = any(
        each.arg == "as_tuple" and source.of(each.value) == "True" for each in value.keywords
    )
    name = value.func.attr
    if len(given) != 1 or name not in ("nonzero", "where", "argwhere"):
        return None
    if (tuple_ or name == "where") and from_.behind[:1] != ["[0]"]:
        return None
    return given[0]


def _is_flat(from_: Traced) -> bool:
    """Whether an element is a number, where those of `nonzero` are rows of one."""
    value = from_.value
    assert isinstance(value, ast.Call)
    assert isinstance(value.func, ast.Attribute)
    tuple_ = value.func.attr == "where" or from_.behind[:1] == ["[0]"]
    return tuple_ or any(each in _FLAT or each == "[:, 0]" for each in from_.behind)


def _unique(source: Source, from_: Traced) -> ast.expr | None:
    """The tensor of whose values the loop's elements are, each once and in order."""
    value = from_.value
    if from_.behind and from_.behind[-1] == "set":
        return value
    if "set" in from_.behind:
        return value if from_.behind[-1] == "sorted" else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    if value.func.attr != "unique" or any(each.arg != "sorted" for each in value.keywords):
        return None
    of_torch = source.of(value.func.value) == source.torch
    given = [*([] if of_torch else [value.func.value]), *value.args]
    return given[0] if len(given) == 1 else None


def _is_in_range(source: Source, values: ast.expr) -> bool:
    """Whether values are indices that a function of torch gave."""
    if isinstance(values, ast.Name):
        for node in ast.walk(source.function):
            if isinstance(node, ast.Assign) and any(
                isinstance(n, ast.Name) and n.id == values.id
                for target in node.targets
                for n in ast.walk(target)
            ):
                return _is_in_range(source, node.value)
    called = values.func if isinstance(values, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _IN_RANGE


def _data_range(source: Source, value: ast.expr) -> ast.expr | None:
    """The end of a `range` that starts at 0."""
    if not isinstance(value, ast.Call) or _named(value) != "range" or len(value.args) != 1:
        return None
    return value.args[0]


def _indexed(source: Source, loop: ast.For, index: str) -> str:
    """The length of what a loop's element is an index of.

    Raises:
        Unclear: it indexes nothing that is there before the loop.
    """
    bound = stored_names(*loop.body)
    for node in _reads(loop):
        names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if names & {*bound, index}:
            continue
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for position, entry in enumerate(entries):
            if source.of(entry) in (index, f"int({index})", f"{index}.item()"):
                whole = f"{source.of(node.value)}"
                return f"len({whole})" if position == 0 else f"{whole}.shape[{position}]"
            if not (isinstance(entry, ast.Slice) and entry.lower is entry.upper is None):
                break
    raise Unclear("the loop's elements index nothing whose length is known")


def _keyed(source: Source, loop: ast.For, index: str) -> str:
    """The dict of which a loop's element is a key, as text: `heads[str(i)]`; empty for none."""
    bound = stored_names(*loop.body)
    number = (index, f"{index}.item()", f"int({index})")
    for node in _reads(loop):
        names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if not names & {*bound, index} and ast.unparse(node.slice) in [f"str({n})" for n in number]:
            return source.of(node.value)
    return ""


def _of_keys(source: Source, text: str, keyed: str) -> Selected:
    """A loop over those keys of a dict that data have."""
    torch, keys = source.torch, f"sorted(map(int, {keyed}))"
    known = f"{torch}.isin({text}, {torch}.tensor({keys}, device={text}.device)).all()"
    check = f'{torch}.ops.aten._assert_async.msg({known}, "a key is missing")'
    skips = f"len({torch}.unique({text})) < len({keyed})"
    return Selected("", False, f"({text} == {{}}).any()", skips, check, [], keys)


def _reads(loop: ast.For) -> Iterator[ast.Subscript]:
    for each in loop.body:
        for node in ast.walk(each):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield node
