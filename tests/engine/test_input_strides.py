"""What AOTInductor is given has the strides that its code was compiled for."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.process import another_python
from export_engine.run import Job, backends
from export_engine.run.builtin_backends import trial_load
from export_engine.run.builtin_backends.input_strides import InputStrides
from export_engine.shapes import Shapes


class Cached(nn.Module):
    def forward(self, cache: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
        return torch.cat([cache, one], 2) * 2


@pytest.fixture(scope="module")
def cached() -> Exported:
    """Traced with a cache as attention makes it: heads lie inside of positions."""
    args = (torch.randn(2, 5, 4, 8).transpose(1, 2), torch.randn(2, 4, 1, 8))
    shapes = Shapes.parse("cache: batch, _, seq, _; one: batch, _, _, _")
    attempt = capture(Request(target=Cached(), args=args, dynamic_shapes=shapes))
    assert isinstance(attempt, Exported)
    return attempt


def test_a_tensor_in_another_layout_is_copied_and_others_are_not(cached: Exported) -> None:
    strides = InputStrides(cached.program)
    cache, one = torch.randn(3, 7, 4, 8).transpose(1, 2), torch.randn(3, 4, 1, 8)

    args, kwargs, copied = strides.given((cache,), {"one": one})
    assert (args[0] is cache, kwargs["one"] is one, copied) == (True, True, 0)

    plain = cache.contiguous()
    args, kwargs, copied = strides.given((plain,), {"one": one})
    assert (args[0].stride(), copied) == (cache.stride(), 1)
    assert torch.equal(args[0], cache)
    assert plain.is_contiguous()
    assert kwargs["one"] is one


def test_an_input_traced_with_gaps_stays_as_it_is() -> None:
    request = Request(target=nn.ReLU(), args=(torch.randn(4, 6)[:, ::2],))
    attempt = capture(request)
    assert isinstance(attempt, Exported)

    value = torch.randn(4, 3)
    args, _, copied = InputStrides(attempt.program).given((value,), {})

    assert (args[0] is value, copied) == (True, 0)


@pytest.mark.slow
def test_compiled_code_gives_what_the_model_does_in_any_layout(
    cached: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = backends()["aoti"]
    why = backend.missing("cpu")
    if why:
        pytest.skip(f"AOTInductor cannot run here: {why}")
    job = Job(
        program=cached.program,
        model=None,
        args=cached.request.args if cached.request else (),
        kwargs={},
        device="cpu",
        folder=tmp_path,
    )
    tried: list[subprocess.Popen[str]] = []

    def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
        tried.append(another_python(arguments))
        return tried[-1]

    monkeypatch.setattr(trial_load, "_loads", set())
    monkeypatch.setattr(trial_load, "another_python", start)
    call = backend.load(job)  # type: ignore[attr-defined]

    assert tried[0].returncode == 0  # another process loaded it first

    for cache in (torch.randn(3, 7, 4, 8).transpose(1, 2), torch.randn(3, 4, 7, 8)):
        one = torch.randn(3, 4, 1, 8)
        assert torch.equal(call(cache, one), Cached()(cache, one))
