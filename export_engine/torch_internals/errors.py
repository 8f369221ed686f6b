"""Attributes of torch's errors besides their text."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.operators import OpOverload, operator_name, overload_name


def is_constraint_violation(error: BaseException) -> bool:
    """Whether the requested shapes were rejected: by the guards of a trace, or by the example.

    A dim marked `Dim.DYNAMIC` that was fixed is a plain ValueError, recognized only by its message.
    Dynamo also calls a decision on an unbacked symbol within an op a violation, which it is not.
    """
    if type(error.__cause__).__name__ == "GuardOnDataDependentSymNode":
        return False
    if "ConstraintViolationError" in (item.__name__ for item in type(error).__mro__):
        return True
    if _is_of_the_solver(error):
        return True
    kind = getattr(getattr(error, "error_type", None), "name", "")
    text = str(getattr(error, "msg", error))
    return kind == "CONSTRAINT_VIOLATION" or "user-specified ranges and inferred ranges" in text


def _is_of_the_solver(error: BaseException) -> bool:
    """Whether torch stumbled while it solved for the ranges of Dims, or worded what it found.

    sympy raises NotImplementedError for an inequality that it cannot solve.
    """
    if not isinstance(error, AssertionError | NotImplementedError | TypeError | ValueError):
        return False
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = (code.co_name for code in codes if code.co_filename.endswith("symbolic_shapes.py"))
    return not {"solve", "prettify_results"}.isdisjoint(own)


_VIOLATED = re.compile(r"Constraints violated \((?P<names>[^)]*)\)!")


def find_violated_dims(error: BaseException) -> set[str]:
    """The names of the Dims that a constraint violation is about; they are in its text alone."""
    match = _VIOLATED.match(str(getattr(error, "msg", error)))
    return {name.strip() for name in match["names"].split(",")} if match else set()


def operator_without_fake(error: BaseException) -> tuple[str, str] | None:
    """The operator that an error says has no fake kernel: `ns::name` and its overload.

    An operator of torch.library is on the error; one made by `custom_op` only in the frame that
    raised, as the definition that has no function to call there.
    """
    operator = getattr(error, "func", None)
    if isinstance(operator, OpOverload) and "UnsupportedOperator" in type(error).__name__:
        overload = overload_name(operator)
        return operator_name(operator), "" if overload == "default" else overload
    if not (torch_has.CUSTOM_OP and torch_has.CUSTOM_OP_FAKE and torch_has.CUSTOM_OP_NAME):
        return None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        definition = frame.f_locals.get("self")
        made_here = isinstance(definition, torch_has.CUSTOM_OP.value)
        if made_here and torch_has.CUSTOM_OP_FAKE.of(definition) is None:
            return str(torch_has.CUSTOM_OP_NAME.of(definition)), ""
    return None


def find_unregistered_output(error: BaseException) -> tuple[type | None, list[Any], str] | None:
    """The class of an output that torch does not know, the keys to it, and the class of them all.

    In non-strict mode the function that flattens the outputs holds them all; in strict mode there
    are Dynamo's stand-ins, and the number of the output takes the place of keys. None for other
    errors; None for the class where Dynamo does not know it either.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames:
        return None
    f_locals = frames[-1].f_locals
    if frames[-1].f_code.co_name == "flat_fn" and "tree_out" in f_locals and "i" in f_locals:
        leaves = pytree.tree_flatten_with_path(f_locals["tree_out"])[0]
        keys = [path for path, leaf in leaves if leaf is f_locals["i"]]
        whole = f_locals["tree_out"]
        whole = whole[0] if isinstance(whole, tuple) and len(whole) == 1 else whole
        return type(f_locals["i"]), list(keys[0]) if keys else [], type(whole).__name__
    value = f_locals.get("node") if frames[-1].f_code.co_name == "_make_argument_spec" else None
    if value is not None and not isinstance(value, torch.fx.Node):
        return type(value), [], ""  # a constant that torch takes for a node
    if frames[-1].f_code.co_name == "compile_subgraph" and "vt" in f_locals and "idx" in f_locals:
        try:
            return f_locals["vt"].python_type(), [f_locals["idx"]], ""
        except NotImplementedError:
            return None, [f_locals["idx"]], ""
    return None


