"""A model that generates, cut into programs: what varies, what flows, the same tokens."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import explorer
from explorer.opening.exporting import export_requests
from explorer.sets.generation import Generations, _export_component
from export_engine.attempt import Exported, Request
from export_engine.attempt.transformers_caches import cache_classes
from export_engine.capture import capture
from export_engine.generation import (
    CallApart,
    CutError,
    compare_with_generate,
    cut,
    first_op_apart,
    sizes_to_try,
    try_generation,
)
from export_engine.generation.batch_lists import join_call_lists, lists_to_join
from export_engine.generation.chunk_padding import padding_for_any_length
from export_engine.generation.cutting import CutComponent
from export_engine.generation.differing_arguments import differing_arguments
from export_engine.generation.equal_sizes import equal_sizes
from export_engine.generation.hidden_state import describe_hidden_state
from export_engine.generation.observed_calls import ObservedCall, record_calls
from export_engine.generation.size_bounds import with_ends
from export_engine.generation.transformers_export import prepare_call
from export_engine.programs.size_ranges import range_of
from export_engine.record import GenerationTrial
from export_engine.shapes import Shapes, ShapesError
from export_engine.torch_internals import scans_exported
from export_engine.verify import is_condition, refusal
from tests.untouched import of_call

TINY: dict[str, Any] = {
    "num_hidden_layers": 1,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "vocab_size": 60,
}


@pytest.fixture(scope="module")
def model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**TINY)).eval()


@pytest.fixture(scope="module")
def inputs() -> dict[str, torch.Tensor]:
    tokens = torch.randint(3, 60, (1, 5))
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


@pytest.fixture(scope="module")
def kit(model: Any, inputs: dict[str, torch.Tensor]) -> explorer.typing.GenerationPrograms:
    before = of_call(model, inputs)
    made = explorer.explore_generation(model, inputs)
    assert of_call(model, inputs) == before
    return made


@pytest.mark.slow
def test_what_varies_is_named(kit: explorer.typing.GenerationPrograms) -> None:
    assert list(kit) == ["prefill", "decode"]
    assert {each.name for each in kit["prefill"].record.symbols} == {"batch", "prompt"}
    assert "attention_mask: batch, past + 1" in kit["decode"].record.shapes
    assert {each.name for each in kit.record.symbols} == {"batch", "prompt / past"}


@pytest.mark.slow
def test_the_cache_flows_from_call_to_call(kit: explorer.typing.GenerationPrograms) -> None:
    seams = {(each.source, each.target): each.summary for each in kit.seams}

    assert seams == {(0, 1): "2 cache tensors", (1, 1): "2 cache tensors"}
    assert [each for each in kit.findings if each.severity != "note"] == []


@pytest.mark.slow
def test_the_programs_generate_the_same_tokens(
    kit: explorer.typing.GenerationPrograms, model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    before = of_call(model, inputs)
    trials = kit.generate(16)

    assert len(trials) >= 4
    assert {each.outcome for each in trials} == {"same"}
    assert {"batch = 1, prompt = 5", "batch = 1, prompt = 10"} <= {each.sizes for each in trials}
    assert all(each.rate > 0 and each.first_ms > 0 for each in trials)
    assert trials.ok
    assert repr(trials).count("The same 16 tokens as generate().") == 1
    assert "The same 16 tokens as generate()." in repr(kit)
    assert of_call(model, inputs) == before


@pytest.mark.slow
def test_bounds_of_what_varies_are_those_of_the_programs(
    model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    made = cut(model, inputs, bounds="batch[..3], prompt[..8], past[2..20]")

    prefill, decode = (each.request.shapes for each in made.components)
    assert str(prefill).startswith("input_ids: batch[..3], prompt[..8]; attention_mask: batch, pro")
    assert "attention_mask: batch, past[2..20] + 1" in str(decode)
    automatic = made.components[1].fallbacks[-1].shapes
    assert "attention_mask: *[..3], *[3..21]" in str(automatic)
    assert sizes_to_try(inputs, made.bounds, 16) == [(1, 5), (3, 5), (1, 6), (2, 3)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "batch[..3], rows[..8]",
            "There is no dynamic size rows. The dynamic sizes are batch, prompt",
        ),
        ("batch[..3", r"expected `\]` after the bounds"),
        ("batch", "is not a list of bounds"),
        ("x: batch[..3]", "Bounds are names|expected"),
    ],
)
def test_bounds_that_fit_nothing_are_a_sentence(
    model: Any, inputs: dict[str, torch.Tensor], given: str, said: str
) -> None:
    with pytest.raises(ShapesError, match=said):
        cut(model, inputs, bounds=given)


def test_a_size_of_which_there_are_multiples_has_an_end() -> None:
    ended = with_ends(Shapes.parse("x: 16*batch, past[2..]; y: batch, past"))

    assert ended is not None
    assert "16*batch[..2147483648]" in str(ended)
    assert "past[2..]" in str(ended)
    assert with_ends(Shapes.parse("x: batch, past; y: batch, past + 1")) is None
    assert with_ends(Shapes.parse("x: 4*batch[..8]")) is None


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.reshape(y.shape[0], 2, 2) + y[:, None]


@pytest.mark.after_check
def test_an_end_that_no_size_reaches_is_none_between_programs() -> None:
    for end, upper in ((2**31, None), (64, 128)):
        given = torch.randn(4, 2), torch.randn(2, 2)
        shapes = f"x: 2*batch[..{end}], _; y: batch, _"
        record = explorer.explore(Twice(), given, dynamic_shapes=shapes).record
        found = range_of(record, "2*batch")
        assert found is not None
        assert found.upper == upper


@pytest.mark.slow
@pytest.mark.thorough
def test_with_bounds_executorch_generates_the_same(
    model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    pytest.importorskip("executorch", reason="it is not installed: pip install '.[executorch]'")
    bounded = explorer.explore_generation(
        model, inputs, bounds="batch[..3], prompt[..8], past[..12]"
    )
    (found,) = bounded.generate(4, backend="executorch", sizes=[(3, 7)])

    assert (found.outcome, found.sentence) == ("same", "the same 4 tokens as generate().")


@pytest.mark.slow
def test_another_token_is_said_with_its_step_and_its_program(
    kit: explorer.typing.GenerationPrograms, model: Any, inputs: dict[str, torch.Tensor]
) -> None:
    head = model.lm_head.weight.detach().clone()
    wrong = explorer.typing.GenerationPrograms(
        {"prefill": kit["prefill"], "decode": kit["decode"]}, kit._cut, inputs
    )
    program = kit["decode"].program
    name = next(each for each in program.state_dict if each.endswith("lm_head.weight"))
    program.state_dict[name] = torch.nn.Parameter(-head)
    try:
        (found,) = wrong.generate(6, sizes=[(2, 5)])
    finally:
        program.state_dict[name] = model.lm_head.weight

    assert (found.outcome, found.step, found.component) == ("differs", 1, 1)
    assert found.sentence.startswith("token 2 differs from generate()'s, which `decode` returned. ")
    assert "call 2 of `decode` is the first that differs: the error starts at `linear" in (
        found.sentence
    )
    graph = kit["decode"].record.graphs[0]
    assert kit["decode"].record.strings[graph.name[found.node]].startswith("linear")
    assert "of `lm_head`" in found.sentence


class Generating(torch.nn.Linear):
    """One with a loop of its own, and none of transformers' settings for it."""

    generation_config: Any = None

    def generate(self, input_ids: torch.Tensor) -> torch.Tensor:
        return input_ids


