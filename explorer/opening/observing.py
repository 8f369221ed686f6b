"""Shapes from real calls: watch a model in use, and export it for those calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from explorer.text.attempt_text import cut, fold
from explorer.text.escape import escape_html

if TYPE_CHECKING:
    from explorer.exploration import Exploration
    from export_engine.observe import CheckedCall, Group, SeenCalls
    from export_engine.shapes import Shapes

_SHOWN = 12


class Calls:
    """The calls that were seen, and what varies in them.

    `print` it, or leave it on the last line of a cell. It can be called like the model.
    """

    def __init__(self, seen: SeenCalls) -> None:
        """Make one; `explorer.observe` does.

        Args:
            seen: what watches the calls.
        """
        self._seen = seen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the model and keeps what the call passed; for a callable that is not a module."""
        import torch

        target = self._seen.target
        if isinstance(target, torch.nn.Module):
            return target(*args, **kwargs)  # its hooks watch it
        done = self._seen.before(args, kwargs)
        result = target(*args, **kwargs)
        done()
        return result

    def __len__(self) -> int:
        """How many calls returned."""
        return self._seen.times

    @property
    def groups(self) -> list[Group]:
        """Groups of calls with the same structure, the most frequent first.

        A program is for one group: None, flags, dtypes and numbers of dims cannot vary in it.
        """
        from export_engine.observe import groups_of

        return groups_of(self._seen)

    @property
    def shapes(self) -> Shapes:
        """The `dynamic_shapes` for the most frequent group.

        Raises:
            LookupError: no call was seen.
        """
        return self._group(0).shapes

    def example(self, group: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Inputs to export with: sizes that vary are 2 or more, and differ from each other.

        Raises:
            LookupError: no call was seen.
        """
        from export_engine.observe import example_of

        return example_of(self._seen.target, self._group(group))

    def explore(self, group: int = 0, **options: Any) -> Exploration:
        """Exports the model for the calls of a group.

        Args:
            group: its number in `groups`.
            options: as for `explorer.explore`: `fix`, `strict`, `both`, `spec`.

        Raises:
            LookupError: no call was seen.
        """
        from explorer.opening.exporting import explore

        args, kwargs = self.example(group)
        shapes = self._group(group).shapes
        return explore(self._seen.target, args, kwargs, dynamic_shapes=shapes or None, **options)

    def check(self, exploration: Exploration, group: int = 0) -> CheckedCalls:
        """Runs a program on every call of a group that was seen, and compares it with the model.

        Raises:
            ExportFailed: there is no program.
            LookupError: no call was seen.
            KeyboardInterrupt: interrupted; the model is unchanged.
        """
        from export_engine.observe import check_calls

        wanted = self._group(group)
        checked = list(check_calls(exploration.program, self._seen.target, wanted))
        return CheckedCalls(checked, len(self) - wanted.times)

    def _group(self, number: int) -> Group:
        groups = self.groups
        if not groups:
            raise LookupError("No call was seen. Call the model inside the block.")
        if not 0 <= number < len(groups):
            raise LookupError(f"There is no group {number}: {len(groups)} groups, numbered from 0.")
        return groups[number]

    def __str__(self) -> str:
        from export_engine.observe import difference

        groups = self.groups
        lines = [f"{_calls(len(self))} seen"]
        if self._seen.missed:
            lines.append(f"{self._seen.missed} of them could not be told apart")
        for number, group in enumerate(groups):
            if len(groups) > 1:
                how = f": {difference(group, groups[0])}" if number else ""
                lines.append(fold(f"group {number}, {_calls(group.times)}{how}"))
            lines += [fold(f"  {sentence}") for sentence in group.sentences()]
            if group.shapes:
                lines.append(cut(f"  → {group.shapes}"))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": f"<pre>{escape_html(str(self))}</pre>"}


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"


class CheckedCalls:
    """A program on the calls that were seen. `ok`: it agrees with the model on each of them."""

    def __init__(self, calls: list[CheckedCall], others: int) -> None:
        """Make one.

        Args:
            calls: of the program's group.
            others: how many calls were of other groups, and not checked.
        """
        self.calls = calls
        self.others = others

    @property
    def ok(self) -> bool:
        """Whether every call of the group was checked and agrees."""
        return bool(self.calls) and all(call.outcome == "agrees" for call in self.calls)

    def __str__(self) -> str:
        right = sum(
            checked_call.times for checked_call in self.calls if checked_call.outcome == "agrees"
        )
        lines = [f"agrees with the model on {right} of {sum(c.times for c in self.calls)} calls"]
        for call in self.calls:
            if call.outcome != "agrees":
                sizes = ", ".join(f"{name} = {size}" for name, size in call.sizes.items())
                lines.append(fold(f"  {sizes or 'a call'}: {call.outcome}. {call.detail}"))
        fresh = sum(
            checked_call.times for checked_call in self.calls if not checked_call.own_values
        )
        if fresh:
            lines.append(
                f"{fresh} of them checked with new values of the same sizes, to save memory"
            )
        if self.others:
            lines.append(f"{self.others} calls belong to other groups")
        shown = lines[: _SHOWN + 1]
        return "\n".join([*shown, "  …"] if len(lines) > len(shown) else shown)

    __repr__ = __str__


@contextmanager
def observe(model: Callable[..., Any], most_bytes: int | None = None) -> Iterator[Calls]:
    """Watches the calls of a model until the block ends.

        with explorer.observe(model) as calls:
            model(a); model(b); pipeline(text)
        calls                       # which sizes vary, which are equal, which inputs are None
        ex = calls.explore(fix=True)
        calls.check(ex).ok          # the program against the model, on every call seen

    Afterwards the model is unchanged, even if the block raises. Calls that raise are not counted.
    A callable that is not a module is watched where it is called as `calls(x)`.

    Args:
        model: a module, or another callable.
        most_bytes: the memory that copies of inputs may take, 256 MiB by default; calls beyond it
            are checked with other values of the same sizes.

    Raises:
        TypeError: the model cannot be called.
    """
    from export_engine.observe import MOST_BYTES, Watch

    if not callable(model):
        raise TypeError(f"{type(model).__name__} is not callable, so there are no calls to watch.")
    watch = Watch(model, MOST_BYTES if most_bytes is None else most_bytes)
    try:
        watch.begin()
        yield Calls(watch.seen)
    finally:
        watch.end()
