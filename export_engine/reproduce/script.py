"""A request as a script that makes the same call."""

from __future__ import annotations

import ast
import inspect
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Request, as_module, signature_of
from export_engine.reproduce.literals import NoText
from export_engine.reproduce.names import Names
from export_engine.reproduce.state import write_value
from export_engine.shapes import ShapesError, forms

_HEAD = "import torch\nfrom torch import nn"
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Call(NamedTuple):
    """What is exported, as expressions, and the statements that they need."""

    statements: list[str]
    model: str
    args: str
    kwargs: str
    """`{}` without keyword arguments."""
    shapes: list[str]
    """Statements that bind `dynamic_shapes`; none where everything is static."""
    names: Names
    """What is bound; what is bound later is added to the statements."""


def call_of(request: Request) -> Call:
    """A call in parts.

    Raises:
        NoText: an argument, or something that the model needs, cannot be written.
    """
    names = Names(request, write_value)
    arguments = {name: names.reserve(name) for name, _ in _name_arguments(request)}
    model = _model(request, names)
    for name, value in _name_arguments(request):
        write_value(names, arguments[name], value)
    positional = list(arguments.values())[: len(request.args)]
    args = f"({', '.join(positional)}{',' if len(positional) == 1 else ''})"
    keywords = list(arguments.items())[len(request.args) :]
    kwargs = "{" + ", ".join(f"{key!r}: {name}" for key, name in keywords) + "}"
    return Call(names.statements, model, args, kwargs, _shapes(request), names)


def script_of(request: Request, compared: bool = False) -> str:
    """The text of the script.

    Args:
        request: the call.
        compared: whether the program is then run and held against the model, on `other`.

    Raises:
        NoText: an argument, or something that the model needs, cannot be written.
    """
    parts = call_of(request)
    texts = [parts.model, parts.args, *([parts.kwargs] if parts.kwargs != "{}" else [])]
    texts += ["dynamic_shapes=dynamic_shapes"] if parts.shapes else []
    texts += ["strict=True"] if request.strict else []
    call = f"torch.export.export({', '.join(texts)})"
    lines = [_HEAD, *parts.statements, *parts.shapes]
    if compared:
        answer = f"torch.testing.assert_close(program(*other), {parts.model}(*other))"
        lines += [f"program = {call}.module()", f"other = {parts.args}", answer]
    else:
        lines.append(call)
    return imports_first("\n".join(lines))


def showing_constants(text: str) -> str:
    """A script that prints what tensors the program holds which it exports."""
    *before, last = text.rstrip("\n").split("\n")
    return "\n".join([*before, f"print({last}.constants)"])


def imports_first(text: str) -> str:
    """Statements as Python prints them, imports first."""
    body = ast.parse(text).body
    imports = [
        statement for statement in body if isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    others = [statement for statement in body if statement not in imports]
    return ast.unparse(ast.Module([*imports, *others], []))


def _name_arguments(request: Request) -> list[tuple[str, Any]]:
    """The arguments, each with a name for it: its parameter's."""
    parameters = list(signature_of(request.target).parameters.values())
    positional = [parameter.name for parameter in parameters if parameter.kind in _POSITIONAL]
    listed = [
        (positional[at] if at < len(positional) else f"arg{at}", value)
        for at, value in enumerate(request.args)
    ]
    return [*listed, *request.kwargs.items()]


def _model(request: Request, names: Names) -> str:
    """The name of the module that is exported; of another callable, of one that calls it."""
    target = request.target
    owner = getattr(target, "__self__", None)
    if isinstance(target, torch.nn.Module):
        name = names.reserve("model")
        write_value(names, name, target)
        is_eval = request.eval_mode or not target.training
        if is_eval:
            names.statements.append(f"{name}.eval()")
        names.statements += [
            f"{name}.get_submodule({path!r}).training = {is_eval}"
            for path, module in target.named_modules()
            if path and not request.eval_mode and module.training == is_eval
        ]
        return name
    taken, passed = _pass_on(request)
    if owner is not None and not inspect.isbuiltin(target):
        held = names.reserve("owner")
        write_value(names, held, owner)
        called = f"{held}.{getattr(target, '__name__', '')}"
    elif isinstance(target, type) or inspect.isroutine(target):
        called = names.reference(target)
    else:
        called = names.reserve("called")
        write_value(names, called, target)
    defined = names.reserve("Model")
    names.statements.append(
        f"class {defined}(nn.Module):\n    def forward({taken}):\n        return {called}({passed})"
    )
    children = list(as_module(target).named_children())
    if not children:
        return f"{defined}()"
    name = names.reserve("model")
    references = [f"{name}.{child} = {names.reference(module)}" for child, module in children]
    names.statements += [f"{name} = {defined}()", *references]
    return name


def _pass_on(request: Request) -> tuple[str, str]:
    """The parameters of a `forward` that calls something, and the arguments that it passes."""
    signature = signature_of(request.target)
    bound = signature.bind(*request.args, **request.kwargs).arguments
    taken, passed, is_named = ["self"], [], False
    for name, parameter in signature.parameters.items():
        stars = _STARS.get(parameter.kind.name, "")
        if name not in bound:
            is_named = is_named or not stars
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any("*" in text for text in taken):
            taken.append("*")
        by_name = parameter.kind is parameter.KEYWORD_ONLY or (is_named and not stars)
        taken.append(f"{stars}{name}")
        passed.append(f"{name}={name}" if by_name else f"{stars}{name}")
    return ", ".join(taken), ", ".join(passed)


def _shapes(request: Request) -> list[str]:
    try:
        shapes = request.shapes
    except ShapesError as error:
        raise NoText(str(error)) from error
    if shapes is None:
        return []
    form = forms(shapes, request.target, request.args, request.kwargs)[0]
    if not form.python:
        raise NoText(form.reason)
    return form.python.splitlines()
