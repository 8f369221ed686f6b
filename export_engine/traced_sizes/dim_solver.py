"""SizeFacts → the complete Shapes that the trace allows, and the problems of the requested ones.

Lossless where it can be: equal dims share a name, derived ones are formulas of it, ranges are as
wide as the conditions let them be. A dim that the trace fixed becomes static, and the problem says
so. Conditions that tie several sizes together in a way that no Dim can say stay checks of the
program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from export_engine.shapes import Auto, Bounds, Dynamic, Named, Shapes, Spec, Static
from export_engine.sizes import Progression, compile_condition, solve_sizes
from export_engine.torch_internals import linear_in
from export_engine.traced_sizes.condition_causes import function_of
from export_engine.traced_sizes.trace_facts import InputDim, SizeFacts
from export_engine.traced_sizes.violations import LEAST, ShapeViolation, alone, problems_of


@dataclass(frozen=True)
class Solution:
    """The Shapes that the trace allows, and the problems of the requested ones."""

    shapes: Shapes
    problems: tuple[ShapeViolation, ...]


def solve(facts: SizeFacts, automatic: Collection[str] = ()) -> Solution:
    """The solution.

    Args:
        facts: what a trace found out.
        automatic: names of Dims that are to be left to torch (`*`), since torch rejects them.
    """
    loose = {
        root
        for dim in facts.dims
        if isinstance(dim.wanted, Named) and dim.wanted.name in automatic
        for root in getattr(dim.value, "free_symbols", ())
    }
    roots = {root: _sizes_of(facts, root) for root in facts.ranges}
    names = _root_names(facts, roots, loose)
    return Solution(_shapes(facts, roots, names), tuple(problems_of(facts, roots)))


def _sizes_of(facts: SizeFacts, root: Any) -> Progression:
    """The sizes that a root may have, by its range and every condition on it alone."""
    example = facts.examples.get(root)
    low, high = facts.ranges[root]
    if example is None:
        return Progression(low or 0, high)
    conditions = [function_of(condition.condition, root) for condition in alone(facts, root)]
    conditions.append(compile_condition(f"size >= {low or 0}", "size"))
    if high is not None:
        conditions.append(compile_condition(f"size <= {high}", "size"))
    return solve_sizes(conditions, example, least=min(LEAST, example))


@dataclass(frozen=True)
class _Root:
    """How a root symbol is written: `scale * name + offset`; without a name it is automatic."""

    name: str | None
    scale: int = 1
    offset: int = 0


def _root_names(
    facts: SizeFacts, roots: Mapping[Any, Progression], loose: set[Any]
) -> dict[Any, _Root]:
    taken = {
        spec.name
        for specs in facts.shapes.leaves.values()
        for spec in specs
        if isinstance(spec, Named)
    }
    result: dict[Any, _Root] = {}
    for root, sizes in roots.items():
        name = None if root in loose else _name_for(facts, root, taken)
        if name is None or sizes.step == 1:
            result[root] = _Root(name)
            continue
        inner = _fresh(f"_{name.lstrip('_')}", taken)
        result[root] = _Root(inner, sizes.step, sizes.first % sizes.step)
    return result


def _name_for(facts: SizeFacts, root: Any, taken: set[str]) -> str | None:
    """The user's own name where some dim is the root itself, else one made from such a dim's."""
    text: str | None = None
    for dim in facts.dims:
        spec = dim.wanted
        line = linear_in(dim.value, root)
        if not isinstance(spec, Named) or line is None:
            continue
        if line == (spec.scale, spec.offset):
            return spec.name
        text = text or f"_{spec.name.lstrip('_')}"
    return _fresh(text, taken) if text else None


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"_{name}"
    taken.add(name)
    return name


def _shapes(
    facts: SizeFacts, roots: Mapping[Any, Progression], names: Mapping[Any, _Root]
) -> Shapes:
    leaves = {path: list(specs) for path, specs in facts.shapes.leaves.items()}
    bounds: dict[str, Bounds] = {}
    for dim in facts.dims:
        spec = _spec(facts, dim, roots, names)
        leaves[dim.place.path][max(dim.place.position, 0)] = spec
    for root, written in names.items():
        if written.name is not None:
            bounds[written.name] = _bounds(facts, roots[root], written)
    return Shapes({path: tuple(specs) for path, specs in leaves.items()}, bounds)


def _spec(
    facts: SizeFacts, dim: InputDim, roots: Mapping[Any, Progression], names: Mapping[Any, _Root]
) -> Spec:
    if dim.fixed:
        return Static()
    symbols = dim.value.free_symbols
    if len(symbols) == 1:
        (root,) = symbols
        if roots[root].single:
            return Static()
        line, written = linear_in(dim.value, root), names[root]
        if line is not None and written.name is not None:
            scale, offset = line
            return Named(written.name, scale * written.scale, scale * written.offset + offset)
        if line is not None:
            return _automatic(dim.wanted, line, roots[root])
    return Auto(called=_user_name(dim.wanted))


def _automatic(wanted: Spec, line: tuple[int, int], sizes: Progression) -> Spec:
    """An automatic dim with its known bounds; `!` stays `!`."""
    scale, offset = line
    low = scale * sizes.first + offset
    high = None if sizes.last is None else scale * sizes.last + offset
    bounds = Bounds(low if low > LEAST else None, high)
    return Dynamic(*bounds) if isinstance(wanted, Dynamic) else Auto(*bounds, _user_name(wanted))


def _user_name(wanted: Spec) -> str:
    """The user's name of a size that is left to torch."""
    match wanted:
        case Named(name) if not wanted.derived:
            return name
        case Auto(called=name):
            return name
    return ""


def _bounds(facts: SizeFacts, sizes: Progression, written: _Root) -> Bounds:
    low = (sizes.first - written.offset) // written.scale
    high = None if sizes.last is None else (sizes.last - written.offset) // written.scale
    asked = facts.shapes.bounds.get(written.name or "", Bounds())
    if written.scale == 1:  # the requested bound, if narrower
        low = max(low, asked.low or 0)
        high = min((number for number in (high, asked.high) if number is not None), default=None)
        return Bounds(low if low > LEAST or low == asked.low else None, high)
    return Bounds(low or None, high)
