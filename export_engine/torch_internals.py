"""All use of torch's private names. Nothing else in the project may know them.

Each part says what happens where a name is missing: a hook that cannot be installed is left out,
and the export goes on with what torch itself records. Checked on torch 2.13.0.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import torch
from sympy.printing.precedence import PRECEDENCE
from torch._guards import TracingContext
from torch._library.custom_ops import CustomOpDef
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import _trace, dynamic_shapes
from torch.fx import _pytree as fx_pytree
from torch.fx.experimental import proxy_tensor, symbolic_shapes
from torch.utils import _pytree as pytree
from torch.utils._dtype_abbrs import dtype_abbrs
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.printers import PythonPrinter

from export_engine.recorder import PartialGraph, Raised, RecordedGuard, Recording, SymbolBirth
from export_engine.shapes.paths import join_path
from export_engine.stacks import (
    Location,
    Stack,
    format_stack,
    is_shown,
    parse_stack_trace,
    user_stack,
    without_repeats,
)

__all__ = [
    "FakeTensor",
    "HigherOrderOperator",
    "OpOverload",
    "branch_mismatch",
    "call_leaves",
    "calls_of_op",
    "control_flow_operator",
    "deregister_container",
    "derived_dim",
    "dim_bounds",
    "dim_hint",
    "dynamic_shapes_tree",
    "exportdb_cases",
    "expression_of",
    "graph_break",
    "guards_code",
    "int_bound",
    "is_constraint_violation",
    "is_container",
    "is_input_type",
    "is_relation",
    "is_truth_value",
    "key_text",
    "keywords_apart",
    "known_range",
    "linear_in",
    "map_call_leaves",
    "op_signature",
    "operator_without_fake",
    "pytree",
    "raised_in",
    "recording",
    "register_container",
    "replaced_sizes",
    "returned_views",
    "short_dtype",
    "specs_of_leaves",
    "symbol_hint",
    "symbol_printer",
    "symbol_value",
    "symbols_left",
    "torch_options",
    "unknown_output",
    "violated_dims",
    "writes_to_arguments",
    "writing_nodes",
]

_one_capture = threading.RLock()
"""The hooks sit on torch's classes, which all threads share: one capture records at a time."""


@contextmanager
def recording(into: Recording) -> Iterator[None]:
    """Records into `into` while an export runs inside; all hooks come off, whatever happens."""
    with _one_capture, ExitStack() as hooks:
        hooks.enter_context(_full_stacks())
        hooks.enter_context(_guards(into))
        hooks.enter_context(_births(into))
        hooks.enter_context(_modules(into))
        hooks.enter_context(_partial_graph(into))
        hooks.enter_context(_raised(into))
        hooks.enter_context(_keywords_apart())
        yield


@contextmanager
def torch_options(names: Iterable[str]) -> Iterator[None]:
    """Turns switches of torch on for a while; one that this torch lacks is passed over."""
    from torch._dynamo import config as dynamo_config
    from torch.fx.experimental import _config as fx_config

    with ExitStack() as switches:
        for name in names:
            for config in (fx_config, dynamo_config):
                if hasattr(config, name):
                    switches.enter_context(config.patch(**{name: True}))
        yield


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """`owner.name` replaced by `make(original)`, then put back as it was, inherited or own."""
    original = getattr(owner, name, None)
    if original is None:
        yield
        return
    own = vars(owner).get(name)
    setattr(owner, name, make(original))
    try:
        yield
    finally:
        if own is None:
            delattr(owner, name)
        else:
            setattr(owner, name, own)


def _full_stacks() -> AbstractContextManager[None]:
    """Gives nodes the whole user stack, where torch keeps only frames named `forward`.

    torch walks the stack in C++, makes text of all of it, then filters (`TracerBase.create_node`).
    Here only the frames to show are looked at, which costs less. See pytorch issue 191967.
    """

    def make(original: Any) -> Any:
        def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
            wanted = self.record_stack_traces
            self.record_stack_traces = False
            try:
                node = original(self, *args, **kwargs)
            finally:
                self.record_stack_traces = wanted
            if wanted and not node.stack_trace and node.op not in ("placeholder", "output"):
                stack = user_stack(sys._getframe(1), _lines_behind)
                if stack:
                    node.stack_trace = format_stack(stack)
            return node

        return create_node

    return _replaced(proxy_tensor.PythonKeyTracer, "create_node", make)


