"""A group's example: inputs at which every size that varies is seen to be one of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from export_engine.attempt import Request
from export_engine.observe.seen_calls import Arguments
from export_engine.observe.variation import Group
from export_engine.traced_sizes import with_size
from export_engine.verify import runs_in_eager


def example_of(target: Callable[..., Any], group: Group) -> Arguments:
    """Inputs of a call that was seen; resized where sizes are 0 or 1, or equal by chance.

    torch specializes on 0 and 1, and takes sizes that are equal in the example for one. The
    resized inputs are used only if the model takes them.

    Raises:
        LookupError: no call's inputs were kept.
    """
    best = max(_iter_examples(group), key=lambda each: _score(each[0]), default=None)
    if best is None:
        raise LookupError("No call's inputs were stored, so there is no example.")
    sizes, (args, kwargs) = best
    request = Request(target=target, args=args, kwargs=kwargs, shapes=group.shapes)
    wanted = _apart(group, sizes)
    if wanted != sizes:
        changed = request
        for name, size in wanted.items():
            column = group.dims[name][0]
            changed = with_size(changed, [(column.path, column.position)], size)
        if runs_in_eager(changed):
            return changed.args, dict(changed.kwargs)
    return args, kwargs


def _iter_examples(group: Group) -> Iterator[tuple[dict[str, int], Arguments]]:
    """The calls whose inputs were kept, with the sizes of the group's free dims."""
    free = {name: dim for name, dim in group.dims.items() if name not in group.relations}
    for number, (_, seen) in enumerate(group.calls):
        if seen.example is not None:
            yield {name: columns[0].values[number] for name, columns in free.items()}, seen.example


def _score(sizes: dict[str, int]) -> tuple[int, int, int]:
    """How much an example shows; of two that show the same, the smaller one."""
    plain = [size for size in sizes.values() if size > 1]
    return len(plain), len(set(plain)), -sum(plain)


def _apart(group: Group, sizes: dict[str, int]) -> dict[str, int]:
    """The sizes, those of 0 or 1 and those that another has made others, preferably seen ones."""
    result: dict[str, int] = {}
    for name, size in sizes.items():
        seen = sorted({size, *group.dims[name][0].values}, key=lambda each: (each != size, each))
        new = [number for number in seen if number > 1 and number not in result.values()]
        others = (n for n in range(2, max(2, size) + len(sizes) + 2) if n not in result.values())
        result[name] = new[0] if new else next(others)
    return result
