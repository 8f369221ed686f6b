"""Loads an archive without running code from it.

`torch.export.load` trusts its file. What its restricted loader refuses it unpickles all the same,
it has sympy evaluate the text of every size, and it imports modules that the file names.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import sympy

from export_engine.defects import passed_over
from export_engine.process import undone
from export_engine.torch_internals import capabilities as torch_has
from export_engine.torch_internals.capability import hooked

NO_INPUTS = (
    "The example inputs in the file are of classes that only code from the file could make: they "
    "are left out."
)


NO_LIBRARIES = (
    "The file also holds libraries that AOTInductor compiled. They are not loaded: that would run "
    "them."
)


class CodeInside(ValueError):
    """Opening the file would run its code. The message can be shown as it is."""


@undone
def nothing_run() -> Iterator[list[str]]:
    """While inside, `torch.export.load` in this thread runs nothing from a file.

    Yields:
        Sentences on what was left out.

    Raises:
        MissingCapabilityError: this torch lacks a place where code from a file has to be stopped.
    """
    notes: list[str] = []
    with ExitStack() as patches:
        for place, make in (
            (torch_has.LOAD, _restricted(threading.get_ident())),
            (torch_has.UNPICKLER, lambda original: _Without(original, "loads", _unpickled)),
            (torch_has.IMPORTER, lambda original: _Without(original, "import_module", _known)),
            (torch_has.PARSE_SIZE, _parsed),
            (torch_has.LOAD_LIBRARIES, _left_alone(notes)),
        ):
            _ = place.value
            patches.enter_context(hooked(place, make))
        patches.enter_context(hooked(torch_has.DESERIALIZE, _without_inputs(notes)))
        yield notes


def check_size(text: str) -> None:
    """Raises CodeInside for a text that is more than arithmetic on sizes; sympy would run it."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_size(text) from None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = {id(node.func) for node in calls}
    names = {id(node.args[0]) for node in calls if _takes_a_text(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if id(node) in functions:
                fine = name in _functions()
            case ast.Name(id=name):
                fine = not hasattr(builtins, name) and "__" not in name
            case ast.Constant(value=value):
                fine = type(value) in (int, float, bool) or id(node) in names
            case ast.BinOp(left=base, op=ast.Pow(), right=power):
                fine = _is_small(base, power)
            case ast.Call(func=ast.Name(id="Pow"), args=given):
                fine = len(given) == 2 and _is_small(*given)
            case _:
                fine = isinstance(node, _ARITHMETIC)
        if not fine:
            raise _no_size(text)


def _takes_a_text(call: ast.Call) -> bool:
    """`Symbol('s77')`, `Float('1.5')`: any other class of sympy's would evaluate a text."""
    match call:
        case ast.Call(
            func=ast.Name(id="Symbol" | "Float"), args=[ast.Constant(value=str(text)), *_]
        ):
            return re.fullmatch(r"[\w.+-]+", text) is not None
    return False


def _is_small(base: ast.expr, power: ast.expr) -> bool:
    """Whether a power is cheap to evaluate: `9**9**9` has 370 million digits."""
    if sum(_is_power(node) for node in ast.walk(base)) > 1:
        return False
    match power:
        case ast.Name() | ast.Call(func=ast.Name(id="Symbol")):
            return True
        case ast.UnaryOp(operand=number) | ast.Call(func=ast.Name(id="Integer"), args=[number]):
            return _is_small(base, number)
        case ast.Call(func=ast.Name(id="Rational"), args=[one, other]):
            return _is_small(base, one) and _is_small(base, other)
    return (
        isinstance(power, ast.Constant)
        and isinstance(power.value, int | float)
        and power.value <= _MOST_POWER
    )


def _is_power(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Pow()) | ast.Call(func=ast.Name(id="Pow")):
            return True
    return False


_MOST_POWER = 64
_ARITHMETIC = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.Call,
    ast.keyword,
    ast.Tuple,
    ast.expr_context,
    (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr),
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_PRINTED = (
    "Symbol Integer Float Rational Add Mul Pow Mod Max Min Abs floor ceiling sqrt exp log "
    "sin cos tan asin acos atan sinh cosh tanh And Or Not Eq Ne Lt Le Gt Ge Equality Unequality "
    "StrictLessThan LessThan StrictGreaterThan GreaterThan Piecewise ExprCondPair Tuple"
)


@cache
def _functions() -> frozenset[str]:
    """The functions in torch's sizes; some of sympy's others would run for hours."""
    made_by_torch = vars(torch_has.SIZE_FUNCTIONS.value) if torch_has.SIZE_FUNCTIONS else {}
    return frozenset(
        name
        for name, value in made_by_torch.items()
        if inspect.isclass(value) and issubclass(value, sympy.Function)
    ).union(_PRINTED.split())


def _no_size(text: str) -> CodeInside:
    return CodeInside(f"it has a size that is not one: {text[:80]!r}.")


def _restricted(thread: int) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == thread:
                kwargs["weights_only"] = True
            return original(*args, **kwargs)

        return load

    return make


def _parsed(original: Any) -> Any:
    def parse(self: Any, expr_str: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(expr_str, str):
            check_size(expr_str)
        return original(self, expr_str, *args, **kwargs)

    return parse


def _left_alone(notes: list[str]) -> Callable[[Any], Any]:
    def load(*_: Any, **__: Any) -> None:
        if NO_LIBRARIES not in notes:
            notes.append(NO_LIBRARIES)

    return lambda original: load


def _without_inputs(notes: list[str]) -> Callable[[Any], Any]:
    """Leaves out unreadable example inputs; anything else unreadable is an error."""

    def make(original: Any) -> Any:
        def deserialize(*args: Any, **kwargs: Any) -> Any:
            call = inspect.signature(original).bind(*args, **kwargs)
            given = call.arguments.get("example_inputs")
            try:
                if given:
                    torch_has.ARTIFACT.value(given)
            except Exception as error:  # noqa: BLE001 - what an unpickler raises is up to the file
                passed_over(error, "reading the example inputs of a file")
                notes.append(NO_INPUTS)
                call.arguments["example_inputs"] = None
            return original(*call.args, **call.kwargs)

        return deserialize

    return make


class _Without:
    """A module with one function of it replaced, for who has the module under this name."""

    def __init__(self, module: Any, name: str, function: Callable[..., Any]) -> None:
        self._module = module
        setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _unpickled(*_: Any, **__: Any) -> Any:
    raise CodeInside("it holds an object that only code from the file could make.")


def _known(name: str, package: str | None = None) -> Any:
    if name not in sys.modules:
        raise CodeInside(f"it asks for the module {name[:80]!r} to be imported.")
    return importlib.import_module(name, package)
