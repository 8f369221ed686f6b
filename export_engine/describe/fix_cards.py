"""A fix as the Record has it: a card."""

from __future__ import annotations

from export_engine.attempt import Fix
from export_engine.describe.tables import Stacks
from export_engine.record import FixCard


def fix_card(fix: Fix, stacks: Stacks) -> FixCard:
    """What a view shows of a fix."""
    return FixCard(
        kind=fix.kind,
        title=fix.title,
        why=fix.why,
        lossy=fix.lossy,
        gives_up=fix.gives_up,
        before=fix.before,
        after=fix.after,
        diffs=[edit.diff(stacks.files.name_of(edit.file)) for edit in fix.edits],
        stack=stacks.number(fix.stack),
        tried=fix.leads_to is not None,
    )
