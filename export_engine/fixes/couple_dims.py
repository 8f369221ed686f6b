"""Sizes of other inputs that vary along with a requested one, where the code needs them equal.

`x: batch, _` for `x + y` fixes batch, because y's size is static. The likelier wish is that y's
varies too. Only sizes that are equal in the example are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from export_engine.attempt import Exported, Failed, Fix, signature_of
from export_engine.diagnose import SizesViolated
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress, Report
from export_engine.shapes import Named, ShapesError, Spec, Static, leaves_of, shapes_of


def suggest_couplings(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The shapes with the other inputs' equal sizes under the same names, if that exports."""
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis is not None else None
    before = shapes_of(request) if request is not None else None
    if request is None or diagnosis is None or before is None or before.unbacked:
        return
    if not isinstance(facts, SizesViolated):
        return
    wanted: dict[int, Named] = {}
    for problem in facts.problems:
        for dim in problem.dims:
            if problem.kind == "fixed" and isinstance(dim.wanted, Named) and dim.example > 1:
                wanted.setdefault(dim.example, dim.wanted)
    fixed = {dim.place.path for other_problem in facts.problems for dim in other_problem.dims}
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    changed: dict[str, tuple[Spec, ...]] = {}
    for path, value in leaves:
        if path in fixed or not isinstance(value, torch.Tensor):
            continue
        items = before.leaves.get(path, tuple(Static() for _ in value.shape))
        specs = tuple(
            wanted.get(size, spec) if isinstance(spec, Static) else spec
            for spec, size in zip(items, value.shape, strict=False)
        )
        if specs != items:
            changed[path] = specs
    if not changed:
        return
    try:
        after = replace(before, leaves={**before.leaves, **changed})
    except ShapesError:
        return
    if progress:
        progress(Progress(0, 0, f"trying {after}", "fix"))
    result = try_request(request.with_changes(shapes=after))
    if not isinstance(result, Exported) or not _agrees(result):
        return
    yield Fix(
        kind="shapes",
        title=f"Let {', '.join(changed)} vary too",
        why="The code requires these sizes to be equal, so a static one specializes the other.",
        change=lambda request: request.with_changes(shapes=after),
        before=str(before),
        after=str(after),
        stack=diagnosis.stack,
        leads_to=result,
    )


def _agrees(found: Exported) -> bool:
    return found.agreement is not None and any(
        trial.sizes and trial.outcome == "agrees" for trial in found.agreement.trials
    )
