"""A lossless fix costs nothing later, and what autofix applies is what the docs say."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim

import explorer
from export_engine.torch_internals import deregister_container, is_container

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["DynamicCache", "StaticCache"])
def test_a_program_with_a_registered_cache_does_all_that_another_does(kind: str) -> None:
    transformers = pytest.importorskip("transformers", reason="its caches are what is registered")
    try:
        importlib.import_module("transformers.exporters.exporter_dynamo")
    except ImportError:
        pytest.skip("this transformers has no exporters")
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    options = {"max_cache_len": 16} if kind == "StaticCache" else {}
    cache: Any = getattr(transformers, kind)(config=config, **options)
    if kind == "DynamicCache":
        for layer in range(2):
            cache.update(torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8), layer)
    ids = torch.randint(0, 64, (2, 3))
    attempt = explorer.explore(model, (), {"input_ids": ids, "past_key_values": cache})
    attempt.autofix()
    assert attempt.ok
    verified = attempt.verify()
    assert verified.broken == ()
    holding = {each.name for each in verified.guarantees if each.verdict == "holds"}
    assert {"saved", "unflattened", "re-exported", "decomposed"} <= holding


def _tiny_llama() -> Any:
    transformers = pytest.importorskip("transformers", reason="its models generate")
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    return transformers.LlamaForCausalLM(config).eval(), transformers.DynamicCache


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_generating_leaves_no_class_registered_until_a_program_is_used() -> None:
    model, cache = _tiny_llama()
    ids = torch.randint(0, 64, (2, 3))
    if is_container(cache):
        pytest.skip("something has registered it already")
    kit = explorer.explore_generation(model, {"input_ids": ids})
    assert not is_container(cache)
    assert kit.generate(tokens=2, sizes=[(2, 3)]).ok
    assert not is_container(cache)
    assert not explorer.explore(model, (), {"input_ids": ids}).ok, "as in a new process"

    def interrupt(_: Any) -> None:
        if is_container(cache):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explorer.explore_generation(model, {"input_ids": ids}, progress=interrupt)
    assert not is_container(cache)

    program = kit["decode"].program  # it is called with a cache: torch has to take that apart
    try:
        assert program.module() is not None
        assert is_container(cache)
    finally:
        deregister_container(cache)


class Convolves(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(x, w)


def test_autofix_says_of_a_fix_of_fewer_sizes_which_size_it_rejects() -> None:
    attempt = explorer.explore(
        Convolves(),
        (torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3)),
        dynamic_shapes=({}, {2: Dim("kh"), 3: Dim("kw")}),
    )
    report = attempt.autofix()
    (step,) = report.kept
    assert step.fix.narrows
    assert "for fewer sizes than the model accepts" in report.sentence
    assert "The program rejects kh = 8, which the model accepts." in report.sentence


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/how-to/fix-a-failure.md", "docs/reference/python.md"],
)
def test_no_page_says_that_autofix_applies_lossless_fixes_only(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert "applies lossless fixes only" not in text
    assert "applies lossless ones" not in text


class TakesAThird(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, : math.floor(x.shape[1] * 0.3)]


@pytest.mark.slow
def test_a_fix_whose_program_torch_cannot_save_is_lossy_and_one_that_saves_comes_first() -> None:
    attempt = explorer.explore(TakesAThird(), (torch.randn(2, 10),), dynamic_shapes="x: _, n")
    first, *others = attempt.fixes
    unsaved = next(fix for fix in others if fix.kind == "options")
    assert unsaved.lossy
    assert "torch cannot save the program" in unsaved.gives_up.lower()
    assert not first.lossy
    attempt.apply(first)
    assert attempt.verify().ok


def test_a_size_that_broadcasts_is_given_up_by_one_name_for_two_sizes() -> None:
    def multiplies(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        return x * m

    args = torch.randn(3, 4), torch.randn(3, 4)
    attempt = explorer.explore(multiplies, args, dynamic_shapes="x: b, _; m: c, _")
    (fix,) = attempt.fixes
    assert fix.title == "Require c = b"
    assert fix.narrows
    assert fix.gives_up == "The program rejects c = 1, which the model accepts"
    concatenated = explorer.explore(
        lambda x, m: torch.cat([x, m], 1), args, dynamic_shapes="x: b, _; m: c, _"
    )
    assert not concatenated.fixes[0].narrows, "eager rejects c = 1"


def test_a_fix_says_that_its_program_rejects_sizes_0_and_1() -> None:
    def shifted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1:]

    args = torch.randn(6), torch.randn(7)
    attempt = explorer.explore(shifted, args, dynamic_shapes="x: dx; y: dy")
    first = attempt.fixes[0]
    assert not first.narrows
    assert "dx = 1 is rejected by the program" in first.why
