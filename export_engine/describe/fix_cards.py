"""A fix as the Record has it: a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from export_engine.describe.tables import Stacks
from export_engine.record import FixCard, ShapesForm

if TYPE_CHECKING:
    from export_engine.attempt import Fix, Request


def fix_card(fix: Fix, stacks: Stacks, request: Request | None) -> FixCard:
    """The Record's row for a fix.

    Args:
        fix: the fix.
        stacks: of the Record.
        request: that it is a fix of.
    """
    return FixCard(
        kind=fix.kind,
        title=fix.title,
        why=fix.why,
        lossy=fix.lossy,
        narrows=fix.narrows,
        gives_up=fix.gives_up,
        before=fix.before,
        after=fix.after,
        diffs=[edit.diff(stacks.files.name_of(edit.file)) for edit in fix.edits],
        stack=stacks.number(fix.stack),
        tried=fix.is_known_to_export,
        forms=_forms(fix, request) if fix.kind == "shapes" and request else [],
    )


def _forms(fix: Fix, request: Request) -> list[ShapesForm]:
    """The shapes that a fix requests, in either form."""
    from export_engine.shapes import forms

    changed = fix.change(request)
    shapes = changed.shapes
    if shapes is None:
        return []
    return [
        ShapesForm(
            form.name, "" if form.shapes is None else str(form.shapes), form.python, form.reason
        )
        for form in forms(shapes, changed.target, changed.args, changed.kwargs)
    ]