class Configured(Generating):
    """With settings that its loop does not take."""

    generation_config = SimpleNamespace(max_new_tokens=4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (torch.nn.Linear(2, 2), "has no generate"),
        (Generating(2, 2), "Generating has no generate\\(\\) like transformers' models"),
        (Configured(2, 2), "Configured has no generate\\(\\) like transformers' models"),
        (None, "fails with these inputs"),
    ],
)
def test_what_cannot_be_cut_is_a_sentence(model: Any, given: Any, said: str) -> None:
    with pytest.raises(CutError, match=said):
        cut(given or model, {"input_ids": torch.ones(1, 3)})


def test_what_is_logged_while_a_model_is_cut_is_a_note_and_is_not_printed(
    model: Any,
    inputs: dict[str, torch.Tensor],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from export_engine.generation import cutting

    def logging_too(call: ObservedCall) -> ObservedCall:
        logging.getLogger("transformers.exporters").warning("one of the exporters says so")
        return prepare_call(call)

    monkeypatch.setattr(cutting, "prepare_call", logging_too)

    assert "one of the exporters says so" in cut(model, inputs).notes
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_another_backend_generates_the_same(kit: explorer.typing.GenerationPrograms) -> None:
    pytest.importorskip("onnxscript", reason="it is not installed: pip install '.[onnx]'")
    pytest.importorskip("onnxruntime", reason="it is not installed: pip install '.[onnx]'")
    (found,) = kit.generate(4, backend="onnx", sizes=[(3, 7)])

    assert (found.backend, found.outcome, found.sentence) == (
        "onnx",
        "same",
        "the same 4 tokens as generate().",
    )


def test_a_table_of_generations_keeps_its_numbers_and_reasons_whole() -> None:
    reason = "token 1 differs from generate()'s. " + "The reason takes more than a line. " * 4
    trials = Generations(
        GenerationTrial(
            f"batch = {rows}, prompt = 512", "executorch", "differs", 16, reason,
            first_ms=8.5, rate=1353.6, eager_first_ms=12.0, eager_rate=99.4,
        )
        for rows in (1, 2)
    )  # fmt: skip
    lines = repr(trials).splitlines()

    assert not trials.ok
    assert lines[1].split()[-6:] == ["8.5", "ms", "12", "ms", "1,354", "99"]
    assert lines[2].startswith("  ✗ batch = 2, prompt = 512")
    assert " ".join(" ".join(lines[3:-1]).split()) == "T" + reason[1:].strip()
    assert lines[-1] == "tokens/s: after the first token, over all rows of the batch"
    assert max(map(len, lines)) <= 78


@pytest.mark.after_check
def test_what_only_a_first_call_waits_for_is_in_no_time(
    kit: explorer.typing.GenerationPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    generate = compare_with_generate.generate_with

    def noted(made: Any, programs: Any, inputs: Any, tokens: int) -> Any:
        calls.append((bool(programs), tokens))
        return generate(made, programs, inputs, tokens)

    monkeypatch.setattr(compare_with_generate, "generate_with", noted)
    kit.generate(4, sizes=[(1, 5), (2, 5)])

    assert calls == [(False, 2), (True, 2), *[(False, 4), (True, 4)] * 2]


@pytest.mark.after_check
def test_a_backend_that_is_not_there_says_so(
    kit: explorer.typing.GenerationPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    from export_engine.run.builtin_backends.onnx import Onnx

    monkeypatch.setattr(Onnx, "missing", lambda *_: "onnxruntime is not installed.")
    trials = kit.generate(4, backend="onnx")
    (found,) = trials

    assert (found.outcome, found.sentence) == ("unavailable", "onnxruntime is not installed.")
    assert repr(trials) == "onnx\n  – onnxruntime is not installed."
    assert "  onnx\n    – onnxruntime is not installed." in repr(kit)
    with pytest.raises(
        explorer.errors.FixError, match=r"no backend 'eager' that generates\. Available: pro"
    ):
        kit.generate(4, backend="eager")
    with pytest.raises(explorer.errors.FixError, match="'x' is not a number of tokens"):
        kit.generate("x")  # type: ignore[arg-type]
    for sizes in (7, "ab", [(1,)], [(0, 7)], [("a", 2)]):
        with pytest.raises(explorer.errors.FixError, match="is not a size to generate at"):
            kit.generate(4, sizes=sizes)  # type: ignore[arg-type]


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("no kernel for this op"), "no kernel for this op."),
        (AssertionError(), "AssertionError at test_generation.py:"),
    ],
)
def test_a_program_that_cannot_be_compiled_is_a_trial_with_the_reason(
    kit: explorer.typing.GenerationPrograms,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    said: str,
) -> None:
    from export_engine.run.builtin_backends.aot_inductor import AOTInductor

    def refused(*_: Any) -> None:
        raise error

    monkeypatch.setattr(AOTInductor, "load", refused)
    monkeypatch.setattr(AOTInductor, "missing", lambda *_: None)
    (found,) = kit.generate(4, backend="aoti")

    assert (found.outcome, found.component) == ("failed", 0)
    assert found.sentence.startswith(f"AOTInductor cannot compile `prefill`: {said}")