def _guards(into: Recording) -> AbstractContextManager[None]:
    """Records each guard with the line that asked for it."""

    def make(original: Any) -> Any:
        def log_guard(self: Any, prefix: str, g: Any, *args: Any, **kwargs: Any) -> Any:
            kind = "runtime_assert" if "runtime_assert" in prefix else "guard"
            into.guards.append(RecordedGuard(g, kind, _stack_in_any_mode()))
            return original(self, prefix, g, *args, **kwargs)

        return log_guard

    return _replaced(symbolic_shapes.ShapeEnv, "_log_guard", make)


@contextmanager
def _births(into: Recording) -> Iterator[None]:
    """Records each new symbol: of an input's dim, and of a value computed from data."""
    known: set[Any] = set()

    def backed(original: Any) -> Any:
        def create_symbol(self: Any, val: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
            if not into.traces:
                into.shape_env = self
            expression = original(self, val, source, *args, **kwargs)
            if getattr(expression, "is_Symbol", False) and expression not in known:
                known.add(expression)
                into.births.append(SymbolBirth(expression, _source_name(source), ()))
            return expression

        return create_symbol

    def unbacked(original: Any) -> Any:
        def log(self: Any, prefix: str, symbol: Any, *args: Any, **kwargs: Any) -> Any:
            into.births.append(SymbolBirth(symbol, "", _stack_in_any_mode()))
            return original(self, prefix, symbol, *args, **kwargs)

        return log

    env = symbolic_shapes.ShapeEnv
    with (
        _replaced(env, "create_symbol", backed),
        _replaced(env, "_log_create_unbacked_symbol", unbacked),
    ):
        yield


@contextmanager
def _modules(into: Recording) -> Iterator[None]:
    """Tells of each module that tracing enters.

    Non-strict tracing calls modules; strict tracing interprets their bytecode.
    """
    told = into.on_module
    if told is None:
        yield
        return
    from torch._dynamo.variables import nn_module

    def called(original: Any) -> Any:
        def call_module(self: Any, m: Any, *args: Any, **kwargs: Any) -> Any:
            told(m.get_base() if hasattr(m, "get_base") else m)
            return original(self, m, *args, **kwargs)

        return call_module

    def interpreted(original: Any) -> Any:
        def call_function(self: Any, *args: Any, **kwargs: Any) -> Any:
            told(self.value)
            return original(self, *args, **kwargs)

        return call_function

    variable = getattr(nn_module, "UnspecializedNNModuleVariable", None)
    with (
        _replaced(proxy_tensor._ModuleStackTracer, "call_module", called),
        _replaced(variable, "call_function", interpreted),
    ):
        yield


@contextmanager
def _partial_graph(into: Recording) -> Iterator[None]:
    """Keeps the graph of the outermost trace, however far it came.

    Strict mode traces twice: Dynamo interprets Python, and clears its graph when that fails; what
    it made is then traced again as non-strict mode traces the module.
    """
    from torch._dynamo import output_graph

    def traced(original: Any) -> Any:
        def dispatch_trace(root: Any, tracer: Any, *args: Any, **kwargs: Any) -> Any:
            into.traces += 1
            try:
                return original(root, tracer, *args, **kwargs)
            finally:
                into.traces -= 1
                if not into.traces and hasattr(tracer, "graph"):
                    into.graph = PartialGraph(tracer.graph, tracer.root)

        return dispatch_trace

    def interpreted(original: Any) -> Any:
        def cleanup(self: Any) -> None:
            error = sys.exc_info()[1]
            again = "RestartAnalysis" in (each.__name__ for each in type(error).__mro__)
            if error is not None and not again and not into.traces:
                with suppress(Exception):  # the error that ended the trace is the one to tell of
                    copied = torch.fx.Graph()
                    copied.graph_copy(self.tracers[0].graph, {})
                    into.graph = PartialGraph(copied, SimpleNamespace(**self.nn_modules))
            original(self)

        return cleanup

    with (
        _replaced(proxy_tensor, "dispatch_trace", traced),
        _replaced(output_graph.OutputGraph, "cleanup", interpreted),
    ):
        yield


def _raised(into: Recording) -> AbstractContextManager[None]:
    """Records the exceptions that Dynamo sees the model raise.

    One that passes a `finally` or a context manager is raised again there, and has lost its line.
    """
    from torch._dynamo import exc

    def make(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            frames = tuple(getattr(self, "real_stack", None) or ())
            into.raised.append(Raised(type(self).__name__, str(self), frames))

        return init

    seen = getattr(exc, "ObservedException", None)
    return _replaced(seen, "__init__", make) if seen is not None else nullcontext()


@contextmanager
def _keywords_apart() -> Iterator[None]:
    """Makes torch see each input of `**kwargs` as one of its own, under its keyword.

    torch takes them for one dict in some steps of an export and for several inputs in others, so
    that no spec of them is accepted (issues 150022 and 150371), and guards on them lead nowhere.
    Where the name is missing, torch's own error stands.
    """
    from torch._dynamo import eval_frame
    from torch._export import non_strict_utils

    def make(original: Any) -> Any:
        def combine_args(f: Any, args: Any, kwargs: Any) -> Any:
            combined = original(f, args, kwargs)
            called = f.forward if isinstance(f, torch.nn.Module) else f
            return keywords_apart(inspect.signature(called), combined)

        return combine_args

    with ExitStack() as hooks:
        for module in (dynamic_shapes, _trace, non_strict_utils, eval_frame):
            hooks.enter_context(_replaced(module, "_combine_args", make))
        yield


def keywords_apart(signature: inspect.Signature, by_parameter: Mapping[str, Any]) -> dict[str, Any]:
    """What is given by parameter, with each entry of `**kwargs` beside the others."""
    extra = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    keywords = by_parameter.get(extra) if extra else None
    others = {name: value for name, value in by_parameter.items() if name != extra}
    if not isinstance(keywords, Mapping) or by_parameter.keys() & keywords.keys():
        return dict(by_parameter)
    return {**others, **keywords}


def _source_name(source: Any) -> str:
    """The text of a Dynamo source; `name` was a method until 2.10."""
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)


def _stack_in_any_mode() -> Stack:
    """The user's stack now. Strict mode interprets their frames, and Dynamo keeps the list."""
    interpreted = TracingContext.extract_stack()
    locations = [Location(f.filename, f.lineno or 0, f.name) for f in interpreted]
    shown = without_repeats(location for location in locations if is_shown(location.file))
    return shown or user_stack(sys._getframe(2), _lines_behind)


def _lines_behind(frame: FrameType) -> Stack:
    """The user's lines behind a line of generated code, as when a branch of cond is traced again.

    The generated module knows which node each of its lines is, and the node has the stack. Where
    `_lineno_map` is missing, the frame stays unexplained and is left out.
    """
    module = frame.f_locals.get("self")
    lines = getattr(module, "_lineno_map", None)
    if not isinstance(module, torch.fx.GraphModule) or not lines:
        return ()
    index = lines.get(frame.f_lineno - frame.f_code.co_firstlineno)
    if index is None:
        return ()
    node = next(islice(module.graph.nodes, index, None), None)
    return parse_stack_trace(node.stack_trace or "") if node is not None else ()


class _UserTermsPrinter(PythonPrinter):
    """Prints sympy expressions as Python, with torch's symbols under the user's names."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802  # sympy's own naming
        name = str(expr)
        return self._names.get(name, name)

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        """`seq - 1`, where sympy's order of terms gives `(-1) + seq`."""
        terms = sorted(expr.args, key=lambda term: bool(term.is_number))
        first, *others = terms
        rest = (
            f" - {self._term(-each)}"
            if each.could_extract_minus_sign()
            else f" + {self._term(each)}"
            for each in others
        )
        return self._term(first) + "".join(rest)

    def _print_ToFloat(self, expr: Any) -> str:  # noqa: N802
        """`float(seq)`, where torch writes a function of its own."""
        return f"float({self._print(expr.args[0])})"

    def _helper_sqrt(self, expr: Any) -> str:
        return f"math.sqrt({self._print(expr)})"

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        """`0.5`, where sympy writes all digits that it keeps."""
        return repr(float(expr))

    def _term(self, term: Any) -> str:
        return str(self.parenthesize(term, PRECEDENCE["Add"]))


def symbol_printer(names: dict[str, str]) -> Callable[[Any], str]:
    """A printer of sympy expressions as Python text, under the given names of symbols.

    Args:
        names: torch's name of a symbol, `s77`, to the user's.
    """
    printer = _UserTermsPrinter(names)
    return lambda expression: str(printer.doprint(expression))


def expression_of(size: Any) -> Any:
    """The sympy expression of a SymInt, SymFloat or SymBool."""
    return size.node.expr


def short_dtype(dtype: torch.dtype) -> str:
    """A dtype as torch prints it on a graph: `f32`, `i64`, `b8`."""
    return str(dtype_abbrs.get(dtype) or str(dtype).removeprefix("torch."))


def int_bound(bound: Any) -> int | None:
    """A bound of a range as a number; None where it is infinite.

    A number computed from data is bounded by the largest that torch can hold, which says nothing.
    """
    if bound in (int_oo, -int_oo) or getattr(bound, "is_infinite", False):
        return None
    number = int(bound)
    return None if abs(number) >= sys.maxsize - 1 else number


def symbol_hint(program: torch.export.ExportedProgram, symbol: Any) -> int | None:
    """A symbol's value in the example inputs; None for one computed from data, or not known.

    The values are in the ShapeEnv that the program's fake tensors share; `backed_var_to_val` was
    called `var_to_val` before.
    """
    return symbol_value(_shape_env(program), symbol)


def symbol_value(env: Any, symbol: Any) -> int | None:
    """A symbol's value in the example inputs, by a ShapeEnv; None where it knows none."""
    renamed = hasattr(env, "backed_var_to_val")
    values = getattr(env, "backed_var_to_val" if renamed else "var_to_val", {})
    value = values.get(symbol)
    return int(value) if value is not None and value.is_number and value.is_integer else None


def is_constraint_violation(error: BaseException) -> bool:
    """Whether the shapes asked for were refused: by the guards of a trace, or by the example.

    A dim marked `Dim.DYNAMIC` that was fixed is a plain ValueError, told by its words alone.
    """
    if isinstance(error, symbolic_shapes.ConstraintViolationError):
        return True
    if isinstance(error, AssertionError):  # torch stumbles while it words a violation
        frames = traceback.walk_tb(error.__traceback__)
        return any(frame.f_code.co_name == "prettify_results" for frame, _ in frames)
    kind = getattr(getattr(error, "error_type", None), "name", "")
    said = str(getattr(error, "msg", error))
    return kind == "CONSTRAINT_VIOLATION" or "user-specified ranges and inferred ranges" in said


_VIOLATED = re.compile(r"Constraints violated \((?P<names>[^)]*)\)!")


def violated_dims(error: BaseException) -> set[str]:
    """The names of the Dims that a constraint violation is about; they are in its text alone."""
    found = _VIOLATED.match(str(getattr(error, "msg", error)))
    return {name.strip() for name in found["names"].split(",")} if found else set()


def replaced_sizes(env: Any, expression: Any) -> Any:
    """An expression with the symbols put in that a ShapeEnv found equal to something else."""
    return env.replace(expression) if env is not None else expression


def linear_in(expression: Any, symbol: Any) -> tuple[int, int] | None:
    """An expression as `scale * symbol + offset` with whole numbers, scale 1 or more; else None."""
    if getattr(expression, "free_symbols", None) != {symbol}:
        return None
    offset = expression.subs(symbol, 0)
    scale = expression.subs(symbol, 1) - offset
    whole = scale.is_integer and offset.is_integer and scale >= 1
    if not whole or not (expression - (scale * symbol + offset)).expand().is_zero:
        return None
    return int(scale), int(offset)


def known_range(env: Any, symbol: Any) -> tuple[int | None, int | None]:
    """The least and greatest value that a ShapeEnv allows a symbol; None where it is open."""
    bounds = getattr(env, "var_to_range", {}).get(symbol)
    return (None, None) if bounds is None else (int_bound(bounds.lower), int_bound(bounds.upper))


def symbols_left(program: torch.export.ExportedProgram, condition: Any) -> set[Any]:
    """The symbols of the program that a condition recorded while tracing is about.

    A symbol found equal to another, or to a number, is no more in the program.
    """
    env = _shape_env(program)
    if env is None:
        return set()
    return set().union(*(env.replace(each).free_symbols for each in condition.free_symbols))


def _shape_env(program: torch.export.ExportedProgram) -> Any:
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, FakeTensor):
            return value.fake_mode.shape_env
        if isinstance(value, torch.SymInt):
            return value.node.shape_env
    return None


