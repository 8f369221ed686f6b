"""Names of sizes: one that other inputs also need, and one that two sizes of the example share.

`x: batch, _` for `x + y` fixes batch, because y's size is static: the likelier wish is that y's
varies too. One name for two sizes moves to another axis, or each size gets its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from export_engine.attempt import Exported, Failed, Fix, Request, signature_of
from export_engine.diagnose import SizesViolated, diagnose, one_name_two_sizes
from export_engine.fixes import shapes
from export_engine.fixes.try_fixes import change_shapes, read_failure, try_shapes
from export_engine.shapes import Named, Shapes, ShapesError, Spec, Static, leaves_of
from export_engine.traced_sizes import InputDim, leaf_values, size_facts


def suggest_couplings(attempt: Failed) -> Iterator[Fix]:
    """The shapes with the other inputs' equal sizes under the same names, if that exports."""
    request, diagnosis = read_failure(attempt)
    before, facts = request.shapes, diagnosis.facts
    if before is None or before.unbacked or not isinstance(facts, SizesViolated):
        return
    wanted: dict[int, Named] = {}
    for problem in facts.problems:
        for dim in problem.dims:
            if problem.kind == "fixed" and isinstance(dim.wanted, Named) and dim.example > 1:
                wanted.setdefault(dim.example, dim.wanted)
    fixed = {dim.place.path for problem in facts.problems for dim in problem.dims}
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
    result = try_shapes(request, after)
    if not isinstance(result, Exported) or not result.agrees_elsewhere:
        return
    yield change_shapes(
        before,
        after,
        title=f"Also let {', '.join(changed)} vary",
        why="The code requires these sizes to be equal, so a static one specializes the other.",
        stack=diagnosis.stack,
        leads_to=result,
    )


def suggest_names(attempt: Failed) -> Iterator[Fix]:
    """The name where the size is the same, if that leads to a program; else its own name."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.facts != SizesViolated(()):
        return
    facts, before = size_facts(attempt), request.shapes
    pair = one_name_two_sizes(facts) if facts is not None else None
    if pair is None or before is None or before.unbacked:
        return
    first, second = pair
    for title, after in _ways(request, before, first, second):
        result = try_shapes(request, after)
        if isinstance(result, Failed):
            related = _suggest_relation(result)
            if related is not None:
                yield replace(related, before=str(before))
                return
        elif isinstance(result, Exported) and result.agrees_elsewhere:
            yield change_shapes(
                before,
                after,
                title=title,
                why="A name means the same size everywhere, but these sizes differ in the example.",
                leads_to=result,
            )
            return


def _ways(
    request: Request, before: Shapes, first: InputDim, second: InputDim
) -> Iterator[tuple[str, Shapes]]:
    """Likely intentions, the likelier first, each as a title and shapes."""
    wanted, path, position = second.wanted, second.place.path, second.place.position
    value = leaf_values(request).get(path)
    if not isinstance(wanted, Named) or not isinstance(value, torch.Tensor) or position < 0:
        return
    specs: list[Spec] = list(before.leaves[path])
    same = [axis for axis, size in enumerate(value.shape) if size == first.example]
    if first.wanted == wanted and len(same) == 1 and isinstance(specs[same[0]], Static):
        moved = list(specs)
        moved[same[0]], moved[position] = wanted, Static()
        title = f"Call {path}.shape[{same[0]}] {wanted.name}, not {second.place}"
        yield from _shapes(before, path, moved, title)
    own = f"{wanted.name}_{path.replace('.', '_')}"
    if own.isidentifier() and own not in before.dims():
        specs[position] = Named(own)
        yield from _shapes(before, path, specs, f"Give {second.place} its own name")


def _shapes(
    before: Shapes, path: str, specs: Sequence[Spec], title: str
) -> Iterator[tuple[str, Shapes]]:
    try:
        yield title, replace(before, leaves={**before.leaves, path: tuple(specs)})
    except ShapesError:
        return


def _suggest_relation(made: Failed) -> Fix | None:
    """The relation that the code needs of two sizes, each with a name, as a fix; None if none."""
    explained = replace(made, diagnosis=diagnose(made))
    for fix in shapes.suggest_shapes(explained):
        if isinstance(fix, Fix) and not fix.lossy and fix.is_known_to_export:
            return fix
    return None