@pytest.mark.slow
def test_a_program_that_does_not_take_a_call_is_named(
    kit: explorer.typing.GenerationPrograms,
) -> None:
    made = kit._cut

    def refusing(*_: Any, **__: Any) -> None:
        raise AssertionError("Guard failed: past_key_values[0].size()[2] == 7")

    programs = {"prefill": kit["prefill"].program.module(), "decode": refusing}
    (found,) = try_generation(made, programs, kit._inputs, 3, [(2, 5)], "program")

    assert (found.outcome, found.component) == ("failed", 1)
    assert found.sentence == (
        "`decode` does not accept this call: past_key_values[0].shape[2] == 7"
    )


@pytest.mark.parametrize(
    ("said", "condition"),
    [
        ("Runtime assertion failed for expression Ne(s1*((s2//s1)), 1) on node 'n'", "!= 1"),
        ("Runtime assertion failed for expression Le(Max(u0, 2), s2) on node 'n'", "<= s2"),
    ],
)
def test_a_condition_that_an_op_of_a_program_checks_is_said_as_one(
    said: str, condition: str
) -> None:
    error = RuntimeError(said)

    assert is_condition(error)
    assert refusal(error).endswith(condition)
    assert not is_condition(RuntimeError("no kernel"))


@pytest.mark.slow
def test_the_page_generates(kit: explorer.typing.GenerationPrograms) -> None:
    state = kit.session.programs()
    assert "program" in [each["name"] for each in state["backends"]]
    before = len(kit.record.trials)

    said = kit.session.generate("program")

    assert said == "4 of 4 generations have the same tokens as generate()."
    assert len(kit.record.trials) == before + 4


