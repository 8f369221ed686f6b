"""Probe says what really calling the program says: 1,000 size tuples over 20 models."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record, probe_named, probe_sizes
from export_engine.shapes import Shapes
from export_engine.verify import call
from export_engine.verify.fresh_inputs import fresh_request
from tests import models, seed_cases

TUPLES = 25
"""Of a case; the benchmark tries more."""


class Case(NamedTuple):
    name: str
    target: Any
    args: tuple[Any, ...]
    shapes: str
    strict: bool = False


class Sums(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() + y.sum()


class Folds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, x.shape[1] // 2, 2).sum(1)


class Windows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.unfold(1, 3, 2).mean(-1)


class Thresholds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] * x.shape[1] > 40:
            return x.sin()
        return x.cos()


class Even(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[::2] + x[1::2]


class Cache(nn.Module):
    def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.cat([cache["k"], x], 1) * cache["v"].sum()


class Repeats(nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x[:, :n].relu()


def cases() -> Iterator[Case]:
    x = torch.randn
    product = (x(8, 16), x(16, 32))
    cached = (x(2, 3), {"k": x(2, 4), "v": x(2)})
    of_cache = "x: b, s; cache.k: b, t; cache.v: b"
    yield Case("static", Sums(), (x(3, 4), x(5)), "")
    yield Case("two dims", Sums(), (x(3, 4), x(5)), "x: a, b; y: c[2..9]")
    yield Case("equal", seed_cases.Multiplies(), (x(5, 4), x(4, 7)), "x: a, k; y: k, b")
    yield Case("derived", seed_cases.AddsTail(), (x(4), x(5)), "x: n; y: n + 1")
    yield Case("joined", seed_cases.Joins(), (x(4), x(13)), "x: n; y: 3*n + 1")
    yield Case("small product", seed_cases.SmallProduct(), product, "x: *, *; y: *, *")
    yield Case("folds", Folds(), (x(3, 8),), "x: a, 2*b")
    yield Case("windows", Windows(), (x(3, 9),), "x: a, *[4..40]")
    yield Case("thresholds", Thresholds(), (x(8, 8),), "x: *, *")
    yield Case("even", Even(), (x(8, 3),), "x: *, _")
    yield Case("cache", Cache(), cached, of_cache)
    yield Case("number", Repeats(), (x(3, 8), 5), "x: a, _; n: *")
    yield Case("slices", seed_cases.Slices(), (x(4, 8, 3),), "x: a, b[4..18], _")
    yield Case("strict", seed_cases.SmallProduct(), product, "x: *, *; y: *, *", True)
    yield Case(
        "strict cache",
        Cache(),
        (x(2, 3), {"k": x(2, 4), "v": x(2)}),
        "x: b, s; cache.k: b, t; cache.v: b",
        True,
    )
    yield Case("halves", lambda x: x[: x.shape[0] // 2], (x(9),), "x: *[4..60]")
    yield Case("only derived", lambda x: x + 1, (x(8, 3),), "x: 4*n, _")


_SIZES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 18, 19, 40)


def tuples(record: Record, numbers: random.Random, count: int = TUPLES) -> Iterator[list[int]]:
    """Sizes near the example's, most of them tied as the program has them, some off."""
    probe = record.probe
    symbols = sorted({each.symbol for each in probe.inputs if each.symbol >= 0})
    for _ in range(count):
        values = {each: numbers.choice(_SIZES) for each in symbols}
        sizes = [
            each.scale * values[each.symbol] + each.offset if each.symbol >= 0 else each.example
            for each in probe.inputs
        ]
        if numbers.random() < 0.4 and sizes:
            sizes[numbers.randrange(len(sizes))] += numbers.choice((-1, 1, 2))
        yield [max(size, 1) for size in sizes]


@pytest.fixture(scope="module")
def outcomes() -> Iterator[Counter[tuple[str, str]]]:
    seen: Counter[tuple[str, str]] = Counter()
    yield seen
    total = sum(seen.values())
    print(f"\nprobe beside the call, {total} size tuples")
    for (said, done), count in sorted(seen.items()):
        print(f"  {said:<10} {done:<10} {count:>5}")


