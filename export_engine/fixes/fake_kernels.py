"""A fake kernel for a custom op that has none, inferred from runs of its real one.

The op's calls are observed while the eager model runs the example; then the op alone is called with
inputs of other sizes, and each size of its results is matched with the sizes of its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch

from export_engine.attempt import Exported, Failed
from export_engine.checking.running import left_as_it_was, run
from export_engine.diagnosis import Kind
from export_engine.fix import Fix
from export_engine.fixes.trying import try_request
from export_engine.inputs import repeated
from export_engine.request import Request
from export_engine.targets import as_module
from export_engine.torch_internals import calls_of_op, op_arguments
from export_engine.tracing import Progress

_GROWTHS = (1, 3)
"""How much longer a size is made, to see what follows from it."""

Size = int | tuple[int, int, int, int]
"""A number, or `scale * (size of tensor t along dim d) + offset` as (t, d, scale, offset)."""


@dataclass(frozen=True)
class ResultRule:
    """How one result follows from the inputs."""

    sizes: tuple[Size, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class FakeKernel:
    """A fake kernel for one op, as rules. A Setup."""

    op: str
    """`ns::name`."""
    arguments: tuple[str, ...]
    tensors: tuple[str, ...]
    """The arguments that are tensors; what a Size counts."""
    rules: tuple[ResultRule, ...]
    several: bool
    """Whether the op gives a tuple."""

    @property
    def title(self) -> str:
        """What it does, as an order."""
        return f"Give {self.op} a fake kernel"

    @property
    def code(self) -> str:
        """The kernel as a user writes it."""
        first = self.tensors[0]
        made = [
            f"{first}.new_empty({self._tuple(rule.sizes)}, dtype={rule.dtype})"
            for rule in self.rules
        ]
        result = f"({', '.join(made)})" if self.several else made[0]
        return (
            f'@torch.library.register_fake("{self.op}")\n'
            f"def _({', '.join(self.arguments)}):\n    return {result}"
        )

    def _tuple(self, sizes: tuple[Size, ...]) -> str:
        inside = ", ".join(map(self._size, sizes))
        return f"({inside},)" if len(sizes) == 1 else f"({inside})"

    def _size(self, size: Size) -> str:
        if isinstance(size, int):
            return str(size)
        tensor, dim, scale, offset = size
        text = f"{self.tensors[tensor]}.shape[{dim}]"
        text = f"{scale} * {text}" if scale != 1 else text
        return f"{text} + {offset}" if offset > 0 else f"{text} - {-offset}" if offset else text

    def install(self) -> Callable[[], None]:
        """Registers the kernel, in a library of its own that can be taken away."""
        namespace = self.op.split("::", maxsplit=1)[0]
        library = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]

        def kernel(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(self.arguments, args, strict=False)) | kwargs
            tensors = [given[name] for name in self.tensors]
            made = [
                tensors[0].new_empty(
                    [_value(size, tensors) for size in rule.sizes], dtype=rule.dtype
                )
                for rule in self.rules
            ]
            return tuple(made) if self.several else made[0]

        torch.library.register_fake(self.op, kernel, lib=library, allow_override=True)
        return library._destroy


def offered(attempt: Failed, progress: Callable[[Progress], None] | None = None) -> Iterator[Fix]:
    """A fake kernel for the op that an attempt with its diagnosis lacks one for."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind is not Kind.NO_FAKE_KERNEL:
        return
    kernel, runs = infer(request, diagnosis.facts.get("op", ""))
    if kernel is None:
        return
    if progress:
        progress(Progress(0, 0, kernel.title, "fix"))
    found = try_request(request.with_changes(setups=(*request.setups, kernel)))
    yield Fix(
        kind="code",
        title=kernel.title,
        why=f"Inferred from {runs} runs of the real op with inputs of different sizes. Put it "
        "beside the op's definition.",
        gives_up="Sizes that depend on values, and errors that the op raises, are not part of it.",
        change=lambda request: request.with_changes(setups=(*request.setups, kernel)),
        after=kernel.code,
        stack=diagnosis.stack,
        leads_to=found if isinstance(found, Exported) else None,
    )


