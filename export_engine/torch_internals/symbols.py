"""torch's symbols, their ranges and expressions of them, and dtypes as torch prints them."""

from __future__ import annotations

import copy
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy
import torch

from export_engine.process import undone
from export_engine.sizes import (
    Expression,
    find_line,
    make_expression,
    name_symbol,
    number,
    print_size,
)
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.live_program import LiveProgram
from export_engine.torch_internals.tensors import is_fake


def read_size(size: Any) -> int | Expression:
    """A SymInt, SymFloat or SymBool, as a number where it is one for sure."""
    if isinstance(size, int):
        return size
    expression = read_sympy(expression_of(size))
    if expression.is_number and isinstance(expression.value, int):
        return expression.value
    return expression


@lru_cache(maxsize=8192)
def read_sympy(expression: Any) -> Expression:
    """A size or a condition, converted from sympy: nothing after this uses sympy.

    Terms and factors come in the order in which torch writes them into a file.
    """
    if expression.is_Symbol:
        return name_symbol(str(expression))
    if expression.is_Integer:
        return number(int(expression))
    if expression.is_Float:
        return number(float(expression))
    if expression.is_Rational:
        return Expression("Rational", (number(int(expression.p)), number(int(expression.q))))
    if str(expression) in _CONSTANTS:
        return number(_CONSTANTS[str(expression)])
    parts = expression.args
    if expression.is_Add:
        parts = expression.as_ordered_terms()
    elif expression.is_Mul:
        return make_expression("Mul", tuple(map(read_sympy, expression.as_ordered_factors())))
    return Expression(type(expression).__name__, tuple(map(read_sympy, parts)))


_CONSTANTS = {
    "True": 1,
    "False": 0,
    "nan": math.nan,
    **dict.fromkeys(("oo", "int_oo"), math.inf),
    **dict.fromkeys(("-oo", "-int_oo"), -math.inf),
}
"""sympy's constants as it prints them."""


def symbol_printer(names: Mapping[str, str]) -> Callable[[Any], str]:
    """A printer of sympy expressions as Python text, under the given names of symbols.

    Args:
        names: torch's name of a symbol, `s77`, to the user's.
    """
    return lambda expression: print_size(read_sympy(expression), names)


def expression_of(size: Any) -> Any:
    """The sympy expression of a SymInt, SymFloat or SymBool.

    Where torch does not give it, one symbol stands for all of it, named as torch prints it.
    """
    if torch_has.SYM_EXPR:
        return torch_has.SYM_EXPR.of(size.node)
    text = str(size)
    return sympy.Integer(text) if text.isdecimal() else sympy.Symbol(text, integer=True)


def short_dtype(dtype: torch.dtype) -> str:
    """A dtype as torch prints it on a graph: `f32`, `i64`, `b8`."""
    short = torch_has.DTYPES.value.get(dtype) if torch_has.DTYPES else None
    return str(short or str(dtype).removeprefix("torch."))


def int_bound(bound: Any) -> int | None:
    """A bound of a range as a number; None where it is infinite.

    torch bounds a data-dependent number by the largest int that it can hold: no real bound.
    """
    if getattr(bound, "is_infinite", False) or str(bound) in _INFINITE:
        return None
    number = int(bound)
    return None if abs(number) >= sys.maxsize - 1 else number


_INFINITE = ("int_oo", "-int_oo")
"""As torch prints integers without a bound, which sympy does not know."""


def is_unbacked(symbol: Any) -> bool:
    """Whether a symbol has no value while tracing: computed from data, or a ShapeVar."""
    return str(symbol).startswith(("u", "zuf"))


def symbol_hint(program: LiveProgram, symbol: Any) -> int | None:
    """A symbol's value in the example inputs; None for one computed from data, or not known.

    The values are in the ShapeEnv that the program's fake tensors share. It has none of an unbacked
    symbol, which may be an input's size all the same: then the example inputs that travel with the
    program have it.
    """
    known = symbol_value(shape_env(program), symbol)
    return known if known is not None else _input_size(program, symbol)


