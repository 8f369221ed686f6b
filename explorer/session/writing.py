"""An attempt's changes to the user's code, for an editor to write. Nothing is written here."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.page import messages as m
from explorer.session.session import FixError, Session, no_such_fix

if TYPE_CHECKING:
    from export_engine.attempt import Edit, Request
    from export_engine.record import Record


def writing(session: Session, number: int, fixes: Sequence[int] = ()) -> m.Writing:
    """All that an attempt changed since the first one, with fixes of it applied.

    Args:
        session: whose attempt.
        number: the attempt's.
        fixes: numbers of fixes that it offers.

    Raises:
        FixError: there are no such fixes, or nothing that can be written.
    """
    entry = session.entries[number]
    first = session.entries[_first(session, number)].request
    request = entry.request
    if request is None or first is None:
        raise FixError("The program was opened without its code, so there is no code to edit.")
    offered = entry.fixes if fixes else []
    if not all(0 <= fix < len(offered) for fix in fixes):
        raise FixError(no_such_fix(len(offered), session.name))
    for fix in sorted(set(fixes)):
        request = offered[fix].apply(request)
    result = m.Writing(
        changes=[_change(edit, request, entry.record) for edit in request.edits],
        shapes=_new_shapes(first, request),
        cell=session.cell,
        call=first.title,
        others=_others(first, request),
    )
    if not result.changes and not result.shapes:
        needed = "; ".join(result.others) or "nothing was changed"
        raise FixError(f"There is no line of your code to change for this: {needed}.")
    return result


def _first(session: Session, number: int) -> int:
    """The attempt that a chain of attempts began with."""
    while (parent := session.entries[number].parent) >= 0:
        number = parent
    return number


def _change(edit: Edit, request: Request, record: Record) -> m.CodeChange:
    from export_engine.source import as_typed

    files = {file.path: file for file in record.files}
    file = files.get(edit.file)
    cell = edit.file in request.cells
    name = request.cells.get(edit.file) or (file.name if file else Path(edit.file).name)
    origin = file.origin if file else "cell" if cell else "user"
    is_cell = origin == "cell"
    before, after = (as_typed(t) if is_cell else t for t in (edit.before, edit.after))
    return m.CodeChange(edit.file, name, origin, before, _hunks(before, after))


def _hunks(before: str, after: str) -> list[m.Hunk]:
    old, new = before.splitlines(), after.splitlines()
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        m.Hunk(start + 1, end - start, new[to:until])
        for tag, start, end, to, until in codes
        if tag != "equal"
    ]


def _new_shapes(first: Request, request: Request) -> str:

    old, new = first.shapes, request.shapes
    return "" if new is None or str(old) == str(new) else str(new)


def _others(first: Request, request: Request) -> list[str]:
    """Other differences from the first request, in the user's words."""
    entries = {
        f"the mode, --{request.mode}": request.strict != first.strict,
        f"torch's switches {', '.join(sorted(request.options))}": request.options != first.options,
        "model.eval() before the export": request.eval_mode and not first.eval_mode,
        "other example inputs": request.args is not first.args
        or request.kwargs is not first.kwargs,
        "registrations with torch before the export": request.setups != first.setups,
        "another callable": request.target is not first.target,
    }
    return [what for what, differs in entries.items() if differs]
