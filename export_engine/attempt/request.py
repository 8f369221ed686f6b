"""The Request: what to export. Immutable; every action makes a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from export_engine.attempt.registrations import Setup
from export_engine.attempt.source_edits import Edit, combine_edits
from export_engine.shapes import Shapes, ShapesError
from export_engine.source import Stack

Option = Literal["backed_size_oblivious", "prefer_deferred_runtime_asserts_over_guards"]
"""A switch of torch's that lets some calls export which otherwise do not."""


class ShapeFix(NamedTuple):
    """A fix that changed the shapes, so that what they say is known to be its doing."""

    before: Shapes | None
    """The shapes until then."""
    title: str
    stack: Stack
    """The line that it is about."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One export to try.

    Nothing here is copied and nothing is written to: the target, the arguments and whatever they
    hold stay as the user has them.
    """

    target: Callable[..., Any]
    """A module, or any other callable: a function, a bound method, an object with `__call__`."""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    shapes: Shapes | None = None
    """What is dynamic; None: everything is static, or `dynamic_shapes` do not fit the call."""
    dynamic_shapes: Any = None
    """What `torch.export.export` takes, where the user wrote that, or a `Shapes`. `shapes` are
    read of it."""
    strict: bool = False
    eval_mode: bool = False
    """Whether the model is switched to eval mode for the export."""
    options: frozenset[Option] = frozenset()
    """torch's switches that are on for this export alone."""
    edits: tuple[Edit, ...] = ()
    """Changed source text that the export runs instead of the user's."""
    setups: tuple[Setup, ...] = ()
    """Registrations with torch before the export."""
    within: tuple[Callable[[], AbstractContextManager[object]], ...] = ()
    """Contexts of a library's own that the export runs in, such as the patches of its exporter."""
    fixed_by: tuple[str, ...] = ()
    """Titles of the fixes that it was made with, in order."""
    shape_fixes: tuple[ShapeFix, ...] = ()
    """Those of them that changed the shapes."""
    given_up: tuple[str, ...] = ()
    """The costs of these fixes, one sentence each."""
    title: str = ""
    """The call as the user wrote it, `model(x)`."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Python's file name of each notebook cell, and the name to show for it: `Cell In[3]`."""

    def __post_init__(self) -> None:
        wanted = self.dynamic_shapes
        if wanted is None or self.shapes is not None:
            return
        if isinstance(wanted, Shapes):
            object.__setattr__(self, "shapes", wanted)
            object.__setattr__(self, "dynamic_shapes", None)
            return
        with suppress(ShapesError, TypeError, ValueError):  # capture raises or explains them
            shapes = Shapes.from_torch(wanted, self.target, self.args, self.kwargs)
            object.__setattr__(self, "shapes", shapes)

    @property
    def asks_for_shapes(self) -> bool:
        """Whether it says what is dynamic, in shapes that fit the call or not."""
        return self.shapes is not None or self.dynamic_shapes is not None

    @property
    def mode(self) -> str:
        """`strict` or `non-strict`."""
        return "strict" if self.strict else "non-strict"

    def with_changes(self, **changes: Any) -> Request:
        """This Request with some fields replaced; with other `shapes`, no `dynamic_shapes`."""
        if "shapes" in changes:
            changes.setdefault("dynamic_shapes", None)
        elif "dynamic_shapes" in changes or (
            self.dynamic_shapes is not None and changes.keys() & {"target", "args", "kwargs"}
        ):
            changes["shapes"] = None  # they are read again
        return replace(self, **changes)

    def with_edit(self, edit: Edit) -> Request:
        """This Request with one more edit of the user's code in effect."""
        return self.with_changes(edits=combine_edits(self.edits, edit))
