"""What holds around an export alone, and changed the program, is said; nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from typing import Any
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import explorer
from export_engine.attempt import Kind

X = torch.linspace(-1, 1, 8).view(2, 4)


class Sine(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x)


class Casts(nn.Module):
    """Its result has the same dtype with autocast and without."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).float() + 1  # type: ignore[no-any-return]


class Autocasts(Casts):
    """Autocast is in the program."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.linear(x)  # type: ignore[no-any-return]


class Makes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(x.shape)


class MakesLike(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(x.shape, dtype=x.dtype, device=x.device) + x


class Attends(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x[None]
        return functional.scaled_dot_product_attention(x, x, x)


class Activates(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.gelu(x)


class Cosine(TorchFunctionMode):
    """Replaces what the code calls."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (torch.cos if func is torch.sin else func)(*args, **(kwargs or {}))


class Counts(TorchFunctionMode):
    """Changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class CountsOps(TorchDispatchMode):
    """Changes nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextmanager
def hooked(hook: Callable[..., Any]) -> Iterator[None]:
    """A hook on all modules."""
    handle = nn.modules.module.register_module_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def doubles(module: nn.Module, _: Any, result: torch.Tensor) -> torch.Tensor | None:
    return result * 2 if isinstance(module, nn.Linear) else None


def cpu_autocast(dtype: torch.dtype = torch.bfloat16) -> AbstractContextManager[Any]:
    return torch.autocast("cpu", dtype=dtype)


Context = Callable[[], AbstractContextManager[Any]]

CHANGING: dict[str, tuple[Context, type[nn.Module], str]] = {
    "autocast": (cpu_autocast, Casts, "`linear` is bfloat16 with it, and float32 without"),
    "float16": (lambda: cpu_autocast(torch.float16), Casts, "`linear` is float16 with it"),
    "dtype": (lambda: default_dtype(torch.float64), Makes, "`zeros` is float64 with it"),
    "device": (lambda: torch.device("meta"), Makes, "`zeros` is on meta with it, and on cpu"),
    "hook": (lambda: hooked(doubles), Casts, "`mul` is aten.mul.Tensor with it, and"),
    "mode": (Cosine, Sine, "`cos` is aten.cos.default with it, and aten.sin.default without"),
}
HARMLESS: dict[str, tuple[Context, type[nn.Module]]] = {
    "no context": (nullcontext, Casts),
    "no_grad": (torch.no_grad, Casts),
    "inference_mode": (torch.inference_mode, Casts),
    "autocast of nothing": (cpu_autocast, Sine),
    "autocast disabled": (lambda: torch.autocast("cpu", enabled=False), Casts),
    "autocast in forward too": (cpu_autocast, Autocasts),
    "dtype that is named": (lambda: default_dtype(torch.float64), MakesLike),
    "device that is named": (lambda: torch.device("meta"), MakesLike),
    "device of the model": (lambda: torch.device("cpu"), Makes),
    "mode that looks on": (Counts, Sine),
    "dispatch mode that looks on": (CountsOps, Sine),
    "deterministic": (deterministic, Casts),
    "hook that looks on": (lambda: hooked(lambda *_: None), Casts),
}


def contexts_of(ex: explorer.Exploration) -> list[Any]:
    return [each for each in ex.findings if each.kind is Kind.CONTEXT]


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGING)
def test_a_context_that_changed_the_program_is_a_finding(name: str) -> None:
    enter, model, said = CHANGING[name]

    with enter():
        ex = explorer.explore(model().eval(), (X,))
    (finding,) = contexts_of(ex)

    assert ex.ok
    assert finding.severity == "wrong"
    assert finding.kind.code == "EX225"
    assert said in finding.sentence
    assert finding.stack
    assert ex.release_report().verdict == "not ready"


def test_a_context_without_which_the_outputs_agree_is_a_note_after_verify() -> None:
    with default_dtype(torch.float64):
        ex = explorer.explore(AddsOnes(), (X.double(),))
    before = [each.severity for each in contexts_of(ex)]
    assert ex.verify().ok
    assert before == ["wrong"]
    assert [each.severity for each in contexts_of(ex)] == ["note"]
    assert ex.release_report().verdict != "not ready"


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMLESS)
def test_a_context_that_changed_nothing_is_none(name: str) -> None:
    enter, model = HARMLESS[name]

    with enter():
        ex = explorer.explore(model().eval(), (X,))

    assert ex.ok, ex
    assert not contexts_of(ex)


