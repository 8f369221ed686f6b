"""Failures about Python around tensors: NumPy, `.data`, leaked tensors, number formats."""

from __future__ import annotations

import ast
import traceback

import torch

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Related
from export_engine.diagnose.derivatives import derivative_after, derivative_at, find_call
from export_engine.diagnose.errors import break_type, cause, message
from export_engine.diagnose.explanations import exportdb, graph_break_page
from export_engine.diagnose.facts import DataDependent
from export_engine.diagnose.failing_line import Place, chain, failing_place
from export_engine.diagnose.torch_messages import (
    COPIED,
    FORMATTED,
    LEAKED,
    NO_MEMORY,
    NOT_SWAPPED,
    NUMPY_REFUSED,
    WRAPPED,
    find_leaked_names,
    formats_a_tensor,
)
from export_engine.source import Stack, parse_stack_trace
from export_engine.torch_internals import is_raised_in

_NO_EQUIVALENT = "attempted to trace numpy function unsupported by PyTorch"
_DATA_BREAKS = ("Failed to mutate tensor data attribute",)


def diagnose_numpy(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a call into NumPy."""
    broken = break_type(attempt.error)
    text = message(cause(attempt.error))
    in_break = "numpy" in broken.lower() or "ndarray" in broken
    if not in_break and not any(words in text for words in NUMPY_REFUSED):
        return None
    place = failing_place(attempt.error)
    if broken == _NO_EQUIVALENT:
        called = f"`{place.text}`" if place.text else "this line"
        sentence = rules.Numpy.NO_EQUIVALENT(called=called)
    else:
        called = f"`{place.text}`" if place.text else "This line"
        sentence = rules.Numpy.SENTENCE(called=called)
    return Diagnosis(
        kind=Kind.NUMPY,
        sentence=sentence,
        why=rules.Numpy.WHY(),
        stack=place.stack,
        span=place.span,
        links=graph_break_page(broken),
    )


def diagnose_data_write(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a write through `.data`, or a leaked tensor."""
    if break_type(attempt.error).startswith(_DATA_BREAKS):
        return _through_data(attempt, failing_place(attempt.error))
    text = message(cause(attempt.error))
    if LEAKED in text:
        place = Place(_where_leaked(attempt, find_leaked_names(text)))
    elif WRAPPED in text:
        place = Place(_where_wrapped(attempt))
    else:
        return None
    if _data_in(place) is not None:
        return _through_data(attempt, place)
    taken = (
        derivative_at(place)
        if place.stack
        else _diagnose_derivative_on_gpu(attempt, find_leaked_names(text))
    )
    if taken is not None:
        return taken
    return Diagnosis(
        kind=Kind.TENSOR_LEAK,
        sentence=rules.TensorLeak.CREATED_HERE()
        if place.stack
        else (rules.TensorLeak.IN_PROGRAM()),
        why=rules.TensorLeak.WHY(),
        stack=place.stack,
        span=place.span,
    )


def diagnose_deepcopy(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a tensor that Python copied, so that tracing does not know the copy."""
    if COPIED not in message(cause(attempt.error)):
        return None
    used = failing_place(attempt.error)
    place = _where_copied(attempt, used)
    copy = _copying_call(place)
    called = f"`{place.text_of(copy)}`" if copy is not None else "A copy made outside of torch"
    elsewhere = used.stack and used.stack[-1] != place.stack[-1]
    copied = copy.args[0] if copy is not None and copy.args else None
    name = ast.unparse(copied) if isinstance(copied, ast.Name | ast.Attribute) else "x"
    return Diagnosis(
        kind=Kind.TENSOR_LEAK,
        sentence=rules.TensorLeak.DEEPCOPY(called=called, name=name),
        why=rules.TensorLeak.DEEPCOPY_WHY(),
        stack=place.stack,
        span=place.span_of(copy) or place.span,
        related=(Related("computes with the copy", used.stack),) if elsewhere else (),
    )


def _where_copied(attempt: Failed, used: Place) -> Place:
    """The line that made the copy: of several, the last whose name the failing line reads."""
    places = [Place(stack) for stack in attempt.recording.copies]
    read = _names_in(used, ast.Load)
    named = [place for place in places if _names_in(place, ast.Store) & read]
    return next(reversed(named or places), used)


def _names_in(place: Place, context: type[ast.expr_context]) -> set[str]:
    """The variables and attributes that the statement of a place reads, or writes."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    return {
        ast.unparse(node)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, context)
    }


