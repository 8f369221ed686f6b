"""Failures about a class: of an input, of an output, or of the target."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, signature_of
from export_engine.diagnose.errors import cause, message
from export_engine.diagnose.explanations import exportdb
from export_engine.diagnose.facts import UnknownClass
from export_engine.diagnose.specs import diagnose_mismatched_specs
from export_engine.shapes import leaves_of
from export_engine.source import Code, Location, Span, Stack, code_of
from export_engine.torch_internals import (
    find_unregistered_output,
    is_input_type,
    is_raised_in,
    key_text,
    without_paths,
)

_INPUT_CHECKS = (
    *("fakify", "check_user_input_output", "_make_argument_spec", "make_argument_spec"),
    "make_constraints",
)
_KEY_PATHS = ("_generate_key_paths", "leaves_of")
_CONVERTER = re.compile(r"TS2EPConverter\([^()]*\)\.convert\(\)")


def diagnose_missing_key_paths(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an input whose class is registered without names for what is in it."""
    request = attempt.request
    if request is None or not is_raised_in(cause(attempt.error), _KEY_PATHS):
        return None
    every = [*enumerate(request.args), *request.kwargs.items()]
    cls = next(filter(None, (without_paths(value) for _, value in every)), None)
    if cls is None:
        return None
    return Diagnosis(
        kind=Kind.UNKNOWN_INPUT_TYPE,
        sentence=rules.UnknownInputType.MISSING_KEY_PATHS(cls=cls.__name__),
        why=rules.UnknownInputType.MISSING_KEY_PATHS_WHY(),
        links=exportdb(Kind.UNKNOWN_INPUT_TYPE),
    )


def diagnose_unknown_input(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an input of an unregistered class."""
    request = attempt.request
    if request is None:
        return None
    if (
        not is_raised_in(cause(attempt.error), _INPUT_CHECKS)
        and diagnose_mismatched_specs(attempt) is None
    ):
        return None  # strict mode takes some classes
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    bad = [leaf for leaf in leaves if not is_input_type(leaf.value)]
    if not bad:
        return None
    path, cls = bad[0].path, type(bad[0].value)
    stack, span = _parameter_of(request.target, path.partition(".")[0])
    return Diagnosis(
        kind=Kind.UNKNOWN_INPUT_TYPE,
        sentence=rules.UnknownInputType.UNKNOWN_INPUT(path=path, cls=cls.__name__),
        why=rules.UnknownInputType.UNKNOWN_INPUT_WHY(),
        stack=stack,
        span=span,
        links=exportdb(Kind.UNKNOWN_INPUT_TYPE),
        facts=UnknownClass(cls, path),
    )


def diagnose_nested_input(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a failure that no other family knows, of a call with a nested tensor."""
    request = attempt.request
    if request is None:
        return None
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    ragged = [leaf for leaf in leaves if getattr(leaf.value, "is_nested", False) is True]
    if not ragged:
        return None
    stack, span = _parameter_of(request.target, ragged[0].path.partition(".")[0])
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=rules.OperatorFailed.NESTED_INPUT(path=ragged[0].path, mode=request.mode),
        why=rules.OperatorFailed.NESTED_INPUT_WHY(),
        stack=stack,
        span=span,
    )


def diagnose_unknown_output(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an output of an unregistered class."""
    unregistered_output = find_unregistered_output(cause(attempt.error))
    if unregistered_output is None or attempt.request is None:
        return None
    cls, keys, whole = unregistered_output
    stack, span = _return_of(attempt.request.target, whole)
    path = ".".join(key_text(key) for key in keys)
    name = f"a `{cls.__name__}`" if cls is not None else "something"
    of = f"{name}, a class" if cls is not None else name
    return Diagnosis(
        kind=Kind.UNKNOWN_OUTPUT_TYPE,
        sentence=rules.UnknownOutputType.SENTENCE(of=of),
        why=rules.UnknownOutputType.WHY(),
        stack=stack,
        span=span,
        links=exportdb(Kind.UNKNOWN_OUTPUT_TYPE),
        facts=UnknownClass(cls, path),
    )


def _parameter_of(target: Any, name: str) -> tuple[Stack, Span | None]:
    """Where the function that is exported names a parameter."""
    file, code, function = definition_of(target)
    if code is None or function is None:
        return (), None
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    for argument in every:
        if argument is not None and argument.arg == name:
            return (Location(file, argument.lineno, function.name),), code.span(argument)
    return (Location(file, function.lineno, function.name),), None


def _return_of(target: Any, returned: str) -> tuple[Stack, Span | None]:
    """The `return` of the exported function; of several, that of the class, or the last.

    Args:
        target: what is exported.
        returned: the name of the class that it returned; empty if unknown.
    """
    file, code, function = definition_of(target)
    if code is None or function is None:
        return (), None
    returns = list(_returns(function))
    if not returns:
        return (Location(file, function.lineno, function.name),), None
    same = [node for node in returns if _makes(node.value, returned)]
    value = (same or returns)[-1].value
    stack = (Location(file, (same or returns)[-1].lineno, function.name),)
    return stack, code.span(value) if value is not None else None


def _makes(value: ast.expr | None, cls: str) -> bool:
    """Whether an expression calls a class."""
    called = value.func if isinstance(value, ast.Call) else None
    name = getattr(called, "id", getattr(called, "attr", None))
    return name == cls and cls not in ("tuple", "list", "dict")


def definition_of(target: Any) -> tuple[str, Code | None, ast.FunctionDef | None]:
    """The file, its code and the definition of the function that a call of the target runs."""
    while isinstance(target, functools.partial):
        target = target.func
    called = target.forward if isinstance(target, torch.nn.Module) else target
    if not inspect.isroutine(called):
        called = type(called).__call__
    function = inspect.unwrap(getattr(called, "__func__", called))
    compiled = getattr(function, "__code__", None)
    if compiled is None:
        return "", None, None
    code = code_of(compiled.co_filename)
    for node in ast.walk(code.tree) if code is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == compiled.co_name:
            first = min([node.lineno, *(expression.lineno for expression in node.decorator_list)])
            if first == compiled.co_firstlineno:
                return compiled.co_filename, code, node
    return compiled.co_filename, code, None


def _returns(function: ast.AST) -> Iterator[ast.Return]:
    """The `return` statements of a function, not of nested ones."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _returns(child)


def _converter(error: BaseException) -> str:
    """torch's own hint of how to convert TorchScript."""
    hint = _CONVERTER.search(message(cause(error)))
    return rules.NotAModule.CONVERTER(hint=hint[0]) if hint else ""


def diagnose_not_a_module(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a target that torch.export always rejects."""
    target = attempt.request.target if attempt.request else None
    if isinstance(target, torch.export.ExportedProgram):
        return Diagnosis(
            kind=Kind.NOT_A_MODULE,
            sentence=rules.NotAModule.EXPORTED_PROGRAM(),
            why=rules.NotAModule.EXPORTED_PROGRAM_WHY(),
        )
    if not isinstance(target, torch.jit.ScriptModule):
        return None
    return Diagnosis(
        kind=Kind.NOT_A_MODULE,
        sentence=rules.NotAModule.TORCH_SCRIPT(name=type(target).__name__),
        why=rules.NotAModule.TORCH_SCRIPT_WHY(converter=_converter(attempt.error)),
    )
