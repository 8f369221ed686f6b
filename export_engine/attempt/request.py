"""The Request: what to export. Immutable; every action makes a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from export_engine.attempt.registrations import Setup
from export_engine.attempt.source_edits import Edit
from export_engine.source import Stack

Option = Literal["backed_size_oblivious", "prefer_deferred_runtime_asserts_over_guards"]
"""A switch of torch's that lets some calls export which otherwise do not."""


class ShapeFix(NamedTuple):
    """A fix that changed the shapes, so that what they say is known to be its doing."""

    before: Any
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
    shapes: Any = None
    """What is dynamic: a `Shapes`, or any object that `torch.export.export` takes as
    `dynamic_shapes`. None: everything is static."""
    strict: bool = False
    eval_mode: bool = False
    """Whether the model is switched to eval mode for the export."""
    options: frozenset[Option] = frozenset()
    """torch's switches that are on for this export alone."""
    edits: tuple[Edit, ...] = ()
    """Changed source text that the export runs instead of the user's."""
    setups: tuple[Setup, ...] = ()
    """What torch is told before."""
    within: tuple[Callable[[], AbstractContextManager[object]], ...] = ()
    """Contexts of a library's own that the export runs in, such as the patches of its exporter."""
    fixed_by: tuple[str, ...] = ()
    """Titles of the fixes that it was made with, in order."""
    shape_fixes: tuple[ShapeFix, ...] = ()
    """Those of them that changed the shapes."""
    given_up: tuple[str, ...] = ()
    """What these fixes give up of what was asked for, a sentence each."""
    title: str = ""
    """The call as the user wrote it, `model(x)`."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Python's file name of each notebook cell, and the name to show for it: `Cell In[3]`."""

    @property
    def mode(self) -> str:
        """`strict` or `non-strict`."""
        return "strict" if self.strict else "non-strict"

    def with_changes(self, **changes: Any) -> Request:
        """This Request with some fields replaced."""
        return replace(self, **changes)
