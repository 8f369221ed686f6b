"""The Fix: a way from a Request that failed to one that may not. It changes nothing in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from export_engine.attempt.attempt import Exported
from export_engine.attempt.request import Request, ShapeFix
from export_engine.attempt.source_edits import Edit
from export_engine.source import Stack


@dataclass(frozen=True, kw_only=True)
class Fix:
    """One change to a Request, to be previewed, applied alone or with others, and undone."""

    kind: Literal["shapes", "mode", "inputs", "options", "code"]
    title: str
    """Its effect, as an imperative: `Let seq be at most 16`."""
    why: str = ""
    """One sentence: why it helps."""
    lossy: bool = False
    """Whether a requested dynamic dim becomes static, or an output may change."""
    narrows: bool = False
    """Whether the program rejects requested sizes that the model takes. Then it is not lossless,
    though no dim becomes static and no output changes."""
    beyond_bounds: bool = False
    """Of one that narrows: whether it takes sizes that bounds alone would reject."""
    unsaved: bool = False
    """Whether all that it gives up is that torch cannot save its program."""
    gives_up: str = ""
    """What is lost or changed: one sentence that names the line that forces it."""
    change: Callable[[Request], Request] = field(repr=False)
    before: str = ""
    """The part that changes, before: a line of the short language, an argument, a mode."""
    after: str = ""
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    """For a code fix: the edits, whose diffs are the preview."""
    stack: Stack = ()
    """The line that it is about."""
    leads_to: Exported | None = field(default=None, repr=False, compare=False)
    """The attempt that applying it alone gives, where that has been tried already."""
    tried: bool = field(default=False, repr=False, compare=False)
    """Whether it was tried and led to a program that is held no longer."""

    @property
    def is_known_to_export(self) -> bool:
        """Whether applying it alone has given a program."""
        return self.tried or self.leads_to is not None

    def apply(self, request: Request) -> Request:
        """The changed Request. Fixes compose: apply one to another's result."""
        changed = self.change(request)
        lost = (self.gives_up,) if self.gives_up and (self.lossy or self.narrows) else ()
        own = ShapeFix(request.shapes, self.title, self.stack)
        return changed.with_changes(
            fixed_by=(*request.fixed_by, self.title),
            given_up=(*request.given_up, *lost),
            shape_fixes=(*request.shape_fixes, *([own] if changed.shapes != own.before else [])),
        )


@dataclass(frozen=True)
class NoFix:
    """Why an expected fix is not offered."""

    reason: str
    """One sentence."""
