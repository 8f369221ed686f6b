"""What Dynamo keeps of a trace is gone after an export; what the user compiled is not."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.torch_internals.patching import replace_attribute


class Conditional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y + self.weight, lambda y: y - self.weight, (x,))


def globals_of_dynamo() -> set[str]:
    return {
        f"{name}.{each}"
        for name, module in list(sys.modules.items())
        if name.startswith("torch._dynamo")
        for each in list(vars(module))
        if each.startswith("__compiled_fn")
    }


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_no_compiled_code_is_left(strict: bool) -> None:
    from torch._dynamo import eval_frame

    before, backends = globals_of_dynamo(), len(eval_frame.cached_backends)
    capture(Request(target=Conditional(), args=(torch.ones(2),), strict=strict))
    assert globals_of_dynamo() <= before
    assert len(eval_frame.cached_backends) <= backends


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_what_the_user_compiled_is_not_compiled_again(strict: bool) -> None:
    compiled = 0

    def backend(graph: Any, _: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return graph.forward

    @torch.compile(backend=backend)
    def own(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    model = Conditional()
    compiled_model = torch.compile(model, backend=backend)
    own(torch.ones(2))
    compiled_model(torch.ones(2))
    before = compiled
    found = capture(Request(target=model, args=(torch.ones(2),), strict=strict))
    assert isinstance(found, Exported)
    own(torch.ones(2))
    compiled_model(torch.ones(2))
    assert compiled == before


def test_a_module_imported_during_a_replacement_has_the_original(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner, late = types.ModuleType("owner"), types.ModuleType("late_one")
    owner.function = original = lambda: 1  # type: ignore[attr-defined]
    with replace_attribute(owner, "function", lambda _: lambda: 2):
        late.function = owner.function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "late_one", late)
        assert late.function() == 2
    assert late.function is original