class Images(torch.nn.Module):
    """Takes a list of image features, one entry per row; or an average of each."""

    def __init__(self, each: bool) -> None:
        super().__init__()
        self.each = each

    def forward(self, features: dict[str, tuple[torch.Tensor, ...]]) -> torch.Tensor:
        images = features["image"]
        if self.each:
            return torch.stack([image.mean(dim=0) for image in images])
        return torch.cat(images, dim=0).relu()


@pytest.mark.parametrize("each", [False, True])
def test_lists_as_long_as_the_batch_are_joined_where_that_is_the_same(each: bool) -> None:
    module = Images(each)
    runs = [
        [ObservedCall("m", module, (), {"features": {"image": tuple(torch.randn(rows, 4, 3))}})]
        for rows in (2, 3)
    ]
    lists = lists_to_join(*runs)

    assert lists == ({} if each else {"m": {"features.image"}})
    images = join_call_lists(runs[0][0], lists).kwargs["features"]["image"]
    assert [tuple(image.shape) for image in images] == ([(4, 3)] * 2 if each else [(8, 3)])


class Filling(torch.nn.Module):
    """Adds to a cache, as a first call does, and attends to all that is in it."""

    def forward(self, features: list[torch.Tensor], cache: list[torch.Tensor]) -> torch.Tensor:
        cache.append(torch.cat(features))
        return torch.cat(cache)


