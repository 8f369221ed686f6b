"""Finds where a data-dependent value was computed, if not on the failing line.

A number computed from data has its birth recorded with its line; of a tensor, the graph traced so
far knows the operator that made it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from export_engine.attempt import Failed, Related
from export_engine.diagnose.errors import find, message
from export_engine.diagnose.failing_line import Place
from export_engine.diagnose.torch_messages import deciding_node
from export_engine.source import Stack, code_of, parse_stack_trace
from export_engine.trace import SymbolBirth

_MOST = 3


def is_drawn(attempt: Failed, condition: Any) -> bool:
    """Whether one of the numbers of a condition is a random number of NumPy's."""
    return any(birth.is_drawn for birth in _find_births(attempt, condition))


def _find_births(attempt: Failed, condition: Any) -> list[SymbolBirth]:
    wanted = {str(symbol) for symbol in getattr(condition, "free_symbols", ())}
    return [b for b in attempt.recording.births if str(b.symbol) in wanted and not b.source]


def origin_of_symbol(
    attempt: Failed, condition: Any, names: Mapping[str, str], place: Place
) -> tuple[Related, ...]:
    """Where the numbers of a condition were computed."""
    births = _find_births(attempt, condition)
    return tuple(
        Related(f"computes {_describe_birth(birth, names)}", birth.stack)
        for birth in births[:_MOST]
        if birth.stack and birth.stack[-1] != (place.stack[-1] if place.stack else None)
    )


def _describe_birth(birth: SymbolBirth, names: Mapping[str, str]) -> str:
    name = names.get(str(birth.symbol), "")
    return f"data-dependent `{name}`" if name else "the data-dependent number"


def origin_of_tensor(attempt: Failed, place: Place, asked: ast.expr | None) -> tuple[Related, ...]:
    """Where the tensor was computed that is asked for its value and only named at this place.

    Args:
        attempt: the failure.
        place: where it is asked.
        asked: the expression that is asked for its value.
    """
    if not place.stack or not isinstance(asked, ast.Name | ast.Attribute):
        return ()
    told = deciding_node(message(find(attempt.error, "Unsupported") or attempt.error))
    stack = _find_item_source(attempt, place) or _find_by_node_name(
        attempt, told or place.text_of(asked)
    )
    if not stack and isinstance(asked, ast.Attribute):
        stack = _find_attribute_assignment(attempt, asked.attr)
    around = {(location.file, location.line) for location in place.stack}
    if not stack or (stack[-1].file, stack[-1].line) in around:
        return ()
    text = _statement_text(stack)
    return (Related(f"computes the value: `{text}`" if text else "computes the value", stack),)


def find_last_traced(attempt: Failed) -> tuple[Related, ...]:
    """The last traced line, for a failure without a place."""
    stacks = (parse_stack_trace(n.meta.get("stack_trace") or "") for n in reversed(_calls(attempt)))
    last = next(filter(None, stacks), ())
    return (Related("is the last line that was traced", last),) if last else ()


def _find_item_source(attempt: Failed, place: Place) -> Stack:
    """The line of the operator whose result was read by `item`.

    For non-strict mode. Ops of the reading line itself are skipped.
    """
    node = next(iter(reversed(_calls(attempt))), None)
    asking = (place.stack[-1].file, place.stack[-1].line)
    if node is None or _line(node) != asking:
        return ()
    while node is not None:
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        if not stack or (stack[-1].file, stack[-1].line) != asking:
            return stack
        read = [
            input_node for input_node in node.all_input_nodes if input_node.op.startswith("call")
        ]
        node = read[-1] if read else None
    return ()


def _find_by_node_name(attempt: Failed, name: str) -> Stack:
    """The line of an operator by its name in Dynamo's graph, or after a variable."""
    numbered = re.compile(rf"{re.escape(name)}(_\d+)?")
    calls = _calls(attempt)
    items = [node for node in calls if node.name == name]
    items = items or [node for node in calls if numbered.fullmatch(node.name)]
    return parse_stack_trace(items[-1].meta.get("stack_trace") or "") if items else ()


def _find_attribute_assignment(attempt: Failed, name: str) -> Stack:
    """The last traced line that sets an attribute of a name: up to 2.11, torch names no node."""
    for node in reversed(_calls(attempt)):
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        code = code_of(stack[-1].file) if stack else None
        statement = code.statement(stack[-1].line) if code else None
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets):
            return stack
    return ()


def _calls(attempt: Failed) -> list[Any]:
    graph = attempt.recording.graph
    return [node for node in graph.graph.nodes if node.op.startswith("call")] if graph else []


def _line(node: Any) -> tuple[str, int] | None:
    stack = parse_stack_trace(node.meta.get("stack_trace") or "")
    return (stack[-1].file, stack[-1].line) if stack else None


def _statement_text(stack: Stack) -> str:
    code = code_of(stack[-1].file)
    statement = code.statement(stack[-1].line) if code else None
    return code.text(statement) if code and statement is not None else ""
