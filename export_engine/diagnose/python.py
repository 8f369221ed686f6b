"""Failures about Python around tensors: NumPy, `.data`, leaked tensors, number formats."""

from __future__ import annotations

import ast
import traceback

import torch

from export_engine.attempt import Diagnosis, Failed, Kind, Related
from export_engine.diagnose.derivatives import called_in, derivative_after, derivative_at
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
    formats_a_tensor,
    leaked_names,
)
from export_engine.source import Stack, parse_stack_trace
from export_engine.torch_internals import raised_in

_DATA_BREAKS = ("Failed to mutate tensor data attribute",)


def diagnose_numpy(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a call into NumPy."""
    broken = break_type(attempt.error)
    said = message(cause(attempt.error))
    in_break = "numpy" in broken.lower() or "ndarray" in broken
    if not in_break and not any(words in said for words in NUMPY_REFUSED):
        return None
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "This line"
    return Diagnosis(
        kind=Kind.NUMPY,
        sentence=f"{called} converts a tensor to NumPy, which needs values, and fake tensors "
        "have none.",
        why="NumPy functions are not ATen ops, so they cannot be captured in the graph. torch "
        "has equivalents of most of them; strict mode can translate some.",
        stack=place.stack,
        span=place.span,
        links=graph_break_page(broken),
    )


def diagnose_data_write(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a write through `.data`, or a leaked tensor."""
    if break_type(attempt.error).startswith(_DATA_BREAKS):
        return _through_data(attempt, failing_place(attempt.error))
    said = message(cause(attempt.error))
    if LEAKED in said:
        place = Place(_where_leaked(attempt, leaked_names(said)))
    elif WRAPPED in said:
        place = Place(_where_wrapped(attempt))
    else:
        return None
    if _data_in(place) is not None:
        return _through_data(attempt, place)
    taken = derivative_at(place) if place.stack else _taken_on_gpu(attempt, leaked_names(said))
    if taken is not None:
        return taken
    return Diagnosis(
        kind=Kind.TENSOR_LEAK,
        sentence="A tensor here was created where torch.export does not see it, so it has no "
        "values to store in the program."
        if place.stack
        else (
            "The program would contain a fake tensor: one that was created while tracing and "
            "has no values."
        ),
        why="Everything in a program comes from its inputs, parameters, buffers or constants. A "
        "tensor created or mutated without the tracer seeing it, or left over from an "
        "earlier trace, is none of these.",
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
        sentence=f"{called} copies the Python object of a tensor, which tracing does not follow: "
        f"the copy has no values. `{name}.view_as({name})` is traced, and shares its memory too.",
        why="While tracing, a tensor is a fake tensor, which torch's operators create. One that "
        "Python copies is not known to the tracer.",
        stack=place.stack,
        span=place.span_of(copy) or place.span,
        related=(Related("computes with the copy", used.stack),) if elsewhere else (),
    )


def _where_copied(attempt: Failed, used: Place) -> Place:
    """The line that made the copy: of several, the last whose name the failing line reads."""
    places = [Place(stack) for stack in attempt.recording.copies]
    read = _names_in(used, ast.Load)
    named = [each for each in places if _names_in(each, ast.Store) & read]
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
    return called_in(place, _COPIES)


_COPIES = (".copy.copy", ".copy.deepcopy", ".copy", ".deepcopy")


def diagnose_converted_module(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a module that is moved or cast in `forward`."""
    if not any(NOT_SWAPPED in message(each) for each in chain(attempt.error)):
        return None
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "This line"
    return Diagnosis(
        kind=Kind.MODULE_CHANGED,
        sentence=f"{called} converts a module while it is traced, which replaces its parameters.",
        why="While tracing, parameters are fake tensors, which "
        "cannot be replaced. Convert the module before the export.",
        stack=place.stack,
        span=place.span,
    )


def _through_data(attempt: Failed, place: Place) -> Diagnosis:
    node = _data_in(place)
    text = place.text_of(node)
    return Diagnosis(
        kind=Kind.DATA_WRITE,
        sentence=f"A write through `{text or '.data'}` is invisible to torch.export.",
        why="`.data` shares memory with the tensor but bypasses autograd and tracing, so a write "
        "to it is not captured.",
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


def _taken_on_gpu(attempt: Failed, names: set[str]) -> Diagnosis | None:
    """Diagnoses the derivative in or behind the line that was traced before a constant was read.

    The ops of a backward pass on a GPU are of a thread of autograd's, which has no line of the
    model.
    """
    graph = attempt.recording.graph
    last: Stack = ()
    for node in graph.graph.nodes if graph is not None else ():
        if any(str(each.name).endswith(name) for each in node.all_input_nodes for name in names):
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
    number = any(words in said for words in FORMATTED) or raised_in(error, ("__hash__",))
    written = formats_a_tensor(said)
    if not number and not written and not any(words in said for words in NO_MEMORY):
        return None
    place = failing_place(attempt.error)
    text = place.text
    called = f"`{text}`" if text else "This line"
    why = _NO_VALUES
    if any(map(_launches_triton, chain(attempt.error))):
        sentence = f"{called} launches a Triton kernel on fake tensors, which have no memory."
        why = _KERNEL
    elif number:
        sentence = f"{called} needs a concrete number, but it is computed from tensor values."
    else:
        does = "makes text of" if written else "copies"
        sentence = f"{called} {does} tensor values, and fake tensors have none."
    return Diagnosis(
        kind=Kind.OUTPUT_FROM_DATA,
        sentence=sentence,
        why=why,
        stack=place.stack,
        span=place.span,
        links=exportdb(Kind.OUTPUT_FROM_DATA),
        facts=DataDependent(""),
    )


_NO_VALUES = (
    "torch.export traces the model once, with fake tensors, which have shapes but no values. Only "
    "torch ops accept them."
)
_KERNEL = (
    "Non-strict export runs the Python, and so the launch itself. Make an op of it: "
    "`torch.library.triton_op`, with `torch.library.wrap_triton` around the kernel. Strict mode "
    "traces the launch itself, but torch cannot save such a program."
)


def _launches_triton(error: BaseException) -> bool:
    """Whether an error passed through Triton."""
    return any(
        str(frame.f_globals.get("__name__")).startswith("triton.")
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )
