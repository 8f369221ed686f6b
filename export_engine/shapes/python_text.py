"""Shapes as Python code for torch, to paste: Dims, or a ShapesSpec.

Importing this module imports torch.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from export_engine.record import join_path
from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Pinned,
    Spec,
    Static,
    ints_of,
    names_of,
)
from export_engine.shapes.expressions import expression_text, relation_text
from export_engine.shapes.shapes_parts import Parts
from export_engine.shapes.spec_params import params_of
from export_engine.shapes.torch_sizes import plain_name
from export_engine.torch_internals import container_of, signature_of


def python_text(
    shapes: Parts,
    unbacked: bool,
    target: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> str:
    """A few statements, the last of which is `dynamic_shapes = ...`.

    Args:
        shapes: what is dynamic.
        unbacked: whether to write a ShapesSpec, not Dims.
        target: what is called.
        args: the call's positional arguments.
        kwargs: its keyword arguments.

    Raises:
        ShapesError: they do not fit the call, or torch cannot say them.
    """
    return (_Spec if unbacked else _Dims)(shapes).text(target, args, kwargs)


class _Dims:
    def __init__(self, shapes: Parts) -> None:
        self._shapes = shapes

    def text(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        bound = signature_of(target).bind(*args, **kwargs)
        entries = [
            f"    {_quote(name)}: {self._tree(value, (name,), name == _keywords(bound))},"
            for name, value in bound.arguments.items()
        ]
        dims = [
            f"{name} = Dim({_quote(name)}{_arguments(self._shapes.bounds.get(name, Bounds()))})"
            for name in names_of(self._shapes.leaves)
        ]
        texts = [*dims, "dynamic_shapes = {", *entries, "}"]
        imports = ["from torch.export import Dim"]
        if any("deque([" in entry for entry in entries):
            imports.insert(0, "from collections import deque")
        return "\n".join([*imports, "", *texts])

    def _tree(self, value: Any, steps: tuple[str, ...], extra: bool = False) -> str:
        container = container_of(value)
        if container is None:
            return self._leaf(join_path(steps), value)
        parts = {
            key: self._tree(part, (str(key),) if extra else (*steps, str(key)))
            for key, part in container.parts
        }
        if container.kind == "dict":
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in parts.items()) + "}"
        listed = ", ".join(parts.values())
        if hasattr(value, "_fields"):  # torch takes a spec of a class of its own by that class
            return f"{type(value).__name__}({listed})"
        if isinstance(value, deque):
            return f"deque([{listed}])"
        alone = "," if len(parts) == 1 else ""
        return f"({listed}{alone})" if isinstance(value, tuple) else f"[{listed}]"

    def _leaf(self, path: str, value: Any) -> str:
        specs = self._shapes.leaves.get(path)
        if specs is None:
            return "None"
        if not isinstance(value, torch.Tensor):
            return _hint(specs[0])
        return "{" + ", ".join(f"{at}: {_hint(spec)}" for at, spec in enumerate(specs)) + "}"


def _keywords(bound: Any) -> str:
    """The parameter that takes any keywords; each is an input of its own."""
    kinds = {parameter.kind: name for name, parameter in bound.signature.parameters.items()}
    return str(next((name for kind, name in kinds.items() if kind.name == "VAR_KEYWORD"), ""))


def _hint(spec: Spec) -> str:
    match spec:
        case Auto(low, high) | Dynamic(low, high):
            kind = "AUTO" if isinstance(spec, Auto) else "DYNAMIC"
            bounds = _arguments(Bounds(low, high)).removeprefix(", ")
            return f"Dim.{kind}({bounds})" if bounds else f"Dim.{kind}"
        case Pinned(size):
            return str(size)
        case Named():
            return _line(spec)
    return "Dim.STATIC"


def _line(spec: Named) -> str:
    text = f"{spec.scale} * {spec.name}" if spec.scale != 1 else spec.name
    if not spec.offset:
        return text
    return f"{text} {'+' if spec.offset > 0 else '-'} {abs(spec.offset)}"


def _arguments(bounds: Bounds) -> str:
    low = f", min={bounds.low}" if bounds.low is not None else ""
    return low + (f", max={bounds.high}" if bounds.high is not None else "")


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_CALLS = {"min": "torch.sym_min", "max": "torch.sym_max"}
"""Python's own would ask which of two sizes is the lesser, which a ShapeVar cannot tell."""
_LONGEST_LINE = 79
"""As PEP 8 has it."""
_CONTAINERS = {"list": "SeqSpec", "dict": "DictSpec", "object": "ObjectSpec"}