def size_hint(program: LiveProgram, size: Any) -> int | None:
    """A size, an int or a SymInt or its expression, in the example inputs; None if not known."""
    if isinstance(size, int):
        return size
    expression = expression_of(size) if isinstance(size, torch.SymInt) else size
    values = {
        free_symbol: symbol_hint(program, free_symbol) for free_symbol in expression.free_symbols
    }
    entries = {item: value for item, value in values.items() if value is not None}
    result = expression.subs(entries)
    return int(result) if result.is_number else None


def _input_size(program: LiveProgram, symbol: Any) -> int | None:
    inputs = program.graph_signature.user_inputs
    leaves = pytree.tree_leaves(program.example_inputs)
    if program.example_inputs is None or len(leaves) != len(inputs):
        return None
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    for name, leaf in zip(inputs, leaves, strict=True):
        value = values.get(name) if isinstance(name, str) else None
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        shape = leaf.shape if isinstance(leaf, torch.Tensor) else (leaf,)
        for size, length in zip(sizes, shape, strict=False):
            if isinstance(size, torch.SymInt) and expression_of(size) == symbol:
                ragged = isinstance(length, torch.SymInt)  # of a nested tensor, which has no number
                return None if ragged else int(length)
    return None


def symbol_value(env: Any, symbol: Any) -> int | None:
    """A symbol's value in the example inputs, by a ShapeEnv; None where it knows none."""
    value = torch_has.HINTS.of(env, {}).get(symbol)
    return int(value) if value is not None and value.is_number and value.is_integer else None


def apply_replacements(env: Any, expression: Any) -> Any:
    """An expression with the symbols put in that a ShapeEnv found equal to something else."""
    replace = torch_has.REPLACE.of(env)
    return replace(expression) if replace is not None else expression


def linear_in(expression: Any, symbol: Any) -> tuple[int, int] | None:
    """An expression as `scale * symbol + offset` with whole numbers, scale 1 or more; else None."""
    line = find_line(read_sympy(expression)) if isinstance(expression, sympy.Basic) else None
    return line[1:] if line is not None and line[0] == str(symbol) else None


def list_traced_symbols(env: Any) -> list[Any]:
    """The sympy symbols that a ShapeEnv knows a range of."""
    return list(torch_has.VAR_TO_RANGE.of(env, {}))


def find_range(env: Any, symbol: Any) -> tuple[int | None, int | None]:
    """The least and greatest value that a ShapeEnv allows a symbol; None where it is open."""
    bounds = torch_has.VAR_TO_RANGE.of(env, {}).get(symbol)
    return (None, None) if bounds is None else (int_bound(bounds.lower), int_bound(bounds.upper))


def symbols_left(program: LiveProgram, condition: Any) -> set[Any]:
    """The symbols of the program that a condition recorded while tracing is about.

    A symbol found equal to another, or to a number, is no longer in the program.
    """
    env = shape_env(program)
    if env is None:
        return set()
    left = (
        apply_replacements(env, free_symbol).free_symbols for free_symbol in condition.free_symbols
    )
    return set().union(*left)


def shape_env(program: LiveProgram) -> Any:
    """The ShapeEnv of a program's fake tensors: symbols, ranges and replacements.

    None where the program has neither a tensor nor a size, or torch does not tell.
    """
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if is_fake(value):
            return torch_has.MODE_SHAPE_ENV.of(torch_has.FAKE_MODE.of(value))
        if isinstance(value, torch.SymInt):
            return torch_has.SYM_SHAPE_ENV.of(value.node)
    return None


@undone
def keep_sizes(program: LiveProgram) -> Iterator[None]:
    """Puts back what is known of a program's sizes.

    A copy shares the fake tensors and their ShapeEnv: who traces a copy, as ExecuTorch's verifier
    does, can decide there that a size is 2, and it would be 2 in the program, too. Symbols that
    the copy adds stay.
    """
    env = shape_env(program)
    attributes = {} if env is None else vars(env)
    tables = [value for value in attributes.values() if isinstance(value, dict | list | set)]
    before = [_copy_table(table) for table in tables]
    symbols = set(torch_has.VAR_TO_RANGE.of(env, ()))
    yield
    for table, held in zip(tables, before, strict=True):
        if isinstance(table, list):
            table[:] = held
            continue
        added = {key for key in table if isinstance(key, sympy.Symbol) and key not in symbols}
        held.update({key: table[key] for key in added} if isinstance(table, dict) else added)
        table.clear()
        table.update(held)
    for name in attributes:
        if name.endswith("version_counter"):  # what torch caches of sizes is of a version
            attributes[name] += 1