def test_a_cache_that_one_call_fills_is_empty_for_the_call_that_it_is_compared_with() -> None:
    module = Filling()
    runs = [[ObservedCall("m", module, (list(torch.randn(rows, 4, 3)), []), {})] for rows in (2, 3)]
    # what is given twice is one object, as in the calls of one generation
    assert lists_to_join(*runs) == {"m": {"features"}}
    assert runs[0][0].args[1] == []


class HandingOn(torch.nn.Module):
    """Gives its lists of features beside what it makes of them."""

    def forward(self, features: list[torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        return torch.cat(features).sum(), features


def test_a_list_that_is_handed_on_as_it_is_may_be_one_tensor() -> None:
    runs = [
        [ObservedCall("m", HandingOn(), (list(torch.randn(rows, 4, 3)),), {})] for rows in (2, 3)
    ]
    assert lists_to_join(*runs) == {"m": {"features"}}


class Remembering(torch.nn.Module):
    """Keeps the last call's inputs in an attribute, a list, and its number in none."""

    def __init__(self) -> None:
        super().__init__()
        self.fixed = torch.zeros(1)
        self.last: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = [x]
        return x + self.fixed


class Recurrent(torch.nn.Module):
    """Adds what it kept of the last token."""

    def __init__(self) -> None:
        super().__init__()
        self.state: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        carried = 9 * self.state[0] if x.shape[1] == 1 and self.state else torch.zeros(())
        self.state = [x[:, -1:].flip(-1)]
        return x + carried


@pytest.mark.slow
def test_a_generation_that_lacks_what_calls_keep_says_so(
    inputs: dict[str, torch.Tensor],
) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**TINY)).eval()
    model.model.layers[0].mlp = Recurrent()
    (trial,) = explorer.explore_generation(model, inputs).generate(8, sizes=[(1, 5)])

    assert trial.outcome in ("failed", "differs")
    assert "keep tensors in attributes of modules: `model.layers.0.mlp.state`" in trial.sentence


def test_tensors_that_a_call_keeps_in_attributes_are_named() -> None:
    model = torch.nn.Sequential(Remembering(), torch.nn.Linear(2, 2))
    with record_calls(model) as calls:
        model(torch.ones(1, 2))

    assert [each.keeps for each in calls] == [("0.last",)]
    assert describe_hidden_state("decode", ("a", "b", "c", "d")).startswith(
        "Calls of `decode` keep tensors in attributes of modules: `a`, `b`, `c` and 1 more. No"
    )


@pytest.mark.after_check
def test_patches_that_change_a_models_result_are_named_where_no_op_is_off() -> None:
    class Halved(torch.nn.Module):
        factor = 0.5

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.factor

    @contextmanager
    def patched_wrongly() -> Iterator[None]:
        Halved.factor = 2.0
        yield
        Halved.factor = 0.5

    def said(*within: Any) -> str:
        request = Request(target=Halved(), args=(torch.randn(2, 3),), within=within)
        found = export_requests(request)
        attempt = found.session.entry.attempt
        assert isinstance(attempt, Exported)
        apart = CallApart("visual", 0, request.args, {}, "output 0: off by up to 2")
        return first_op_apart(attempt, found.record, apart).sentence

    assert "transformers patches" in said(patched_wrongly)
    assert said() == "every op of the exported program matches there"


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: int, **options: int) -> torch.Tensor:
        return x * factor


def test_an_argument_that_no_module_reads_differs_without_effect() -> None:
    calls = [
        ObservedCall("", Scaled(), (torch.ones(2),), {"factor": each, "length": each})
        for each in (1, 2)
    ]

    assert differing_arguments(calls) == {"factor": ("1", "2")}