def guards_code(program: torch.export.ExportedProgram) -> list[str]:
    """The guards that travel with a program, as Python text; none where torch keeps no list."""
    return list(getattr(program, "_guards_code", None) or [])


def call_leaves(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The leaves of a call's inputs in torch's order, by path: `x`, `cache.0.key`, `args.0`.

    Raises:
        ValueError: a container's class is registered without a function that names what is in it.
    """
    arguments = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    leaves = pytree.tree_flatten_with_path(arguments, is_leaf=lambda x: x is None)[0]
    return [(join_path(map(key_text, keys)), value) for keys, value in leaves]


def map_call_leaves(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    change: Callable[[str, Any], Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with each leaf of `call_leaves` changed, by path; new containers."""
    bound = signature.bind(*args, **kwargs)
    arguments = keywords_apart(signature, bound.arguments)
    changed = pytree.tree_map_with_path(
        lambda keys, value: change(join_path(map(key_text, keys)), value),
        arguments,
        is_leaf=lambda x: x is None,
    )
    named = [p.name for p in signature.parameters.values() if p.kind in _BY_POSITION]
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    extra = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), "")
    positional = [changed[name] for name in named[: len(args)]]
    keywords = {**changed.get(extra, {}), **changed}
    return (*positional, *changed.get(rest, ())), {name: keywords[name] for name in kwargs}


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@contextmanager
def calls_of_op(name: str, overload: str = "") -> Iterator[list[tuple[Any, dict[str, Any], Any]]]:
    """Collects an op's calls by real code: the overload, its arguments by name, its result.

    Args:
        name: `ns::name`.
        overload: of that name; empty for the default one.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    found: list[tuple[Any, dict[str, Any], Any]] = []

    class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            wanted = isinstance(func, OpOverload) and func._schema.name == name
            if wanted and func._overloadname == (overload or "default"):
                bound = op_signature(func).bind(*args, **(kwargs or {}))
                bound.apply_defaults()
                found.append((func, bound.arguments, result))
            return result

    with Watching():  # type: ignore[no-untyped-call]
        yield found


def writes_to_arguments(overload: Any) -> bool:
    """Whether an op's schema says that it writes to an argument."""
    return bool(overload._schema.is_mutable)


def op_signature(overload: Any) -> inspect.Signature:
    """The parameters of an op, by its schema, with their defaults."""
    given = overload._schema.arguments
    kinds = inspect.Parameter
    return inspect.Signature(
        [
            kinds(
                each.name,
                kinds.KEYWORD_ONLY if each.kwarg_only else kinds.POSITIONAL_OR_KEYWORD,
                default=each.default_value if each.has_default_value() else kinds.empty,
            )
            for each in given
        ]
    )


def key_text(key: Any) -> str:
    """One step of a pytree path: a dict's key, a list's index, a field's name."""
    for field in ("key", "idx", "name"):
        if hasattr(key, field):
            return str(getattr(key, field))
    return str(key)


def dynamic_shapes_tree(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any], specs: list[Any]
) -> dict[str, Any]:
    """The tree of `dynamic_shapes` for a call, from one spec per leaf of `call_leaves`."""
    following = iter(specs)
    tree: dict[str, Any] = dynamic_shapes._tree_map_with_path(
        lambda path, leaf: next(following), dict(signature.bind(*args, **kwargs).arguments)
    )
    return tree


def specs_of_leaves(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    given: Mapping[str, Any],
) -> list[Any]:
    """The spec of each leaf of `call_leaves`, from a whole `dynamic_shapes`: the way back."""
    arguments = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    found: list[Any] = []
    dynamic_shapes._tree_map_with_path(
        lambda path, leaf, spec: found.append(spec),
        arguments,
        keywords_apart(signature, given),
        tree_name="inputs",
    )
    return found


def dim_hint(dim: Any) -> tuple[str, int | None, int | None] | None:
    """Of Dim.AUTO, Dim.DYNAMIC and Dim.STATIC: the kind and the bounds; None for other specs."""
    if not isinstance(dim, dynamic_shapes._DimHint):
        return None
    return dim.type.name, dim.min, dim.max


def derived_dim(dim: Any) -> tuple[Any, int, int]:
    """A Dim as `scale * root + offset`; a Dim that is not derived is its own root."""
    if not hasattr(dim, "root"):
        return dim, 1, 0
    offset = int(dim.fn(0))
    return dim.root, int(dim.fn(1)) - offset, offset


def dim_bounds(dim: Any) -> tuple[int | None, int | None]:
    """The bounds that a Dim was made with; None for a side that was left open."""
    low, high = dim.min, dim.max
    return (int(low) if low else None), int_bound(high)


@lru_cache(maxsize=1)
def exportdb_cases() -> frozenset[str]:
    """The names of torch's example cases, ExportDB; none where this torch has no such library."""
    try:
        from torch._export.db.examples import all_examples
    except ImportError:
        return frozenset()
    return frozenset(all_examples())  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def _graph_breaks() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    path = Path(torch.__path__[0], "_dynamo", "graph_break_registry.json")
    try:
        registry = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for name, versions in registry.items():
        for version in versions:
            found.setdefault(version.get("Gb_type", ""), (name, versions))
    return found


def graph_break(kind: str) -> tuple[str, list[dict[str, Any]]] | None:
    """Of a kind of graph break, its id (`GB0170`) and the versions of torch's entry on it.

    A version has the keys `Gb_type`, `Context`, `Explanation` and `Hints`.
    """
    return _graph_breaks().get(kind)


def is_truth_value(env: Any, condition: Any) -> bool:
    """Whether a condition is that a tensor is true: a number of 0 and 1, from data, is 1."""
    symbols = list(getattr(condition, "free_symbols", ()))
    return len(symbols) == 1 and condition.is_Relational and known_range(env, symbols[0]) == (0, 1)


def is_relation(condition: Any) -> bool:
    """Whether torch wanted to know if something holds, and not what a number is."""
    return bool(getattr(condition, "is_Relational", False) or getattr(condition, "is_Boolean", 0))


def operator_without_fake(error: BaseException) -> tuple[str, str] | None:
    """The operator that an error says has no fake kernel: `ns::name` and its overload.

    An operator of torch.library is on the error; one made by `custom_op` only in the frame that
    raised, as the definition that has no function to call there.
    """
    operator = getattr(error, "func", None)
    if isinstance(operator, OpOverload) and "UnsupportedOperator" in type(error).__name__:
        overload = operator._overloadname
        return operator._schema.name, "" if overload == "default" else overload
    for frame, _ in traceback.walk_tb(error.__traceback__):
        definition = frame.f_locals.get("self")
        if isinstance(definition, CustomOpDef) and definition._abstract_fn is None:
            return str(definition._qualname), ""
    return None


def unknown_output(error: BaseException) -> tuple[type | None, list[Any], str] | None:
    """The class of an output that torch does not know, the keys to it, and the class of them all.

    In non-strict mode the function that flattens the outputs holds them all; in strict mode there
    are Dynamo's stand-ins, and the number of the output takes the place of keys. None for other
    errors; None for the class where Dynamo does not know it either.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames:
        return None
    known = frames[-1].f_locals
    if frames[-1].f_code.co_name == "flat_fn" and "tree_out" in known and "i" in known:
        leaves = pytree.tree_flatten_with_path(known["tree_out"])[0]
        keys = [path for path, leaf in leaves if leaf is known["i"]]
        whole = known["tree_out"]
        whole = whole[0] if isinstance(whole, tuple) and len(whole) == 1 else whole
        return type(known["i"]), list(keys[0]) if keys else [], type(whole).__name__
    if frames[-1].f_code.co_name == "compile_subgraph" and "vt" in known and "idx" in known:
        try:
            return known["vt"].python_type(), [known["idx"]], ""
        except NotImplementedError:
            return None, [known["idx"]], ""
    return None


def raised_in(error: BaseException, functions: Iterable[str]) -> bool:
    """Whether the innermost frame of an error's traceback is one of these functions of torch's."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_code.co_name in set(functions)


def is_input_type(value: Any) -> bool:
    """Whether a leaf of a call's inputs is of a class that an exported program can take."""
    plain = (torch.Tensor, bool, int, float, str, type(None), torch.ScriptObject)
    symbolic = (torch.SymInt, torch.SymFloat, torch.SymBool)
    return isinstance(value, plain + symbolic)


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
    """What differs between the tensors that two branches return, and both values: `dtype`."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known = frame.f_locals
        if frame.f_code.co_name == "check_tensor_meta_match" and "lattr" in known:
            return str(known["attr_name"]), known["lattr"], known["rattr"]
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


def returned_views(errors: Iterable[BaseException]) -> list[str]:
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


def _storage(node: torch.fx.Node) -> Any:
    """What tells the memory of a traced tensor from others; None for other values."""
    value = node.meta.get("example_value")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _writes(node: torch.fx.Node) -> bool:
    """Whether an op works in place, by its name: `add_`, `iadd`, `setitem`."""
    if not node.op.startswith("call"):
        return False
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name in ("setitem", "iadd", "isub", "imul", "itruediv", "copy_")


def is_container(cls: type) -> bool:
    """Whether torch takes values of a class apart, or takes them as a constant."""
    return cls in pytree.SUPPORTED_NODES


def register_container(
    cls: type,
    flatten: Callable[[Any], tuple[list[tuple[str, Any]], Any]],
    unflatten: Callable[[Iterable[Any], Any], Any],
    to_json: Callable[[Any], Any],
    from_json: Callable[[Any], Any],
) -> None:
    """Tells torch how to take values of a class apart.

    Args:
        cls: the class itself; a subclass is another.
        flatten: gives the parts with their names, and a context that compares by value.
        unflatten: its inverse, from the parts and the context.
        to_json: makes plain data of a context, for a program that is saved.
        from_json: its inverse.
    """

    def parts(value: Any) -> tuple[list[Any], Any]:
        named, context = flatten(value)
        return [part for _, part in named], context

    def named_parts(value: Any) -> tuple[list[Any], Any]:
        named, context = flatten(value)
        return [(pytree.GetAttrKey(name), part) for name, part in named], context

    pytree.register_pytree_node(
        cls,
        parts,
        unflatten,
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        to_dumpable_context=to_json,
        from_dumpable_context=from_json,
        flatten_with_keys_fn=named_parts,
    )


def deregister_container(cls: type) -> None:
    """Makes torch forget a container's class, in each of its registries."""
    if cls in pytree.SUPPORTED_NODES:
        pytree._deregister_pytree_node(cls)
    fx_pytree.SUPPORTED_NODES.pop(cls, None)
    fx_pytree.SUPPORTED_NODES_EXACT_MATCH.pop(cls, None)
    waiting = getattr(pytree, "_cxx_pytree_pending_imports", [])
    waiting[:] = [each for each in waiting if each[0][0] is not cls]
    if getattr(pytree, "_cxx_pytree_imported", False):
        import optree  # type: ignore[import-not-found, unused-ignore]

        with suppress(ValueError):
            optree.unregister_pytree_node(cls, namespace="torch")
