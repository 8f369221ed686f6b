"""The arguments of an op that changed, by the names that its schema gives them."""

from __future__ import annotations

import ast
import re
from functools import lru_cache


def changed_arguments(before: str, after: str, schema: str) -> tuple[str, str]:
    """What differs between two calls of an op: `value=0.5` and `value=0.7`.

    Args:
        before: arguments as text, `({}, 0.5)`, with `{}` where an input stands.
        after: the same of the other call.
        schema: of the op, as torch prints it; empty where it has none.

    Returns:
        The arguments that differ, of each call; a default where one is not given. All arguments
        where they cannot be told apart.
    """
    parameters = _parameters(schema)
    mine, theirs = (_by_name(each, list(parameters)) for each in (before, after))
    if mine is None or theirs is None:
        return before, after
    told: tuple[list[str], list[str]] = ([], [])
    for name in dict.fromkeys([*parameters, *mine, *theirs]):
        values = [each.get(name, parameters.get(name, "")) for each in (mine, theirs)]
        if values[0] != values[1]:
            for side, value in zip(told, values, strict=True):
                if value:
                    side.append(f"{name}={value}" if name.isidentifier() else value)
    return (", ".join(told[0]), ", ".join(told[1])) if any(told) else (before, after)


def _by_name(text: str, names: list[str]) -> dict[str, str] | None:
    """Arguments by name, or by position where no name is known; None if it is not valid Python."""
    try:
        call = ast.parse(f"f{text}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not isinstance(call, ast.Call):
        return None
    named = [*names, *(str(number) for number in range(len(names), len(call.args)))]
    found = {name: ast.unparse(each) for name, each in zip(named, call.args, strict=False)}
    return found | {each.arg or "**": ast.unparse(each.value) for each in call.keywords}


@lru_cache(maxsize=1024)
def _parameters(schema: str) -> dict[str, str]:
    """The parameters of a schema, and their defaults as Python; empty where there is none."""
    inner = schema.partition("(")[2].rpartition(") -> ")[0]
    parts = re.split(r",(?![^\[(]*[\])])", inner)
    found = [re.search(r"(\w+)(?:=(.*))?$", each.strip()) for each in parts]
    return {each[1]: _as_python(each[2] or "") for each in found if each}


def _as_python(default: str) -> str:
    try:
        return repr(ast.literal_eval(default))
    except (SyntaxError, ValueError):
        return default
