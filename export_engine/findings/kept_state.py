"""State in Python that the trace changed, and what a later call in eager makes of it.

Each call in eager may find what an earlier one left: a number that counts, a table that the first
call fills. The source tells which; where it does not, Verify calls both several times in a row.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

from export_engine.attempt import Exported, as_module
from export_engine.findings.program_ops import ops_of
from export_engine.findings.reachable_code import find_reached_code
from export_engine.source import Code, Location, Stack, code_of, function_behind, is_own
from export_engine.trace import Change

ADDING = {"append", "extend", "add", "update", "insert", "pop", "remove", "clear", "setdefault"}
_GROWING = {"append", "extend", "insert"}
"""Of those, the methods of a list, which has an item more with each call."""
_SAME = {"to", "type_as", "type", "float", "half", "contiguous", "cuda", "cpu", "detach", "clone"}
"""Methods of a tensor that give the same values, however often they are called."""
Effect = Literal["same", "other", "unknown"]
"""The effect of a change on a later eager call: the same result, a different one, or unknown
without a run."""

Write = tuple[str, Code, ast.stmt | ast.expr]
"""A statement or call that writes to a name, with its file."""


class KeptState:
    """The changes of one trace, each with the code that makes it."""

    def __init__(self, exported: Exported) -> None:
        """Make one; it reads source and runs nothing."""
        self._exported = exported
        self._known: dict[tuple[str, str], tuple[Change, Effect]] = {}
        for change in exported.recording.changes:
            if change.owner != "input":
                self._known[change.owner, change.name] = change, self._effect_of(change)

    @property
    def changes(self) -> Iterator[tuple[Change, Effect]]:
        """The last change of each name, with its effect; not those of inputs."""
        return iter(self._known.values())

    @cached_property
    def files(self) -> list[tuple[str, Code]]:
        """The files that the ops come from, and those of the modules' `forward`."""
        stacks = (op.stack for op in ops_of(self._exported.program))
        paths = dict.fromkeys(location.file for stack in stacks for location in stack)
        request = self._exported.request
        targets = [request.target, *_forwards(request.target)] if request else []
        for function in map(function_behind, targets):
            if function is not None:
                paths.setdefault(function.__code__.co_filename)
        paths |= dict.fromkeys(path for path, _ in sorted(find_reached_code(self._exported)))
        return [(path, code) for path in paths if (code := code_of(path)) is not None]

    def place_of(self, change: Change) -> Stack:
        """The line that writes to a name, judging by the source."""
        for path, code, node in self._writes_of(change):
            function = code.function(node)
            return (Location(path, node.lineno, function.name if function else ""),)
        return ()

    def is_read(self, change: Change) -> bool:
        """Whether code reads a name other than to write to it; `__init__` does not count."""
        name = _last(change)
        inside = {id(inner) for *_, node in self._writes_of(change) for inner in ast.walk(node)}
        return any(
            id(node) not in inside and _reads(node, name, change)
            for _, code in self.files
            for node in ast.walk(code.tree)
            if isinstance(node, ast.expr) and _runs_in_calls(code, node)
        )

    def _is_mentioned(self, change: Change) -> bool:
        """Whether any code of the model has a name, to read it or to write to it."""
        name = _last(change)
        request = self._exported.request
        forwards = map(function_behind, _forwards(request.target) if request else ())
        own = {forward.__code__.co_filename for forward in forwards if forward is not None}
        return any(
            name in (getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "value", ""))
            for path, code in self.files
            if path in own or is_own(path)
            for node in ast.walk(code.tree)
        )

    def _effect_of(self, change: Change) -> Effect:
        writes = list(self._writes_of(change))
        if not writes and change.follows_from == "sizes" and not self._is_mentioned(change):
            return "same"  # a library's own bookkeeping, which the model's code does not know
        if any(_reads_itself(code, node, change) for _, code, node in writes):
            return "other"
        guarded = bool(writes) and all(self._guard_of(*write[1:], change) for write in writes)
        if any(_grows(node) for *_, node in writes) and not guarded:
            return "other"
        if change.follows_from == "inputs":
            return "other" if guarded else "unknown"
        if change.follows_from == "" or not change.counts:
            return "same" if change.follows_from == "sizes" else "unknown"
        if change.what == "content":
            return "same"
        fills = [self._guard_of(*write[1:], change) for write in writes]
        return "same" if fills and all(fill and _only_fills(*fill) for fill in fills) else "unknown"

    def _writes_of(self, change: Change) -> Iterator[Write]:
        name = _last(change)
        for path, code in self.files:
            for node in ast.walk(code.tree):
                if not isinstance(node, ast.stmt | ast.expr) or not _writes(node, name, change):
                    continue
                if _runs_in_calls(code, node) and self._is_of(code, node, change):
                    yield path, code, node

    def _is_of(self, code: Code, node: ast.AST, change: Change) -> bool:
        """Whether code is of the class that has an attribute; code of no class may be."""
        if change.owner == "class attribute":
            named = _find_named_classes(node, change)
            if named - {"self", "cls"}:
                return change.name.split(".")[-2] in named
        elif change.owner != "attribute":
            return True
        around = (
            ancestor.name for ancestor in code.ancestors(node) if isinstance(ancestor, ast.ClassDef)
        )
        name = next(around, "")
        if not name or change.owner == "attribute":
            return not name or not self._classes or name in self._classes.get(change.where, {name})
        of = change.name.split(".")[-2]
        return any(name in bases for bases in (*self._classes.values(), {of}) if of in bases)

    @cached_property
    def _classes(self) -> dict[str, set[str]]:
        """Per class of a module of the model, the names of it and of its bases."""
        request = self._exported.request
        modules = as_module(request.target).modules() if request else ()
        return {
            cls.__qualname__: {base.__name__ for base in cls.__mro__}
            for cls in {type(module) for module in modules}
        }

    def _guard_of(
        self, code: Code, node: ast.stmt | ast.expr, change: Change
    ) -> tuple[Code, ast.If] | None:
        """The `if` on a name that decides whether it is written; none where each call writes it."""
        function = code.function(node)
        if function is None:
            return None
        aliases = _aliases(function, change)
        around = {id(ancestor) for ancestor in code.ancestors(node)}
        for inner in ast.walk(function):
            if isinstance(inner, ast.If) and _tests(inner.test, change, aliases):
                before = (inner.end_lineno or 0) < node.lineno
                if id(inner) in around or (before and isinstance(inner.body[-1], ast.Return)):
                    return code, inner
        return None