def node_that_failed(error: BaseException) -> torch.fx.Node | None:
    """The op that a graph's interpreter ran when an error was raised; None for another error."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node = frame.f_locals.get("n") if frame.f_code.co_name == "run_node" else None
        if isinstance(node, torch.fx.Node):
            return node
    return None


def find_scripted_callee(error: BaseException) -> Any:
    """The scripted module whose call raised an error; None for another error."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    called = frames[-1].f_locals.get("self") if frames else None
    return called if isinstance(called, torch.jit.ScriptModule) else None


def is_raised_in(error: BaseException, functions: Iterable[str]) -> bool:
    """Whether the innermost frame of an error's traceback is one of these functions of torch's."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_code.co_name in set(functions)


def find_hashed_size(error: BaseException) -> Any:
    """The symbolic number that Python asked for a hash, as a dict does; None for another error."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not is_raised_in(error, ("__hash__",)):
        return None
    asked = frames[-1].f_locals.get("self")
    return asked if isinstance(asked, torch.SymInt) else None


def control_flow_operator(errors: Iterable[BaseException]) -> str:
    """The control-flow operator that errors came through: `torch.cond`, `map`; empty for none.

    Dynamo notes it on the error; a check before that is known by the file it is in.
    """
    for error in errors:
        noted = getattr(error, "_hop_name", None)
        if isinstance(noted, str):
            return noted.removeprefix("torch.ops.higher_order.").removesuffix("_impl")
        for frame, _ in traceback.walk_tb(error.__traceback__):
            path = Path(frame.f_code.co_filename)
            if path.parent.name == "_higher_order_ops" and path.stem in ("cond", "while_loop"):
                return f"torch.{path.stem}"
    return ""


def branch_mismatch(error: BaseException) -> tuple[str, Any, Any] | None:
    """The difference of the tensors that two branches return, and both values: `dtype`."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        f_locals = frame.f_locals
        if frame.f_code.co_name == "check_tensor_meta_match" and "lattr" in f_locals:
            return str(f_locals["attr_name"]), f_locals["lattr"], f_locals["rattr"]
    return None


def writing_nodes(errors: Iterable[BaseException]) -> list[str]:
    """The stack texts of the nodes that write to an input of a branch, while Dynamo refuses it."""
    for error in errors:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_name == "check_aliasing_and_input_mutation":
                graph = frame.f_locals.get("graph")
                nodes = graph.nodes if isinstance(graph, torch.fx.Graph) else ()
                return [node.meta.get("stack_trace") or "" for node in nodes if _writes(node)]
    return []


def find_returned_views(errors: Iterable[BaseException]) -> list[str]:
    """The stack texts of the nodes of a branch that return a view of an input of it."""
    for error in errors:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            graph = frame.f_locals.get("graph")
            if frame.f_code.co_name == "check_aliasing_and_input_mutation" and graph is not None:
                inputs = {_storage(n) for n in graph.nodes if n.op == "placeholder"} - {None}
                returned = [n for out in graph.find_nodes(op="output") for n in out.all_input_nodes]
                views = [n for n in returned if n.op != "placeholder" and _storage(n) in inputs]
                return [node.meta.get("stack_trace") or "" for node in views]
    return []


def storage_of(value: Any) -> Any:
    """A key of a traced tensor's memory; None for other values."""
    if not isinstance(value, torch.Tensor):
        return None
    return torch_has.STORAGE.of(value.untyped_storage())


def _storage(node: torch.fx.Node) -> Any:
    return storage_of(node.meta.get("example_value"))


def _writes(node: torch.fx.Node) -> bool:
    """Whether an op works in place, by its name: `add_`, `iadd`, `setitem`."""
    if not node.op.startswith("call"):
        return False
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name in ("setitem", "iadd", "isub", "imul", "itruediv", "copy_")
