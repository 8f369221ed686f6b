"""Failures because of what the model holds: modules that it does not own, code with no Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import nn

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Related
from export_engine.diagnose.containers import definition_of
from export_engine.diagnose.errors import cause, message
from export_engine.diagnose.failing_line import failing_place
from export_engine.source import Code, Location, Span, Stack, code_of
from export_engine.torch_internals import find_scripted_callee, is_raised_in

_DEEPEST = 4
_WEIGHTS_BY_NAME = ("_replace_param_buffer_names",)
_PACKED = ("maybe_to_fake_obj", "_maybe_fakify_obj")
_PACKED_TEXT = ("PackedParams", "(ScriptObject)")


class _Held(NamedTuple):
    """A module that another one holds, without being its parent."""

    owner: nn.Module
    attribute: str
    text: str
    """How it is reached: `self.heads[0]`."""
    kept_in: str
    """Its container: `a plain list`."""


def diagnose_unregistered_module(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a module in a plain container, whose weights strict mode does not find."""
    target = attempt.request.target if attempt.request else None
    if not isinstance(target, nn.Module):
        return None
    if not is_raised_in(cause(attempt.error), _WEIGHTS_BY_NAME):
        return None
    held = next(_held_by(target), None)
    if held is None:
        return None
    stack, span = _read_of(held)
    set_at = _set_of(held)
    return Diagnosis(
        kind=Kind.GRAPH_BREAK,
        sentence=rules.GraphBreak.UNREGISTERED_MODULE(
            held=held.text, kept_in=held.kept_in, owner=type(held.owner).__name__
        ),
        why=rules.GraphBreak.UNREGISTERED_MODULE_WHY(),
        stack=stack,
        span=span,
        related=(Related(f"sets `self.{held.attribute}`", set_at),) if set_at else (),
    )


def _held_by(target: nn.Module) -> Iterator[_Held]:
    """The modules that are not registered, in the attributes of those that are."""
    numbers = set(map(id, target.modules()))
    for owner in target.modules():
        for name, value in vars(owner).items():
            if name.startswith("_") and name in vars(nn.Module()):
                continue
            for text, kept_in, module in _modules_in(value, f"self.{name}", set()):
                if id(module) not in numbers and next(module.parameters(), None) is not None:
                    yield _Held(owner, name, text, kept_in)


def _modules_in(
    value: Any, text: str, seen: set[int], kept_in: str = ""
) -> Iterator[tuple[str, str, nn.Module]]:
    """Modules in a plain value, each with how it is reached and what holds it."""
    if isinstance(value, nn.Module):
        if kept_in:
            yield text, kept_in, value
        return
    if id(value) in seen or len(seen) > 1000 or text.count(".") + text.count("[") > _DEEPEST:
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        items = [(f"{text}[{key!r}]", each) for key, each in value.items()]
    elif isinstance(value, list | tuple | set):
        items = [(f"{text}[{number}]", each) for number, each in enumerate(value)]
    elif callable(value) and not isinstance(value, type):
        items = [(text, each) for each in _list_captured_values(value)]
    elif type(value).__module__.partition(".")[0] in ("builtins", "torch"):
        return
    else:
        items = [(f"{text}.{name}", each) for name, each in getattr(value, "__dict__", {}).items()]
    plain = isinstance(value, list | tuple | set | Mapping)
    holder = f"a plain {type(value).__name__}" if plain else f"a plain object, `{text}`"
    if callable(value):
        holder = "a closure variable"
    for way, item in items:
        yield from _modules_in(item, way, seen, holder)


def _list_captured_values(function: Any) -> list[Any]:
    """A function's state: its closure variables, its bound arguments or object."""
    if isinstance(function, partial):
        return [function.func, *function.args, *function.keywords.values()]
    bound = getattr(function, "__self__", None)
    function = getattr(function, "__func__", function)
    result = [] if bound is None else [bound]
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # an empty cell
            result.append(cell.cell_contents)
    return result


def _read_of(held: _Held) -> tuple[Stack, Span | None]:
    """Where the owner's `forward` first reads the attribute."""
    file, code, function = definition_of(held.owner)
    if code is None or function is None:
        return (), None
    for node in _attributes(function, held.attribute, ast.Load):
        return (Location(file, node.lineno, function.name),), code.span(node)
    return (Location(file, function.lineno, function.name),), None


def _set_of(held: _Held) -> Stack:
    """Where `__init__` of the owner's class sets the attribute."""
    result = getattr(type(held.owner).__init__, "__code__", None)
    code: Code | None = code_of(result.co_filename) if result is not None else None
    if result is None or code is None:
        return ()
    functions = (function for function in code.functions if function.name == "__init__")
    function = next(
        (function for function in functions if function.lineno >= result.co_firstlineno),
        None,
    )
    for node in _attributes(function, held.attribute, ast.Store) if function is not None else ():
        return (Location(result.co_filename, node.lineno, "__init__"),)
    return ()


def _attributes(function: ast.AST, name: str, context: type) -> Iterator[ast.Attribute]:
    """`self.name` in a function, in the order of the text."""
    nodes = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, context)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]
    yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def diagnose_held_script(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a submodule that is TorchScript, which non-strict mode calls as if it were not."""
    scripted = find_scripted_callee(cause(attempt.error))
    target = attempt.request.target if attempt.request else None
    if scripted is None or not isinstance(target, nn.Module):
        return None
    path = next((name for name, module in target.named_modules() if module is scripted), "")
    place = failing_place(attempt.error)
    return Diagnosis(
        kind=Kind.NOT_A_MODULE,
        sentence=rules.NotAModule.TORCH_SCRIPT(name=path or type(scripted).__name__),
        why=rules.NotAModule.HELD_SCRIPT_WHY(),
        stack=place.stack,
        span=place.span,
    )


def diagnose_packed_weights(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a module of eager mode quantization, whose weights are an opaque object."""
    target = attempt.request.target if attempt.request else None
    if not isinstance(target, nn.Module):
        return None
    said = message(attempt.error) + message(cause(attempt.error))
    named = any(text in said for text in _PACKED_TEXT)
    if not named and not is_raised_in(cause(attempt.error), _PACKED):
        return None
    path = next(_find_packed_weights(target), "")
    if not path:
        return None
    place = failing_place(attempt.error)
    return Diagnosis(
        kind=Kind.NOT_A_MODULE,
        sentence=rules.NotAModule.PACKED_WEIGHTS(path=path),
        why=rules.NotAModule.PACKED_WEIGHTS_WHY(),
        stack=place.stack,
        span=place.span,
    )


def _find_packed_weights(target: nn.Module) -> Iterator[str]:
    """The paths of modules that hold packed weights, or whose child for them does."""
    for path, module in target.named_modules():
        held = [value for value in vars(module).values() if isinstance(value, torch.ScriptObject)]
        if held:
            owner, _, last = path.rpartition(".")
            yield owner if last.startswith("_packed") and owner else path
