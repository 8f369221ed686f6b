"""Fixes of findings: what a different export changes. Each needs the call that was exported."""

from __future__ import annotations

from export_engine.attempt import Fix, Request
from export_engine.record import Record, Rule
from export_engine.shapes import Auto, Shapes
from export_engine.sizes import sizes_in


def in_eval_mode() -> Fix:
    """Exports the model in eval mode."""

    def change(request: Request) -> Request:
        return request.with_changes(eval_mode=True)

    return Fix(
        kind="options",
        title="Export the model in eval mode",
        why="The mode is switched for the export only, and restored after it.",
        gives_up="The program is for inference: dropout and batch statistics are not applied.",
        change=change,
        before="training mode",
        after="eval mode",
    )


def letting_vary(request: Request, path: str) -> Fix | None:
    """Makes an input of a number that was specialized."""
    if not path.isidentifier():
        return None
    shapes = request.shapes

    def change(request: Request) -> Request:
        given = request.shapes
        leaves = dict(given.leaves) if given else {}
        bounds = dict(given.bounds) if given else {}
        leaves[path] = (Auto(),)
        return request.with_changes(shapes=Shapes(leaves, bounds))

    return Fix(
        kind="shapes",
        title=f"Let {path} vary",
        why="The number becomes an input of the program if the code allows it.",
        change=change,
        before=str(shapes) if shapes else "",
        after=f"{path}: *",
    )


def keeping_sizes(request: Request, record: Record, rule: Rule) -> Fix | None:
    """A fix that keeps the sizes of a condition at the example's."""
    before = request.shapes
    if before is None:
        return None
    about: dict[tuple[str, int], str] = {}
    for number in sizes_in(rule.formula):
        size = record.probe.inputs[number]
        place = record.signature.inputs[size.entry].path, max(size.dim, 0)
        about[place] = before.dim_name(*place) or size.text
    kept = before.static(about)
    if kept == before:
        return None
    listed = ", ".join(f"`{text}`" for text in dict.fromkeys(about.values()))
    return Fix(
        kind="shapes",
        title=f"Keep {listed} as in the example",
        why=(
            "The signature then lists the accepted sizes, instead of a guard that fails at run "
            "time."
        ),
        lossy=True,
        gives_up="It also rejects other sizes that satisfy the guard.",
        change=lambda request: request.with_changes(shapes=kept),
        before=str(before),
        after=str(kept),
    )