@pytest.mark.after_check
def test_an_encoder_of_images_is_given_what_it_would_read_from_their_sizes() -> None:
    from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
    from transformers.models.qwen2_vl.modeling_qwen2_vl import (
        Qwen2VisionTransformerPretrainedModel,
    )

    config = Qwen2VLVisionConfig(
        depth=1, embed_dim=16, hidden_size=16, num_heads=2, patch_size=2, mlp_ratio=2
    )
    module = Qwen2VisionTransformerPretrainedModel(config).eval()
    sizes = torch.tensor([[1, 4, 4], [1, 2, 4]])
    call = ObservedCall("visual", module, (torch.randn(24, 24),), {"grid_thw": sizes})

    given = prepare_call(call)

    assert {"cu_seqlens", "position_ids"} <= given.kwargs.keys()
    assert given.kwargs["cu_seqlens"].tolist() == [0, 16, 24]
    with torch.no_grad():
        ours, theirs = (each.module(*each.args, **each.kwargs) for each in (given, call))
    assert torch.equal(ours.pooler_output, theirs.pooler_output)
    plain = ObservedCall("", torch.nn.Linear(2, 2), (torch.randn(2, 2),), {})
    assert prepare_call(plain).args is plain.args


def test_chunks_are_padded_and_cut_to_the_same_values() -> None:
    from transformers.models.mamba2 import modeling_mamba2

    scan = modeling_mamba2.mamba2_chunk_scan
    own = inspect.unwrap(scan).__code__
    torch.manual_seed(0)
    calls = [
        (*(torch.randn(1, size, 2, 4), torch.rand(1, size, 2), -torch.rand(2)), *halves, 4)
        for size in (5, 8)
        for halves in [(torch.randn(1, size, 1, 3), torch.randn(1, size, 1, 3))]
    ]
    before = [scan(*call) for call in calls]
    with padding_for_any_length():
        changed = inspect.unwrap(scan).__code__
        after = [scan(*call) for call in calls]

    assert changed is not own
    assert inspect.unwrap(scan).__code__ is own
    assert changed.co_firstlineno == own.co_firstlineno
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


@pytest.mark.slow
def test_a_prompt_of_whole_chunks_is_taken_as_any_other() -> None:
    from transformers import Mamba2Config, Mamba2ForCausalLM

    torch.manual_seed(0)
    config = Mamba2Config(
        hidden_size=8,
        num_hidden_layers=1,
        state_size=4,
        num_heads=4,
        head_dim=4,
        n_groups=1,
        chunk_size=4,
        vocab_size=60,
    )
    model = Mamba2ForCausalLM(config).eval()
    tokens = torch.randint(3, 60, (2, 6))
    made = cut(model, {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)})
    request = made.components[0].fallbacks[0]
    two_chunks = Shapes.parse("input_ids: batch, prompt[5..]; attention_mask: batch, prompt")
    attempt = capture(request.with_changes(dynamic_shapes=two_chunks))

    assert isinstance(attempt, Exported)
    for rows, prompt in ((2, 8), (1, 9), (3, 12)):
        given = torch.randint(3, 60, (rows, prompt))
        masked = {"input_ids": given, "attention_mask": torch.ones_like(given)}
        found = attempt.program.module()(**{**request.kwargs, **masked}).logits[:, -1]
        torch.testing.assert_close(found, model(**masked).logits[:, -1])


@pytest.mark.slow
def test_a_full_window_of_a_cache_is_still_one_that_grows() -> None:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(**TINY, sliding_window=4)
    tokens = torch.randint(3, 60, (2, 7))
    made = cut(MistralForCausalLM(config).eval(), {"input_ids": tokens})

    rows, past = 0, 2
    assert made.components[1].varying["past_key_values.0"] == (rows, past)


