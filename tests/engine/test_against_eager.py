"""Whether a program agrees with eager at sizes it was not traced at: found, refused, different."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Agreement, Exported, Request, Trial
from export_engine.capture import capture
from export_engine.describe import check_sentence
from export_engine.fixes.try_fixes import try_request
from export_engine.shapes import Shapes
from export_engine.traced_sizes import leaf_values, with_size
from export_engine.verify import check, compare
from export_engine.verify.fresh_inputs import fresh_tensor

from ..models import bert2, branching


def exported(
    target: Any, args: tuple[Any, ...], shapes: str = "", kwargs: Any = None, strict: bool = False
) -> Exported:
    request = Request(
        target=target,
        args=args,
        kwargs=kwargs or {},
        shapes=Shapes.parse(shapes) if shapes else None,
        strict=strict,
    )
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    return attempt


class Hidden(nn.Module):
    """Right for one size of x only, by a condition on two sizes that no range shows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape
        if (h // 2) * (w // 2) == 16:
            return x + 1
        return x - 1


class Turned(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        turned = x.mT + 0
        return turned.contiguous() if torch.compiler.is_exporting() else turned


def test_a_tensor_of_another_layout_has_no_strides_to_tell() -> None:
    found = compare(torch.eye(3).to_sparse(), torch.eye(3))
    assert found.detail == "output 0: layout torch.sparse_coo instead of torch.strided"


@pytest.mark.after_check
def test_a_program_that_differs_only_in_strides_agrees_and_says_so() -> None:
    attempt = exported(Turned(), (torch.randn(3, 4),), "x: n, _")

    found = check(attempt)

    assert found.verdict == "agrees"
    assert check_sentence(found).endswith(
        "exactly. Only strides differ: output 0: (3, 1) instead of (1, 4)."
    )
    assert all(not each.strides for each in check(exported(nn.ReLU(), (torch.ones(3),))).trials)


_ticks = itertools.count()


class Bakes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + next(_ticks)


class Momentum(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.log: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(x.mean(0))
        self.last = x.shape[0]
        return x - self.mean


@pytest.mark.slow
def test_clean_models_agree_at_other_sizes() -> None:
    for case in (bert2(), branching()):
        attempt = exported(case.model, case.args, case.shapes, dict(case.kwargs))
        agreement = check(attempt)
        assert agreement.verdict == "agrees", agreement
        sizes = [trial.sizes for trial in agreement.trials]
        assert len({tuple(each.items()) for each in sizes}) == len(sizes)


@pytest.mark.after_check
def test_a_hidden_condition_is_found_and_named() -> None:
    agreement = check(exported(Hidden(), (torch.randn(8, 8),), "x: *, *"))
    assert agreement.verdict == "refused"
    refused = next(trial for trial in agreement.trials if trial.outcome == "refused")
    assert "// 2" in refused.detail
    assert "L['" not in refused.detail


def test_a_value_that_changes_is_seen_to_be_baked_in() -> None:
    agreement = check(exported(Bakes(), (torch.randn(4),)))
    assert agreement.verdict == "differs"


def test_sizes_that_eager_refuses_say_nothing() -> None:
    class Only(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    attempt = exported(Only(), (torch.randn(4),), "x: n")

    class Picky(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("never")

    object.__setattr__(attempt.request, "target", Picky())
    agreement = check(attempt)
    assert {trial.outcome for trial in agreement.trials} == {"eager-fails"}
    assert agreement.verdict == "not checked"


def test_a_large_difference_is_told_beside_how_large_the_output_is() -> None:
    ours, eager = torch.tensor([1.0, 300_000.2]), torch.tensor([1.0, 300_000.0])
    found = compare((torch.zeros(2), ours), (torch.zeros(2), eager))
    assert found.same
    assert found.reach == 300_000
    for error, said in (
        (found.error, "with differences up to 2e-01 where outputs reach 3e+05."),
        (3e-7, "with differences up to 3e-07."),
        (0.0, "exactly."),
    ):
        trial = Trial({"n": 3}, "agrees", error, reach=found.reach)
        assert check_sentence(Agreement((trial,))) == f"Agrees with eager at n 3, {said}"


class TwoScales(nn.Module):
    """As a U-Net does, it takes sizes that can be halved."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small = nn.functional.avg_pool2d(x[None], 2)[0]
        return x + small.repeat_interleave(2, 1).repeat_interleave(2, 2)


class FourScales(TwoScales):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[1] % 16 or x.shape[2] % 16:
            raise ValueError("no multiple of 16")
        return super().forward(x)


def test_a_model_that_takes_multiples_only_is_compared_at_multiples() -> None:
    attempt = exported(TwoScales(), (torch.randn(2, 16, 16),), "x: c, 2*h, 2*w")
    object.__setattr__(attempt.request, "target", FourScales())

    agreement = check(attempt)
    agreeing = [each.sizes for each in agreement.trials if each.outcome == "agrees"]
    sizes = (4, 16, 16), (4, 8, 8), (2, 16, 8), (2, 8, 16)
    assert agreeing[0] == {}
    assert all(dict(zip("chw", each, strict=True)) in agreeing for each in sizes)


@pytest.mark.after_check
def test_the_model_the_inputs_and_the_random_numbers_stay_as_they_were() -> None:
    model, x = Momentum(), torch.randn(4, 3)
    model.train()
    attempt = exported(model, (x,), "x: n, _")
    before, given, state = model.mean.clone(), x.clone(), torch.get_rng_state()
    agreement = check(attempt)
    assert agreement.verdict == "agrees"
    assert torch.equal(model.mean, before)
    assert torch.equal(x, given)
    assert torch.equal(torch.get_rng_state(), state)
    assert not hasattr(model, "last")
    assert model.training


def test_an_interrupted_check_leaves_the_model_as_it_was() -> None:
    model = Momentum()
    attempt = exported(model, (torch.randn(4, 3),), "x: n, _")
    before = model.mean.clone()

    def interrupt(progress: Any) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(attempt, progress=interrupt)
    assert torch.equal(model.mean, before)
    assert not hasattr(model, "last")


@pytest.mark.slow
def test_float32_is_not_rounded_to_tf32_in_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = torch.backends.cudnn
    monkeypatch.setattr(flags, "allow_tf32", True)
    seen: SimpleQueue[bool] = SimpleQueue()

    class Sees(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not torch.compiler.is_exporting():
                seen.put(flags.allow_tf32)
            return x + 1

    assert check(exported(Sees(), (torch.ones(3),))).verdict == "agrees"
    assert {seen.get() for _ in range(seen.qsize())} == {False}
    assert flags.allow_tf32


@pytest.mark.after_check
def test_both_ways_of_a_branch_on_data_are_taken() -> None:
    taken: SimpleQueue[bool] = SimpleQueue()  # a list would be put back

    class Forks(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not torch.compiler.is_compiling():
                taken.put(bool(x.sum() > 0))
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

    assert check(exported(Forks(), (torch.rand(4, 3) + 1,), "x: n, _")).verdict == "agrees"
    assert {taken.get() for _ in range(taken.qsize())} == {True, False}


@pytest.mark.parametrize(
    "example",
    [
        torch.randint(0, 50, (2, 8)),
        torch.ones(2, 8, dtype=torch.bool),
        torch.arange(8).expand(2, 8),
        torch.randn(2, 8),
        torch.zeros(2, 8).masked_fill(torch.rand(2, 8) > 0.5, float("-inf")),
        torch.randn(2, 8, dtype=torch.float16),
        torch.randn(2, 8, dtype=torch.complex64),
    ],
)
def test_fresh_values_are_like_the_examples(example: torch.Tensor) -> None:
    made = fresh_tensor(example, (3, 11), torch.Generator().manual_seed(0))
    assert made.shape == (3, 11)
    assert made.dtype == example.dtype
    if not example.is_floating_point() and not example.is_complex():
        counting = torch.equal(example, torch.arange(8).expand(2, 8))
        low, high = int(example.min()), 10 if counting else int(example.max())
        assert low <= int(made.min()) <= int(made.max()) <= high


def test_another_size_goes_wherever_the_dim_does() -> None:
    request = Request(
        target=lambda x, y, *, more: x,
        args=(torch.randn(1, 4), {"a": torch.randn(3, 1)}),
        kwargs={"more": [torch.randn(2)]},
        shapes=Shapes.parse("x: b, _; y.a: _, b; more.0: 2*b"),
    )
    other = with_size(request, [("x", 0)], 3)
    sizes = {path: tuple(value.shape) for path, value in leaf_values(other).items()}
    assert sizes == {"x": (3, 4), "y.a": (3, 3), "more.0": (6,)}
    assert request.args[0].shape == (1, 4)
    assert list(other.kwargs) == ["more"]


def test_results_are_compared_leaf_by_leaf() -> None:
    one = {"a": torch.ones(3), "b": (torch.tensor([1, 2]), 4)}
    assert compare(one, one).same
    nan = torch.tensor([float("nan"), 1.0])
    assert compare(nan, nan.clone()).same
    assert not compare(torch.ones(3), torch.ones(3) + 0.1).same
    assert not compare(torch.ones(3), torch.ones(4)).same
    assert not compare(torch.ones(3), torch.ones(3, dtype=torch.float64)).same
    assert not compare((torch.ones(3),), (torch.ones(3), torch.ones(3))).same
    assert not compare(torch.tensor([1]), torch.tensor([2])).same
    assert compare(torch.ones(3), torch.ones(3) + 0.1).detail == "output 0: off by up to 0.1"


class Grows(nn.Module):
    """Its table grows with the longest input, and is cropped."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.arange(4.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.table.size(0) < x.size(0):
            self.table = torch.arange(x.size(0)).float()
        return x + self.table[: x.size(0)]


class PerShape(nn.Module):
    """Makes its grid anew for each shape."""

    def __init__(self) -> None:
        super().__init__()
        self.shape = torch.Size([])
        self.grid = torch.zeros(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.shape != x.shape:
            self.grid = torch.arange(x.shape[0]).float()
            self.shape = x.shape
        return x * self.grid


class Remembers(nn.Module):
    """Keeps the scale of the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.scale: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.scale is None:
            self.scale = x.abs().mean()
        return x / self.scale


class DrawsOnce(nn.Module):
    """Keeps the noise that it drew."""

    def __init__(self) -> None:
        super().__init__()
        self.noise: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.noise is None:
            self.noise = torch.rand(1)
        return x + self.noise


class Holder:
    """A plain object that counts."""

    count = 0

    def next(self) -> int:
        self.count += 1
        return self.count


class CountsInObject(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.holder = Holder()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.holder.next()


class Toggles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.odd = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.odd = not self.odd
        return x * 2 if self.odd else x


class History(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.past: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.past.append(x.mean())
        return x + sum(self.past)


class CountsCalls(nn.Module):
    """Changes with the hundredth call, which nobody waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls > 100:
            return x
        return x * 2


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize("module", [Remembers, DrawsOnce, CountsInObject, Toggles, History])
def test_a_state_that_the_program_lacks_is_seen_in_a_second_call(
    module: type[nn.Module], strict: bool
) -> None:
    agreement = check(exported(module(), (torch.randn(6),), "x: n", strict=strict))

    assert agreement.verdict == "differs", agreement
    assert agreement.trials[-1].detail.startswith("in a second call, ")
    assert "keeps state that the program lacks" in agreement.baked


@pytest.mark.after_check
def test_a_branch_on_a_count_agrees_only_by_chance() -> None:
    found = try_request(Request(target=CountsCalls(), args=(torch.randn(6),)))

    assert isinstance(found, Exported)
    assert found.agreement is not None
    assert found.agreement.verdict == "differs", found.agreement


@pytest.mark.after_check
def test_a_state_in_a_buffer_is_in_the_program_too() -> None:
    agreement = check(exported(Momentum(), (torch.randn(4, 3),), "x: n, _"))

    assert agreement.verdict == "agrees", agreement


def dropped(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return x * 0 if layer.training and random.random() < 0.1 else x


class Branching(nn.Module):
    """In eval mode no random number is drawn; another is, but no branch checks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and random.random() < 0.5:
            return x
        x = dropped(self, x)
        if not self.training or x.shape[0] < 2:
            return x * 2
        return x * 3 if random.random() < 0.5 else x


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("eval_mode", [False, True])
@pytest.mark.slow
def test_what_only_training_draws_is_not_baked_in(training: bool, eval_mode: bool) -> None:
    model = Branching().train(training)
    found = try_request(Request(target=model, args=(torch.ones(3),), eval_mode=eval_mode))
    assert isinstance(found, Exported)
    assert found.agreement is not None
    assert (found.agreement.verdict == "agrees") is (eval_mode or not training)


@contextmanager
def _cosines() -> Iterator[None]:
    original, Patched.function = Patched.function, staticmethod(torch.cos)
    try:
        yield
    finally:
        Patched.function = original


class Patched(nn.Module):
    function = staticmethod(torch.sin)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def test_eager_is_compared_in_the_contexts_of_the_export() -> None:
    attempt = capture(Request(target=Patched(), args=(torch.ones(3),), within=(_cosines,)))
    assert isinstance(attempt, Exported)
    assert check(attempt).verdict == "agrees"
    assert Patched.function is torch.sin