@pytest.mark.slow
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_probe_agrees_with_the_call(case: Case, outcomes: Counter[tuple[str, str]]) -> None:
    _agrees(case, outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert2", "vision", "branching"])
def test_probe_agrees_with_a_real_model(name: str, outcomes: Counter[tuple[str, str]]) -> None:
    case = models.CASES[name]()
    _agrees(Case(name, case.model, case.args, case.shapes), outcomes)


def _agrees(case: Case, outcomes: Counter[tuple[str, str]]) -> None:
    shapes = Shapes.parse(case.shapes) if case.shapes else None
    request = Request(target=case.target, args=case.args, dynamic_shapes=shapes, strict=case.strict)
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    record = describe(attempt)
    module = attempt.program.module()
    numbers = random.Random(case.name)
    for sizes in tuples(record, numbers):
        result = probe_sizes(record.probe, sizes)
        assert result.unknown == ()
        wanted: dict[str, list[int]] = {}
        for size, entry in zip(sizes, record.probe.inputs, strict=True):
            wanted.setdefault(record.signature.inputs[entry.entry].path, []).append(size)
        try:
            made = call(module, fresh_request(request, wanted, 0), 0).result
        except Exception as error:  # noqa: BLE001 - what is looked for
            done, why = "refused", str(error)[:200]
        else:
            done, why = "accepted", ""
        outcomes[result.verdict, done] += 1
        if result.verdict != "unchecked":
            assert result.verdict == done, (sizes, result.broken, why)
        if done == "accepted" and result.verdict == "accepted":
            check_outputs(record, result.outputs, made)


def check_outputs(record: Record, sizes: tuple[int | None, ...], made: Any) -> None:
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(made) if leaf is not None]
    entries = [n for n, each in enumerate(record.signature.outputs) if each.kind == "user_output"]
    for output, size in zip(record.probe.outputs, sizes, strict=True):
        value = leaves[entries.index(output.entry)]
        if size is not None and isinstance(value, torch.Tensor):
            assert value.shape[output.dim] == size


@pytest.mark.after_check
def test_sizes_are_given_by_name() -> None:
    request = Request(
        target=seed_cases.Multiplies(),
        args=(torch.randn(5, 4), torch.randn(4, 7)),
        shapes=Shapes.parse("x: a[2..9], k; y: k, b"),
    )
    attempt = capture(request)
    assert isinstance(attempt, Exported)
    record = describe(attempt)
    good = probe_named(record, {"a": 9, "k": 3})
    assert good.verdict == "accepted"
    assert good
    assert good.outputs == (9, 7)
    bad = probe_named(record, {"a": 10})
    assert bad.verdict == "refused"
    assert not bad
    assert [rule.text for rule in bad.broken] == ["a <= 9"]
    torn = probe_named(record, {"k": 3, "y.shape[0]": 4})
    assert [rule.text for rule in torn.broken] == ["y.shape[0] == x.shape[1]"]
    with pytest.raises(ValueError, match=r"no size 'q'. Available: a, k, b, x\.shape\[0\]"):
        probe_named(record, {"q": 1})
    with pytest.raises(ValueError, match=r"A size must be an int, but a is '9'\."):
        probe_named(record, {"a": "9"})  # type: ignore[dict-item]


def chosen_by_sizes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.shape[0] * x.shape[1] > 40 and x.shape[1] != y.shape[0]:
        return x.sum() + y.sum()
    return x.sum() - y.sum()


@pytest.mark.after_check
def test_conditions_of_the_code_speak_of_sizes_by_their_names() -> None:
    attempt = capture(
        Request(
            target=chosen_by_sizes,
            args=(torch.randn(5, 9), torch.randn(3)),
            shapes=Shapes.parse("x: rows, width; y: more"),
        )
    )
    assert isinstance(attempt, Exported)
    asked = [rule.text for rule in describe(attempt).probe.rules if rule.kind == "guard"]
    assert asked == ["width*rows > 40", "width != more"]