@pytest.mark.after_check
def test_sizes_of_one_symbol_are_equal_before_the_model_computes_with_them() -> None:
    """As GIT does: what is made of both batches is not fixed as more than one row."""

    class Repeating(torch.nn.Module):
        def forward(self, images: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
            rows = tokens.size(0) // images.size(0)
            return torch.cat([images.repeat(rows, 1).softmax(-1) * 2, tokens], dim=1)

    model = Repeating()
    call = Request(
        target=model,
        args=(torch.randn(3, 2), torch.randn(3, 4)),
        shapes=Shapes.parse("images: batch, _; tokens: batch, _"),
        within=(partial(equal_sizes, model, [[("images", 0), ("tokens", 0)]]),),
    )
    found = export_requests(call)
    given = torch.randn(1, 2), torch.randn(1, 4)

    assert not model._forward_pre_hooks
    torch.testing.assert_close(found.program.module()(*given), model(*given))


def component(name: str, model: torch.nn.Module) -> CutComponent:
    """Of one input, tried with its sizes named, so again, and with them left to torch."""
    shapes = Shapes.parse("x: batch, prompt")
    named = Request(target=model, args=(torch.randn(2, 3),), dynamic_shapes=shapes)
    return CutComponent(
        name=name,
        role="",
        path="",
        module=model,
        takes=frozenset({"x"}),
        request=named,
        fallbacks=(named, named.with_changes(shapes=Shapes.parse("x: *, *"))),
        varying={},
        arguments={},
    )


@pytest.mark.slow
def test_a_component_is_mended_before_its_sizes_are_left_to_torch() -> None:
    class Looping(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            total = x[:, 0]
            for step in range(1, x.shape[1]):  # <- the loop
                total = total + x[:, step]
            return total

    looping = Looping()
    found, why = _export_component(component("prefill", looping), {}, None)

    line = 1 + next(
        number
        for number, each in enumerate(Path(__file__).read_text().splitlines())
        if each.endswith("# <- the loop")
    )
    assert found.ok
    assert why.startswith("With every size dynamic, `prefill` does not export")
    assert f"test_generation.py:{line})" in why
    assert "It exports with these fixes: Rewrite line" in why
    longer = torch.randn(4, 7)
    torch.testing.assert_close(found.program.module()(longer), looping(longer))


@pytest.mark.slow
def test_a_component_that_no_fix_mends_has_the_sizes_that_torch_chose() -> None:
    class OfTwo(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(2, -1)

    found, why = _export_component(component("decode", OfTwo()), {}, None)

    assert found.ok
    assert why.startswith("With every size dynamic, `decode` does not export: ")
    from_torch = "torch chose its sizes instead."
    assert why.endswith((from_torch, "It exports with these fixes: Use a ShapesSpec."))


@pytest.mark.slow
def test_a_scan_is_exported_with_any_number_of_steps() -> None:
    class Recurrence(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            from torch._higher_order_ops.associative_scan import associative_scan

            def both(left: Any, right: Any) -> Any:
                return left[0] * right[0], right[0] * left[1] + right[1]

            return associative_scan(both, (a, b), dim=1, combine_mode="generic")[1]

    model = Recurrence()
    with scans_exported():
        found = explorer.explore(
            model,
            (torch.rand(2, 6, 3), torch.rand(2, 6, 3)),
            dynamic_shapes="a: _, n, _; b: _, n, _",
        )
    a, b = torch.rand(2, 9, 3), torch.rand(2, 9, 3)
    torch.testing.assert_close(found.program.module()(a, b), model(a, b))


def test_a_transformers_that_does_not_say_what_a_cache_is_has_caches_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As before 5.18."""
    exporter = pytest.importorskip(
        "transformers.exporters.exporter_dynamo", reason="transformers has no exporters"
    )
    from transformers import DynamicCache

    known = cache_classes([{"past": (DynamicCache(), torch.ones(2))}])
    monkeypatch.delattr(exporter, "is_cache_class", raising=False)
    assert cache_classes([{"past": (DynamicCache(), torch.ones(2))}]) == known == (DynamicCache,)