def _copying_call(place: Place) -> ast.Call | None:
    """The call of `copy.copy`, whatever it is imported as; else of something that ends so."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    imported = place.code.imported if place.code else {}
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call):
            first, dot, rest = ast.unparse(node.func).partition(".")
            if imported.get(first, first) + dot + rest == "copy.copy":
                return node
    return find_call(place, _COPIES)


_COPIES = (".copy.copy", ".copy.deepcopy", ".copy", ".deepcopy")


def diagnose_converted_module(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a module that is moved or cast in `forward`."""
    if not any(NOT_SWAPPED in message(error) for error in chain(attempt.error)):
        return None
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "This line"
    return Diagnosis(
        kind=Kind.MODULE_CHANGED,
        sentence=rules.ModuleChanged.SENTENCE(called=called),
        why=rules.ModuleChanged.WHY(),
        stack=place.stack,
        span=place.span,
    )


def _through_data(attempt: Failed, place: Place) -> Diagnosis:
    node = _data_in(place)
    text = place.text_of(node)
    return Diagnosis(
        kind=Kind.DATA_WRITE,
        sentence=rules.DataWrite.SENTENCE(code=text or ".data"),
        why=rules.DataWrite.WHY(),
        stack=place.stack,
        span=place.span_of(node) or place.span,
        links=exportdb(Kind.DATA_WRITE) + graph_break_page(break_type(attempt.error)),
    )


def _data_in(place: Place) -> ast.Attribute | None:
    """The part of the statement that reaches for `.data`."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return node
    return None


def _where_leaked(attempt: Failed, names: set[str]) -> Stack:
    """The first line that reads one of the constants that torch found to be without values."""
    graph = attempt.recording.graph
    for node in graph.graph.nodes if graph is not None else ():
        constant = any(str(node.name).endswith(name) for name in names or ("lifted_tensor",))
        if node.op not in ("placeholder", "get_attr") or not constant:
            continue
        for user in node.users:
            stack = parse_stack_trace(user.meta.get("stack_trace") or "")
            if stack:
                return stack
    return ()


def _diagnose_derivative_on_gpu(attempt: Failed, names: set[str]) -> Diagnosis | None:
    """Diagnose the derivative in or after the line that was traced before a constant was read.

    The ops of a backward pass on a GPU are of a thread of autograd's, which has no line of the
    model.
    """
    graph = attempt.recording.graph
    last: Stack = ()
    for node in graph.graph.nodes if graph is not None else ():
        if any(
            str(input_node.name).endswith(name)
            for input_node in node.all_input_nodes
            for name in names
        ):
            break
        last = parse_stack_trace(node.meta.get("stack_trace") or "") or last
    place = Place(last)
    return (derivative_at(place) or derivative_after(place)) if last else None


def _where_wrapped(attempt: Failed) -> Stack:
    """The first line that computes with a tensor that is wrapped, and so not fake itself."""
    graph = attempt.recording.graph
    for node in graph.graph.nodes if graph is not None else ():
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        if stack and node.op.startswith("call") and type(node.meta.get("val")) is torch.Tensor:
            return stack
    return ()


def diagnose_plain_value(attempt: Failed) -> Diagnosis | None:
    """Diagnoses Python code that needs tensor values.

    Told by what the innermost call refuses: the memory of a tensor without data, its text, or the
    text or hash of a number computed from data.
    """
    error = cause(attempt.error)
    said = message(error)
    number = any(words in said for words in FORMATTED) or is_raised_in(error, ("__hash__",))
    written = formats_a_tensor(said)
    if not number and not written and not any(words in said for words in NO_MEMORY):
        return None
    place = failing_place(attempt.error)
    text = place.text
    called = f"`{text}`" if text else "This line"
    why = rules.OutputFromData.READS_VALUES_WHY()
    if any(map(_launches_triton, chain(attempt.error))):
        sentence = rules.OutputFromData.TRITON_KERNEL(code=called)
        why = rules.OutputFromData.TRITON_KERNEL_WHY()
    elif number:
        sentence = rules.OutputFromData.CONCRETE(code=called)
    else:
        does = "formats" if written else "copies"
        sentence = rules.OutputFromData.READS_VALUES(code=called, does=does)
    return Diagnosis(
        kind=Kind.OUTPUT_FROM_DATA,
        sentence=sentence,
        why=why,
        stack=place.stack,
        span=place.span,
        links=exportdb(Kind.OUTPUT_FROM_DATA),
        facts=DataDependent(""),
    )


def _launches_triton(error: BaseException) -> bool:
    """Whether an error passed through Triton."""
    return any(
        str(frame.f_globals.get("__name__")).startswith("triton.")
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )
