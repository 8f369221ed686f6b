"""ShapesSpec, torch's spec of dynamic shapes since 2.14: making and reading one.

A torch before 2.14 has some of these classes, but its export does not take them.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from itertools import count
from typing import Any, Literal, NamedTuple

import sympy
import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.capability import hook
from export_engine.torch_internals.inputs import key_text

try:
    dynamic_spec: Any = importlib.import_module("torch.fx.experimental.dynamic_spec")
except ImportError:  # before 2.13
    dynamic_spec = None


def missing_shapes_spec() -> str:
    """Why this torch exports no ShapesSpec, as a sentence; empty where it does."""
    if dynamic_spec is not None and torch_has.TAKES_SPECS.looked.value is not None:
        return ""
    if torch_has.TAKES_SPECS.sentence:
        return torch_has.TAKES_SPECS.sentence.removesuffix(".")
    return f"ShapesSpec needs torch 2.14 or newer; this is torch {torch.__version__}"


def is_shapes_spec(given: Any) -> bool:
    """Whether `dynamic_shapes` are a ShapesSpec or a ParamsSpec."""
    if missing_shapes_spec():
        return False
    return isinstance(given, dynamic_spec.ShapesSpec | dynamic_spec.ParamsSpec)


def find_attached_spec(target: Any) -> Any:
    """The ShapesSpec that `@dynamic_spec` attached to a function or a module's forward, or None."""
    called = target.forward if isinstance(target, torch.nn.Module) else target
    return None if missing_shapes_spec() else getattr(called, "_dynamic_spec", None)


def ignore_attached() -> AbstractContextManager[None]:
    """Makes torch.export go by `dynamic_shapes` alone, whatever is attached to the module."""
    if missing_shapes_spec():
        return nullcontext()
    return hook(torch_has.ATTACHED_SPECS, lambda _: lambda _target, given: given)


class Container(NamedTuple):
    """A container among a call's inputs, as a ShapesSpec goes into it."""

    kind: Literal["list", "dict", "object", "keys"]
    """`keys`: a registered class whose parts have no attributes' names; no spec reaches them."""
    parts: list[tuple[Any, Any]]
    """Each part's key, index or attribute, and the part."""


def container_of(value: Any) -> Container | None:
    """The children of a pytree container; None for a leaf."""
    if value is None or pytree.is_leaf(value):
        return None
    if isinstance(value, dict):
        return Container("dict", list(value.items()))
    if isinstance(value, tuple | list):  # the fields of a named tuple have names in paths
        return Container("list", list(zip(getattr(value, "_fields", count()), value, strict=False)))
    registered = torch_has.SUPPORTED_NODES.value if torch_has.SUPPORTED_NODES else {}
    flatten = getattr(registered.get(type(value)), "flatten_with_keys_fn", None)
    if flatten is None or not torch_has.ATTRIBUTE_KEY:
        return Container("keys", [])
    parts, _ = flatten(value)
    named = all(isinstance(key, torch_has.ATTRIBUTE_KEY.value) for key, _ in parts)
    return Container("object" if named else "keys", [(key_text(key), part) for key, part in parts])


def spec_variable(name: str, low: int | None, high: int | None, *, size: bool) -> Any:
    """A ShapeVar for a size, an IntVar for an int; None is an open side."""
    if size:
        return dynamic_spec.ShapeVar(name, min=low or 0, max=high)
    return dynamic_spec.IntVar(name, min=low, max=high)


def tensor_spec(dims: Sequence[Any]) -> Any:
    """A TensorSpec: per dim a variable, an expression of variables, an int or None."""
    return dynamic_spec.TensorSpec(list(dims))


def container_spec(kind: str, parts: Mapping[Any, Any]) -> Any:
    """The spec of a container by its `Container.kind`, from the specs of its parts."""
    if kind == "list":
        return dynamic_spec.SeqSpec(list(parts.values()))
    return (dynamic_spec.DictSpec if kind == "dict" else dynamic_spec.ObjectSpec)(dict(parts))


def shapes_spec(params: Mapping[str, Any], assumptions: Iterable[Any]) -> Any:
    """A ShapesSpec from the specs of parameters; `*args` a list, `**kwargs` a dict."""
    return dynamic_spec.ShapesSpec(
        dynamic_spec.ParamsSpec(dict(params)), assumptions=list(assumptions) or None
    )


class Variable(NamedTuple):
    """A ShapeVar or an IntVar as it was made."""

    symbol: Any
    """Its sympy symbol; unique, whatever its name."""
    name: str
    """`anon` for one without a name."""
    low: int | None
    high: int | None
    size: bool
    """Whether it is a ShapeVar."""


def leaf_specs(
    spec: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[tuple[str, ...], Any]:
    """A ShapesSpec's specs of the leaves of a call, by the steps of their path.

    A tensor has a list of dims. A dim and an int are a Variable, a sympy expression, an int or
    None.

    Raises:
        ValueError: it does not fit the call.
    """
    binding: Any = importlib.import_module("torch.fx.experimental._spec_binding")
    whole = dynamic_spec._coerce_to_shapes_spec(spec)
    binding._bind_spec_to_args(target, args, dict(kwargs), whole)
    params = whole._params
    if params is None:
        return {}
    called = target.forward if isinstance(target, torch.nn.Module) else target
    signature = inspect.signature(called)
    leaves: dict[tuple[str, ...], Any] = {}
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            for number, (part, item) in enumerate(zip(value, params._varargs or (), strict=False)):
                leaves |= _leaves(item, part, (name, str(number)))
        elif kind is inspect.Parameter.VAR_KEYWORD:
            for key, part in value.items():
                item = params._named_args.get(key, (params._varkw or {}).get(key))
                leaves |= _leaves(item, part, (key,))
        else:
            leaves |= _leaves(params._named_args.get(name), value, (name,))
    return leaves


def list_assumptions(spec: Any) -> list[Any]:
    """The assumptions of a ShapesSpec as sympy booleans over its variables' symbols."""
    whole = dynamic_spec._coerce_to_shapes_spec(spec)
    return [assumption.node.expr for assumption in whole.assumptions]


def _leaves(spec: Any, value: Any, path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    if spec is None:
        return {}
    if isinstance(spec, dynamic_spec.TensorSpec):
        return {path: [_dim(item) for item in spec]}
    container = container_of(value)
    if container is None:
        return {path: _dim(spec)}
    entries: Any = getattr(spec, "_fields", None) or getattr(spec, "_entries", ())
    keys = [key for key, _ in container.parts]
    named = dict(zip(keys, entries, strict=False) if isinstance(entries, list) else entries)
    leaves: dict[tuple[str, ...], Any] = {}
    for key, part in container.parts:
        leaves |= _leaves(named.get(key), part, (*path, str(key)))
    return leaves


def _dim(given: Any) -> Any:
    if isinstance(given, dynamic_spec.IntVar):
        size = isinstance(given, dynamic_spec.ShapeVar)
        return Variable(given.sympy_sym, given.name, given.min, given.max, size)
    return given.node.expr if isinstance(given, torch.SymInt) else given


def size_functions() -> dict[str, Any]:
    """The least and the greatest of sizes that may be symbolic, by kind of expression."""
    return {
        "Min": lambda values: reduce(torch.sym_min, values),
        "Max": lambda values: reduce(torch.sym_max, values),
    }


def find_truth(condition: Any) -> bool | None:
    """Whether a SymBool of a ShapesSpec's variables holds whatever they are; None if it depends."""
    expression = condition.node.expr
    return bool(expression) if expression in (sympy.true, sympy.false) else None
