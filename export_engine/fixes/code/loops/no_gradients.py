"""Scans that torch exports, and runs, only while no gradients are recorded.

torch's scan fails on integers and bools that it carries or collects beside values with a gradient.
"""

from __future__ import annotations

import torch

from export_engine.attempt import Attempt, Edit, Failed, Request
from export_engine.diagnose import counts_gradients_wrong
from export_engine.fixes.code.editing.try_edit import try_edit, with_edit

COSTS = "The program is exported under `torch.no_grad()` and runs only there."


def try_without_gradients(request: Request, edit: Edit) -> tuple[Attempt | None, bool]:
    """The attempt with one more edit, and whether it is one without gradients."""
    attempt = try_edit(request, edit)
    if not isinstance(attempt, Failed) or not counts_gradients_wrong(str(attempt.error)):
        return attempt, False
    return try_edit(without_gradients(request), edit), True


def without_gradients(request: Request) -> Request:
    """The request, exported while no gradients are recorded."""
    return request.with_changes(within=(*request.within, torch.no_grad))


def edit_without_gradients(request: Request, edit: Edit) -> Request:
    """The request with one more edit, exported while no gradients are recorded."""
    return without_gradients(with_edit(request, edit))