def _forwards(target: Any) -> Iterator[Any]:
    """The `forward` of each class of a model that is not torch's."""
    for cls in dict.fromkeys(type(module) for module in as_module(target).modules()):
        if not cls.__module__.startswith("torch."):
            yield inspect.getattr_static(cls, "forward", None)


def _find_named_classes(node: ast.AST, change: Change) -> set[str]:
    """Of which names a write to a class attribute writes one: `Counter`, or `self`."""
    return {
        inner.value.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute)
        and inner.attr == _last(change)
        and isinstance(inner.value, ast.Name)
    }


def _last(change: Change) -> str:
    return change.name.rpartition(".")[2]


def _runs_in_calls(code: Code, node: ast.stmt | ast.expr) -> bool:
    function = code.function(node)
    return function is not None and function.name != "__init__"


def _writes(node: ast.AST, name: str, change: Change) -> bool:
    match node:
        case ast.Assign(targets=targets):
            return any(_is(expression, name, change) for expression in targets)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _is(target, name, change)
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            return change.what == "content" and method in ADDING and _is(value, name, change)
    return False


def _is(target: ast.expr, name: str, change: Change) -> bool:
    if isinstance(target, ast.Subscript):
        return change.what == "content" and _is(target.value, name, change)
    if isinstance(target, ast.Tuple):
        return any(_is(expression, name, change) for expression in target.elts)
    if change.owner in ("attribute", "class attribute"):
        return isinstance(target, ast.Attribute) and target.attr == name
    return isinstance(target, ast.Name) and target.id == name


def _reads(node: ast.AST, name: str, change: Change) -> bool:
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return change.owner in ("attribute", "class attribute") and attr == name
        case ast.Name(id=identifier, ctx=ast.Load()):
            return change.owner in ("global", "closure") and identifier == name
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value), *_]):
            return value == name
    return False


def _reads_itself(code: Code, node: ast.stmt | ast.expr, change: Change) -> bool:
    """Whether the new value is computed from the old one, as a counter's is."""
    read: list[ast.AST] = []
    match node:
        case ast.AugAssign():
            return True
        case ast.Assign(targets=targets, value=value):
            read = [
                value,
                *(target.slice for target in targets if isinstance(target, ast.Subscript)),
            ]
        case ast.AnnAssign(value=ast.expr() as value):
            read = [value]
        case ast.Call(args=arguments):
            read = [*arguments]
    name = _last(change)
    if change.counts and change.what == "set" and (function := code.function(node)) is not None:
        aliases = _aliases(function, change)
        if any(
            isinstance(inner, ast.Name) and inner.id in aliases
            for one in read
            for inner in ast.walk(one)
        ):
            return True
    for one in read:
        match one:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
                method in _SAME and _reads(owner, name, change)
            ):
                continue
        if any(_reads(inner, name, change) for inner in ast.walk(one)):
            return True
    return False


def _aliases(function: ast.AST, change: Change) -> set[str]:
    """Local names that a function assigns from a name: `found = self.kept.get(key)`."""
    name = _last(change)
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(_reads(inner, name, change) for inner in ast.walk(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _tests(test: ast.expr, change: Change, aliases: set[str]) -> bool:
    name = _last(change)
    return any(
        _reads(node, name, change) or (isinstance(node, ast.Name) and node.id in aliases)
        for node in ast.walk(test)
    )


def _grows(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _GROWING
    return False


def _only_fills(code: Code, guard: ast.If) -> bool:
    """Whether a branch does nothing but fill attributes: what follows is the same without it."""
    function = code.function(guard)
    if isinstance(guard.body[-1], ast.Return):
        return function is not None and function.name != "forward"
    if guard.orelse:
        return False
    bound: set[str] = set()
    for statement in guard.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return | ast.Yield | ast.Break | ast.Continue):
                return False
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
    end = guard.end_lineno or guard.lineno
    return not any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in bound
        and node.lineno > end
        for node in ast.walk(function or code.tree)
    )