def _copy_table(table: Any) -> Any:
    if isinstance(table, dict):
        return {key: [*part] if isinstance(part, list) else part for key, part in table.items()}
    return copy.copy(table)


def open_sizes(program: LiveProgram) -> dict[str, Any]:
    """The sizes of a program's inputs that are not a number, by their place: `x.shape[0]`."""
    return {
        f"{node.name}.shape[{dim}]": size
        for node in program.graph.nodes
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor)
        for dim, size in enumerate(node.meta["val"].shape)
        if not isinstance(read_size(size), int)
    }


def symbols_in(program: LiveProgram) -> set[str]:
    """torch's names of the symbols that the values of a program are made of, nested graphs too."""
    result: set[str] = set()
    for node in _all_nodes(program):
        for value in pytree.tree_leaves(node.meta.get("val")):
            sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
            for size in sizes:
                if isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
                    result |= {str(free_symbol) for free_symbol in expression_of(size).free_symbols}
    return result


def guards_code(program: LiveProgram) -> list[str]:
    """The guards that travel with a program, as Python text; none where torch keeps no list."""
    return list(torch_has.GUARDS_CODE.of(program) or [])


def list_asserted_conditions(program: LiveProgram) -> list[Any]:
    """The conditions on sizes that a program's own asserts check, as sympy booleans.

    Those in the functions of its operators are among them.
    """
    result = []
    for node in _all_nodes(program):
        if node.target is torch.ops.aten._assert_scalar.default:
            value = getattr(node.args[0], "meta", {}).get("val")
            if isinstance(value, torch.SymBool):
                result.append(expression_of(value))
    return result


def _all_nodes(program: LiveProgram) -> Iterator[torch.fx.Node]:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from module.graph.nodes


def is_asserted_before_replacement(program: LiveProgram, condition: Any) -> bool:
    """Whether an assert checks a condition that torch took for granted after it had asked for it.

    Two sizes of a ShapeVar are one symbol once they are known to be equal, so that the assert is
    `True` as torch keeps it. Its failure message has the original condition.
    """
    text = f"for expression {condition} on node"
    return any(
        node.target is torch.ops.aten._assert_scalar.default
        and text in str(node.args[1])
        and not asserts_nothing(node)
        for node in program.graph.nodes
    )


def asserts_nothing(node: torch.fx.Node) -> bool:
    """Whether a node asserts that a size is equal to itself."""
    if node.target is not torch.ops.aten._assert_scalar.default:
        return False
    asked = node.args[0]
    if not isinstance(asked, torch.fx.Node) or asked.target is not operator.eq:
        return False
    return asked.args[0] is asked.args[1]


def is_truth_value(env: Any, condition: Any) -> bool:
    """Whether a condition is that a tensor is true: a number of 0 and 1, from data, is 1."""
    symbols = list(getattr(condition, "free_symbols", ()))
    return len(symbols) == 1 and condition.is_Relational and find_range(env, symbols[0]) == (0, 1)


def is_relation(condition: Any) -> bool:
    """Whether torch wanted to know if something holds, and not what a number is."""
    return bool(getattr(condition, "is_Relational", False) or getattr(condition, "is_Boolean", 0))


_TRIED = range(-4, 130)


def is_implied(conditions: list[Any], condition: Any) -> bool:
    """Whether a condition implied by others: the same one, or of one symbol and tried out."""
    if any(str(known) == str(condition) for known in conditions):
        return True
    symbols = list(condition.free_symbols)
    if len(symbols) != 1:
        shapes = [sorted(map(str, condition.free_symbols)) for condition in conditions]
        return sorted(map(str, symbols)) in shapes
    own = [condition for condition in conditions if condition.free_symbols == {symbols[0]}]
    return bool(own) and all(
        bool(condition.subs(symbols[0], number))
        for number in _TRIED
        if all(bool(value.subs(symbols[0], number)) for value in own)
    )
