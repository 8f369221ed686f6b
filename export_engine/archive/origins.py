"""Where a node of an archive comes from: its module and its lines, as torch kept them as text."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.archive import limits, schema
from export_engine.archive.names import cut
from export_engine.describe import Scopes, Stacks
from export_engine.source import Stack, parse_stack_trace, without_repeats


class Within(NamedTuple):
    """The origin of the node that runs a nested graph. torch records less inside than outside."""

    scope: int = -1
    stack: Stack = ()


class Origins:
    """The scopes and stacks of one Record."""

    def __init__(self, scopes: Scopes, stacks: Stacks) -> None:
        self.scopes = scopes
        self.stacks = stacks
        self._stack_numbers: dict[tuple[str, Stack], int] = {}
        self._module_stacks: dict[str, int] = {}

    def within(self, scope: int, stack: int) -> Within:
        """The origin of a node, for the graphs that it runs."""
        return Within(scope, self.stacks.stack(stack))

    def scope(self, metadata: schema.Metadata | None, within: Within) -> int:
        """The number of the innermost module that a node is in; -1 for none."""
        text = metadata.nn_module_stack if metadata else None
        if not text or len(text) > limits.STACK_TEXT:
            return within.scope
        known = self._module_stacks.get(text)
        if known is None:
            known = self._module_stacks[text] = self.scopes.number(_modules(text))
        return known if known >= 0 else within.scope

    def stack(self, metadata: schema.Metadata | None, within: Within) -> int:
        """The number of a node's stack; -1 for none."""
        text = metadata.stack_trace if metadata else None
        if not text or len(text) > limits.STACK_TEXT:
            return -1
        known = self._stack_numbers.get((text, within.stack))
        if known is None:
            stack = parse_stack_trace(text)[-limits.FRAMES :]
            if within.stack and stack[:1] != within.stack[:1]:
                stack = without_repeats([*within.stack, *stack])[-limits.FRAMES :]
            known = self._stack_numbers[text, within.stack] = self.stacks.number(stack)
        return known


def _modules(text: str) -> dict[str, tuple[str, str]]:
    """`key,path,class;key,path,class` as torch's nn_module_stack; anything else is left out."""
    found: dict[str, tuple[str, str]] = {}
    for item in text.split(";")[: limits.SCOPES]:
        parts = _parts(item)
        if len(parts) == 3:
            found[cut(parts[0])] = cut(parts[1]), cut(parts[2])
    return found


def _parts(item: str) -> list[str]:
    """A text split at top-level commas."""
    if "[" not in item and "(" not in item:
        return item.split(",")
    parts, start, depth = [], 0, 0
    for end, sign in enumerate(item):
        if sign in "[(":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(item[start:end])
            start = end + 1
    return [*parts, item[start:]]