@pytest.mark.slow
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", ["autocast", "dtype", "mode", "hook"])
def test_verify_and_run_are_without_the_callers_contexts(name: str, inside: bool) -> None:
    enter, model, _ = CHANGING[name]
    model = nn.Sequential(nn.Linear(4, 4)).eval() if name == "autocast" else model()

    with enter():
        ex = explorer.explore(model, (X,))
        state = torch.is_autocast_enabled("cpu"), torch.get_default_dtype()
        if inside:
            verified, runs = ex.verify(), ex.run()
        assert (torch.is_autocast_enabled("cpu"), torch.get_default_dtype()) == state
        if name == "mode":
            assert torch.equal(torch.sin(X), torch.cos(X))  # the mode is on its stack again
    if not inside:
        verified, runs = ex.verify(), ex.run()

    broken = next(each for each in verified.guarantees if each.verdict == "broken")
    assert broken.name == "sound"
    assert not verified.ok
    assert not runs.ok
    declared = {"autocast": "bfloat16", "dtype": "float64"}
    ran_in = {"mode": "Cosine", "hook": "register_module_forward_hook(doubles)"}
    if name in declared:
        assert broken.sentence.startswith(
            f"Output 0 is float32, but the program declares {declared[name]}: the export ran in "
        )
        assert f"the program declares {declared[name]}" in str(runs)
    else:
        assert f"the export ran in `{ran_in[name]}`" in broken.evidence


def test_a_right_program_is_right_inside_of_a_context_as_well() -> None:
    ex = explorer.explore(nn.Linear(4, 4).eval(), (X,))

    with cpu_autocast():
        verified, runs = ex.verify(), ex.run()

    assert verified.ok, verified
    assert runs.ok, runs


def test_kernels_of_attention_are_a_note() -> None:
    with sdpa_kernel(SDPBackend.MATH):
        ex = explorer.explore(Attends(), (X,))
        other = explorer.explore(Sine(), (X,))
        assert not torch.backends.cuda.flash_sdp_enabled()

    assert [each.severity for each in contexts_of(ex)] == ["note"]
    assert not contexts_of(other)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@wraps(functional.gelu)
def wrapped(x: torch.Tensor) -> torch.Tensor:
    return x * 2


PATCHES = {"double": double, "wrapped": wrapped, "functools.partial": partial(double)}


@pytest.mark.parametrize("name", PATCHES)
def test_a_function_of_torch_that_others_replaced_is_said(name: str) -> None:
    original, patch = functional.gelu, PATCHES[name]
    with mock.patch.object(functional, "gelu", patch):
        ex = explorer.explore(Activates(), (X,))
        unused = explorer.explore(Sine(), (X,))
        assert functional.gelu is patch
    (finding,) = contexts_of(ex)

    assert functional.gelu is original
    assert finding.severity == "surprising"
    assert f"a patched `torch.nn.functional.gelu`: `{name}`" in finding.sentence
    assert not contexts_of(unused)
    verified = ex.verify()
    assert not verified.ok
    assert "the export called a replaced `torch.nn.functional.gelu`" in str(verified)


class ChecksSize(nn.Module):
    """Calls a function of torch that is deprecated, and so wrapped."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._check_is_size(x.shape[0])
        return x.relu()


def test_what_torch_wraps_itself_is_no_patch() -> None:
    assert not contexts_of(explorer.explore(ChecksSize(), (X,)))


@pytest.mark.slow
def test_exported_under_autocast_it_is_not_ready() -> None:
    """It was: no finding, and "Ready to ship"."""
    model = nn.Linear(4, 4).eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ex = explorer.explore(model, (torch.randn(2, 4),))
    verified, runs = ex.verify(), ex.run()

    assert len(contexts_of(ex)) == 1
    assert not verified.ok
    assert not runs.ok
    assert ex.release_report().verdict == "not ready"
    assert ex.program.module()(torch.randn(2, 4)).dtype == torch.float32


@pytest.mark.slow
def test_autocast_in_forward_is_ready() -> None:
    ex = explorer.explore(Autocasts().eval(), (X,))
    ex.verify(), ex.run()

    assert not contexts_of(ex)
    assert ex.release_report().verdict == "ready", ex.release_report()


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return self.linear(x)  # type: ignore[no-any-return]


@pytest.mark.parametrize("made_there", [False, True])
def test_what_was_exported_in_inference_mode_is_checked_in_it_and_elsewhere(
    made_there: bool,
) -> None:
    model = Counts()
    with torch.inference_mode():
        model = Counts() if made_there else model
        ex = explorer.explore(model, (torch.ones(3, 4),), dynamic_shapes="x: rows, _")
        assert ex.verify(2).ok
    assert ex.verify(2).ok
    assert ex.run(backend="program").ok
    assert ex.compare().ok
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
    assert not model.calls.any()


def test_values_are_compared_without_the_contexts_of_the_caller() -> None:
    ex = explorer.explore(Casts(), (X,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        compared = ex.compare()
    assert compared.ok, compared.sentence


class AddsOnes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4)


class Chooses(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4, device="cpu") if x.sum() > 0 else x


@pytest.mark.slow
@pytest.mark.parametrize(("model", "hindered"), [(AddsOnes, True), (Chooses, False)])
def test_a_context_without_which_a_failed_call_exports_is_named(
    model: type[nn.Module], hindered: bool
) -> None:
    with torch.device("meta"):
        ex = explorer.explore(model(), (X,))
    assert not ex.ok
    assert ex.record.failure is not None
    said = "`torch.device('meta')` was active around the export; without it, the call exports."
    assert (said in ex.record.failure.why) is hindered
