"""Where a value that decides was computed, where that is another line than the one it decides on.

A number computed from data has its birth recorded with its line; of a tensor, the graph traced so
far knows the operator that made it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from export_engine.attempt import Failed
from export_engine.diagnose.place import Place
from export_engine.diagnosis import Related
from export_engine.recorder import SymbolBirth
from export_engine.stacks import Stack, parse_stack_trace
from export_engine.syntax import code_of

_MOST = 3


def origin_of_symbol(
    attempt: Failed, condition: Any, names: Mapping[str, str], place: Place
) -> tuple[Related, ...]:
    """Where the numbers of a condition were computed."""
    wanted = {str(symbol) for symbol in getattr(condition, "free_symbols", ())}
    births = [b for b in attempt.recording.births if str(b.symbol) in wanted and not b.source]
    return tuple(
        Related(f"computes {_called(birth, names)}", birth.stack)
        for birth in births[:_MOST]
        if birth.stack and birth.stack[-1] != (place.stack[-1] if place.stack else None)
    )


def _called(birth: SymbolBirth, names: Mapping[str, str]) -> str:
    name = names.get(str(birth.symbol), "")
    return f"`{name}` from data" if name else "the number from data"


def origin_of_tensor(attempt: Failed, place: Place) -> tuple[Related, ...]:
    """Where the tensor was computed that was asked for its value: the last one traced."""
    if not place.stack:
        return ()
    stack = _last_computed(attempt, place)
    around = {(each.file, each.line) for each in place.stack}
    if not stack or (stack[-1].file, stack[-1].line) in around:
        return ()
    text = _statement_text(stack)
    return (Related(f"computes the value: `{text}`" if text else "computes the value", stack),)


def _last_computed(attempt: Failed, place: Place) -> Stack:
    """The line of the operator whose result was asked for its value.

    Asking may be an operator of its own, `item`, and so may be what the line of the question does
    with the result before; they are passed over.
    """
    graph = attempt.recording.graph
    calls = [n for n in graph.graph.nodes if n.op.startswith("call")] if graph else []
    asking = (place.stack[-1].file, place.stack[-1].line)
    node = calls[-1] if calls else None
    while node is not None:
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        if not stack or (stack[-1].file, stack[-1].line) != asking:
            return stack
        read = [each for each in node.all_input_nodes if each.op.startswith("call")]
        node = read[-1] if read else None
    return ()


def _statement_text(stack: Stack) -> str:
    code = code_of(stack[-1].file)
    statement = code.statement(stack[-1].line) if code else None
    return code.text(statement) if code and statement is not None else ""