class _Spec:
    def __init__(self, shapes: Parts) -> None:
        self._shapes = shapes
        self._used = {"ParamsSpec", "ShapesSpec"}
        self._made: dict[str, str] = {}

    def text(self, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        bound = signature_of(target).bind(*args, **kwargs)
        for name, int_leaf in ints_of(self._shapes.leaves).items():
            self._variable("IntVar", name, Bounds(int_leaf.low, int_leaf.high))
        for name in names_of(self._shapes.leaves):
            self._variable("ShapeVar", name, self._shapes.bounds.get(name, Bounds()))
        params = params_of(bound, self._leaf, self._container)
        entries = [f"        {_quote(name)}: {_plain(spec)}," for name, spec in params.items()]
        message = ", ".join(
            relation_text(assumption, _CALLS) for assumption in self._shapes.assumptions
        )
        lines = ["dynamic_shapes = ShapesSpec(", "    ParamsSpec({", *entries, "    }),"]
        lines += [f"    assumptions=[{message}],"] if message else []
        calls = any(call in line for call in _CALLS.values() for line in lines)
        return "\n".join(
            [
                *(["import torch"] if calls else []),
                *_import_lines(
                    "torch.fx.experimental.dynamic_spec", sorted(self._used, key=str.lower)
                ),
                "",
                *self._made.values(),
                *lines,
                ")",
            ]
        )

    def _variable(self, kind: str, name: str, bounds: Bounds) -> str:
        self._used.add(kind)
        self._made.setdefault(name, f"{name} = {kind}({_quote(name)}{_arguments(bounds)})")
        return name

    def _leaf(self, path: str, value: Any) -> str | None:
        specs = self._shapes.leaves.get(path)
        if specs is None:
            return None
        if isinstance(value, torch.Tensor):
            self._used.add("TensorSpec")
            dims = [self._dim(spec, f"{path}_{at}", True) for at, spec in enumerate(specs)]
            return f"TensorSpec([{', '.join(dims)}])"
        return self._dim(specs[0], path, False)

    def _dim(self, spec: Spec, name: str, size: bool) -> str:
        match spec:
            case Static():
                return "None"
            case Named():
                return _line(spec)
            case Computed(expression):
                return expression_text(expression, _CALLS)
            case Int(low, high):
                return self._variable("IntVar", plain_name(name), Bounds(low, high))
            case Dynamic(low, high) | Auto(low, high):
                kind = "ShapeVar" if size else "IntVar"
                return self._variable(kind, plain_name(name), Bounds(low, high))
            case Pinned(number):
                return str(number)

    def _container(self, kind: str, parts: dict[Any, Any]) -> str:
        called = _CONTAINERS[kind]
        self._used.add(called)
        if kind == "list":
            return f"{called}([{', '.join(map(str, parts.values()))}])"
        return f"{called}({_plain(parts)})"


def _import_lines(module: str, names: Sequence[str]) -> list[str]:
    """An import in one line, or with a line for each name where that would be a long one."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _LONGEST_LINE:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _plain(spec: Any) -> str:
    """The specs of `*args` and `**kwargs` are a plain list and a plain dict."""
    if isinstance(spec, list):
        return f"[{', '.join(map(str, spec))}]"
    if isinstance(spec, dict):
        return "{" + ", ".join(f"{key!r}: {value}" for key, value in spec.items()) + "}"
    return str(spec)
