"""Where cases come from: the models beside this file, public reports, founding cases, the zoo."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..benchmarks.reports import REPORTED
from ..seed_cases import seed_cases
from . import cases  # noqa: F401 - fills CASES
from .case import CASES, NON_STRICT, Case


def all_cases(*, zoo: bool = False) -> Iterator[Case]:
    """Every case; models of real packages only if asked for."""
    yield from CASES.values()
    for report in REPORTED:
        calls = [partial(report.inputs, number) for number in range(3)]
        text = _text_of(report.file)
        yield Case(f"reports/{report.name}", report.build, report.shapes, calls, source=text)
    for seed in seed_cases():
        if seed.args and seed.kwargs:
            raise ValueError(f"{seed.name} has positional and keyword arguments.")
        calls = [partial(copy.deepcopy, seed.args or dict(seed.kwargs))]
        make = partial(copy.deepcopy, seed.target)
        yield Case(f"seeds/{seed.name}", make, seed.shapes, calls, source=_text_of(seed.file))
    if zoo:
        yield from _zoo_cases()


def _zoo_cases() -> Iterator[Case]:
    from ..benchmarks.zoo import MODELS  # imports packages that need not be there

    for model in MODELS:
        sizes = [dict(model.sizes), *_other_sizes(model.sizes)]
        calls = [partial(_arguments, model, each) for each in sizes]
        yield Case(f"zoo/{model.name}", model.build, model.shapes, calls, NON_STRICT)


def _other_sizes(sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Sizes that all differ from the example's: irregular ones, and twice those."""
    more = {name: size + 1 for name, size in sizes.items()}
    return [more, {name: size + 1 if name == "batch" else 2 * size for name, size in sizes.items()}]


def _arguments(model: Any, sizes: Mapping[str, int]) -> tuple[Any, ...] | dict[str, Any]:
    args, kwargs = model.call(**sizes)
    if args and kwargs:
        names = list(inspect.signature(model.build().forward).parameters)
        return {**dict(zip(names, args, strict=False)), **kwargs}
    return args or kwargs


@cache
def _text_of(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")
