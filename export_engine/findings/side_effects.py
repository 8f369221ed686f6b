"""Side effects of the model's own code while traced, which the program lacks."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.kept_state import ADDING, KeptState
from export_engine.record import Record
from export_engine.source import Code, Location, Stack, is_own
from export_engine.trace import Change


def check_side_effects(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per changed name or container."""
    state = KeptState(exported)
    inputs = [change for change in exported.recording.changes if change.owner == "input"]
    for change in {change.name: change for change in inputs}.values():
        yield _container_finding(change, state.place_of(change))
    for change, effect in state.changes:
        if effect == "same":
            continue
        leak = rules.StateChanged.LEAKED() if change.leaked else ""
        yield Finding(
            kind=Kind.STATE_CHANGED,
            severity="surprising",
            sentence=rules.StateChanged.CHANGED(state=_describe(change), summary=change.summary),
            why=rules.StateChanged.CHANGED_WHY(leak=leak),
            stack=state.place_of(change),
            decided_by="state" if effect == "unknown" and state.is_read(change) else "",
        )
    yield from _strict(exported, state)


def _container_finding(change: Change, stack: Stack) -> Finding:
    """A write into a container among the arguments: a dict, a list, a cache."""
    what = rules.StateChanged.NOT_RETURNED() if change.lost else rules.StateChanged.RETURNED()
    return Finding(
        kind=Kind.STATE_CHANGED,
        severity="wrong" if change.lost else "note",
        sentence=rules.StateChanged.MUTATED(name=change.name, summary=change.summary),
        why=rules.StateChanged.MUTATED_WHY(cure=what),
        stack=stack,
    )


def _strict(exported: Exported, state: KeptState) -> Iterator[Finding]:
    """Strict mode suppresses side effects, and warns about them under Dynamo's names."""
    for warning in exported.warnings:
        sources = _WARNED.findall(warning) if _SIDE_EFFECTS in warning else []
        place = _first_write(state.files) if sources else ()
        sources = [source for source in sources if _is_own(source, place)]
        if sources:
            names = ", ".join(dict.fromkeys(_source(source) for source in sources))
            yield Finding(
                kind=Kind.STATE_CHANGED,
                severity="surprising",
                sentence=rules.StateChanged.SIDE_EFFECTS(names=names),
                why=rules.StateChanged.WHY(),
                stack=place,
            )


_SIDE_EFFECTS = "side effects happened in"
_WARNED = re.compile(r"""["']([GL]\[.*?|dict\(.*?)["'](?=[,\]] |[,\]]$)""")
_ATTRIBUTE = re.compile(r"\.(\w+)$")


_IMPORTED = re.compile(r"G\['__import_(.*?)'\]")


def _is_own(source: str, place: Stack) -> bool:
    """Whether a place is in user code, not in a library."""
    imported = _IMPORTED.search(source)
    if imported:
        module = sys.modules.get(imported[1].replace("_dot_", "."))
        return is_own(str(getattr(module, "__file__", None) or ""))
    return source.startswith("L[") or bool(place)


def _source(source: str) -> str:
    """Dynamo's name of a place, in the user's terms."""
    if source.startswith("G["):
        return "a global"
    if "__closure__" in source:
        return "a closure variable of the function"
    named = _ATTRIBUTE.search(source)
    return f"the attribute `{named[1]}`" if named else "an attribute of the model"


def _first_write(files: list[tuple[str, Code]]) -> Stack:
    """The first line of a method whose source writes to something outside of it."""
    for path, code in files:
        if not is_own(path):
            continue
        outside = {
            name
            for node in ast.walk(code.tree)
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
        for node in ast.walk(code.tree):
            if isinstance(node, ast.stmt | ast.expr) and _writes_outside(node, outside):
                function = code.function(node)
                if function is not None and function.name != "__init__":
                    return (Location(path, node.lineno, function.name),)
    return ()


def _writes_outside(node: ast.AST, outside: set[str]) -> bool:
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(targets=found):
            targets = found
        case ast.AugAssign(target=target):
            targets = [target]
        case ast.Call(func=ast.Attribute(value=ast.Attribute(), attr=method)):
            return method in ADDING
    return any(
        isinstance(expression, ast.Attribute)
        or (isinstance(expression, ast.Name) and expression.id in outside)
        for expression in targets
    )


def _describe(change: Change) -> str:
    where = Path(change.where).name if "/" in change.where else change.where
    match change.owner:
        case "attribute":
            return f"attribute `{change.name}` of `{where}`"
        case "class attribute":
            return f"class attribute `{change.name}`"
        case "global":
            return f"global `{change.name}`"
    return f"closure variable `{change.name}`"