def infer(request: Request, op: str) -> tuple[FakeKernel | None, int]:
    """The kernel that explains every run, and how many runs there were; None if none does."""
    with left_as_it_was(as_module(request.target)), calls_of_op(op) as calls:
        with suppress(Exception):  # the model may fail by itself; the calls until then count
            run(request.target, request, seed=0)
    if not calls:
        return None, 0
    called, given, result = calls[0]
    names = op_arguments(called)
    several = isinstance(result, tuple | list)
    tensors = tuple(name for name, value in given.items() if isinstance(value, torch.Tensor))
    if not tensors:
        return None, 0
    runs = [(given, _results(result)), *_resized_runs(called, given, tensors)]
    rules = []
    for number, made in enumerate(_results(result)):
        sizes = tuple(_explained(runs, tensors, number, dim) for dim in range(made.dim()))
        if None in sizes:
            return None, len(runs)
        rules.append(ResultRule(sizes, made.dtype))  # type: ignore[arg-type]
    return FakeKernel(op, names, tensors, tuple(rules), several), len(runs)


def _resized_runs(called: Any, given: dict[str, Any], tensors: tuple[str, ...]) -> list[Any]:
    """Runs of the op alone, with one size at a time made longer wherever it occurs."""
    runs: list[Any] = []
    sizes = dict.fromkeys(size for name in tensors for size in given[name].shape)
    for size in sizes:
        places = [
            (name, dim) for name in tensors for dim, s in enumerate(given[name].shape) if s == size
        ]
        for together in (places, *([place] for place in places)):
            for growth in _GROWTHS:
                longer = dict(given)
                for name, dim in together:
                    longer[name] = repeated(longer[name].detach(), dim, size + growth)
                try:
                    with torch.no_grad():
                        runs.append((longer, _results(called(**longer))))
                except Exception:  # noqa: BLE001 - the op may refuse sizes by whatever it likes
                    continue
    return runs


def _results(result: Any) -> list[torch.Tensor]:
    found = result if isinstance(result, tuple | list) else [result]
    return [each for each in found if isinstance(each, torch.Tensor)]


def _explained(
    runs: list[tuple[dict[str, Any], list[torch.Tensor]]],
    tensors: tuple[str, ...],
    number: int,
    dim: int,
) -> Size | None:
    """What gives one size of one result in every run."""
    if any(number >= len(made) or dim >= made[number].dim() for _, made in runs):
        return None
    wanted = [made[number].shape[dim] for _, made in runs]
    for tensor, name in enumerate(tensors):
        for position in range(runs[0][0][name].dim()):
            have = [given[name].shape[position] for given, _ in runs]
            line = _line(have, wanted)
            if line is not None:
                return (tensor, position, *line)
    return wanted[0] if len(set(wanted)) == 1 else None


def _line(have: list[int], wanted: list[int]) -> tuple[int, int] | None:
    """`wanted = scale * have + offset` with whole numbers, if it holds for several sizes."""
    different = sorted(set(zip(have, wanted, strict=True)))
    if len({size for size, _ in different}) < 2:
        return None
    (x0, y0), (x1, y1) = different[0], different[-1]
    if x0 == x1 or (y1 - y0) % (x1 - x0) or y1 == y0:
        return None
    scale = (y1 - y0) // (x1 - x0)
    offset = y0 - scale * x0
    return (scale, offset) if all(y == scale * x + offset for x, y in different) else None


def _value(size: Size, tensors: list[Any]) -> Any:
    if isinstance(size, int):
        return size
    tensor, dim, scale, offset = size
    return scale * tensors[tensor].shape[dim] + offset
