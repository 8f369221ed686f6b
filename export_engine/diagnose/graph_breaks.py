"""Failures of strict mode: Python that Dynamo cannot trace."""

from __future__ import annotations

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.break_messages import is_plain, plain_break
from export_engine.diagnose.errors import break_type, cause, find, message
from export_engine.diagnose.explanations import graph_break_page
from export_engine.diagnose.facts import GraphBreak
from export_engine.diagnose.failing_line import chain, failing_place
from export_engine.diagnose.torch_messages import explanation, hints, plain
from export_engine.diagnose.value_origin import find_last_traced, is_drawn
from export_engine.source import parse_stack_trace
from export_engine.torch_internals import node_that_failed
from export_engine.traced_sizes import symbol_names


def diagnose_graph_break(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a graph break that no other family recognizes."""
    kind = break_type(attempt.error)
    if not kind:
        return None
    place = failing_place(attempt.error)
    text = message(find(attempt.error, "Unsupported", "TorchRuntimeError") or attempt.error)
    names = symbol_names(attempt)
    called = f"`{place.text}`" if place.text else "this line"
    told = plain(explanation(text), names)
    who = "Strict mode"
    if attempt.request is not None and not attempt.request.strict:
        who = "Strict mode, which torch.cond and similar operators use to trace their functions,"
    return Diagnosis(
        kind=Kind.GRAPH_BREAK,
        sentence=rules.GraphBreak.SENTENCE(
            who=who, called=called, reason=plain(plain_break(kind, text), names)
        ),
        why=(told if is_plain(told) else "") or rules.GraphBreak.WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else find_last_traced(attempt),
        links=graph_break_page(kind),
        facts=GraphBreak(tuple(hints(text))),
    )


_WITHOUT_BREAK = {
    "add additional input during export": "it draws a number with Python's `random`, which "
    "strict mode would make an input of the program",
    "byte Variables are valid indices": "one of several indices is data-dependent",
    "call Tensor.requires_grad_()": "inside of a torch.func transform, it reads a parameter or a "
    "buffer that was not read before",
}
"""Failures of strict mode without a graph break: torch's message, and ours."""
_DRAWS = (
    "it draws a random number with NumPy, and Python needs its value, which is unknown while "
    "tracing"
)


def diagnose_missing_break(attempt: Failed) -> Diagnosis | None:
    """Diagnoses what TorchDynamo refuses with an error that has no page."""
    text = message(cause(attempt.error))
    reason = next((sentence for words, sentence in _WITHOUT_BREAK.items() if words in text), "")
    unknown = find(attempt.error, "GuardOnDataDependentSymNode")
    if unknown is not None and is_drawn(attempt, getattr(unknown, "cond", None)):
        reason = _DRAWS
    if not reason or attempt.request is None or not attempt.request.strict:
        return None
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "this line"
    return Diagnosis(
        kind=Kind.GRAPH_BREAK,
        sentence=rules.GraphBreak.MISSING_BREAK(called=called, reason=reason),
        why=rules.GraphBreak.WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else find_last_traced(attempt),
        facts=GraphBreak(()),
    )


_CHECKPOINT = "tag_activation_checkpoint"


def diagnose_checkpoint(attempt: Failed) -> Diagnosis | None:
    """Diagnoses activation checkpointing, which strict mode captures and torch cannot run then."""
    failed = next(filter(None, map(node_that_failed, chain(attempt.error))), None)
    if failed is None or _CHECKPOINT not in str(failed.target):
        return None
    stack = parse_stack_trace(failed.meta.get("stack_trace") or "")
    return Diagnosis(
        kind=Kind.GRAPH_BREAK,
        sentence=rules.GraphBreak.CHECKPOINT(),
        why=rules.GraphBreak.CHECKPOINT_WHY(),
        stack=stack,
        related=() if stack else find_last_traced(attempt),
        facts=GraphBreak(()),
    )
