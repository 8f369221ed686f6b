"""Shapes in both of torch's forms, Dims and ShapesSpec, each with the Python to paste."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.spec import Shapes
from export_engine.torch_internals import missing_shapes_spec

FormName = Literal["Dims", "ShapesSpec"]


@dataclass(frozen=True)
class Form:
    """Shapes in one form."""

    name: FormName
    shapes: Shapes | None
    """None where this form cannot say them."""
    python: str
    """Statements that make the `dynamic_shapes`; empty without shapes."""
    reason: str = ""
    """Why this form cannot say them: one sentence."""


def form_of(shapes: Shapes) -> FormName:
    """The form that shapes are in."""
    return "ShapesSpec" if shapes.unbacked else "Dims"


def other_form(shapes: Shapes) -> FormName | None:
    """The form that shapes are not in; None if this torch does not have it."""
    if shapes.unbacked:
        return "Dims"
    return None if missing_shapes_spec() else "ShapesSpec"


def forms(
    shapes: Shapes, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Form]:
    """The forms of shapes for a call, their own first. A torch without ShapesSpec has Dims alone.

    Args:
        shapes: what is dynamic.
        target: what is called.
        args: the call's positional arguments.
        kwargs: its keyword arguments.
    """
    ways: dict[FormName, Callable[[], Shapes]] = {"Dims": shapes.to_dims}
    if shapes.unbacked or not missing_shapes_spec():
        ways["ShapesSpec"] = shapes.to_spec
    own = form_of(shapes)
    ways[own] = lambda: shapes
    order = sorted(ways, key=lambda name: name != own)
    return [_make_form(name, ways[name], target, args, kwargs) for name in order]


def _make_form(
    name: FormName,
    convert: Callable[[], Shapes],
    target: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Form:
    try:
        shapes = convert()
        return Form(name, shapes, shapes.python(target, args, kwargs))
    except ShapesError as error:
        return Form(name, None, "", f"{error.message[:1].upper()}{error.message[1:]}.")
