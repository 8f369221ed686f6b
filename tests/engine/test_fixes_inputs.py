"""Fixes of the inputs: containers that are registered, specs that fit the call, fake kernels."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.utils import _pytree as pytree

from export_engine.attempt import Attempt, Exported, Failed, Fix, Kind, NoFix, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import apply_fixes, examples, registered, specs
from export_engine.registrations import Registered
from export_engine.shapes import Shapes
from export_engine.torch_internals import deregister_container, left_out, missing_object_dicts

from ..fixes.cases.inputs import (
    Batch,
    Fails,
    GivesLevels,
    Layer,
    Levels,
    Makes,
    Memory,
    Padded,
    TakesBatch,
    target,
)

both_modes = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])


def failed(target: Callable[..., Any], *args: Any, **options: Any) -> Failed:
    attempt = capture(Request(target=target, args=args, **options))
    assert isinstance(attempt, Failed)
    return dataclasses.replace(attempt, diagnosis=diagnose(attempt))


def only_fix(attempt: Failed, offered: Callable[[Failed], Iterator[Fix | NoFix]]) -> Fix:
    fixes = list(offered(attempt))
    assert len(fixes) == 1, fixes
    assert isinstance(fixes[0], Fix), fixes[0]
    return fixes[0]


def good(attempt: Attempt) -> Exported:
    assert isinstance(attempt, Exported), str(getattr(attempt, "error", ""))
    assert attempt.agreement is not None
    assert attempt.agreement.verdict == "agrees", attempt.agreement
    return attempt


@pytest.fixture(autouse=True)
def _registries_as_before() -> Iterator[None]:
    yield
    for cls in set(pytree.SUPPORTED_NODES):
        if cls.__module__ in (__name__, Memory.__module__, "transformers.cache_utils"):
            deregister_container(cls)


class Remembers(nn.Module):
    def forward(self, x: torch.Tensor, memory: Memory) -> Any:
        memory.grow(x)
        return sum(layer.values.sum() for layer in memory.layers), memory


def returns_objects(strict: bool) -> None:
    """Leaves a test out where the view says why, too."""
    missing = missing_object_dicts()
    if strict and missing:
        assert missing in left_out("strict")
        pytest.skip(f"{missing}")


@pytest.mark.slow
@both_modes
def test_a_class_is_registered_with_the_classes_in_it(strict: bool) -> None:
    returns_objects(strict)
    memory = Memory(torch.ones(3, 2), torch.ones(4, 2))
    attempt = failed(Remembers(), torch.randn(5, 2), memory, strict=strict)
    fix = only_fix(attempt, registered.suggest_registrations)

    exported = good(apply_fixes(attempt, [fix]))

    assert "layers.0.values" in fix.after
    paths = [name for name in exported.program.graph_signature.user_inputs if "layers" in str(name)]
    assert len(paths) == 2
    total, result = exported.program.module()(torch.ones(5, 2), memory)
    assert float(total) == 34
    assert [layer.steps for layer in result.layers] == [1, 1]
    assert result.names == {"first": "b"}
    assert memory.names == {"first": "a"}
    assert memory.layers[0].values.shape == (3, 2)


@pytest.mark.slow
@both_modes
def test_a_class_is_registered_for_what_is_returned(strict: bool) -> None:
    attempt = failed(Makes(), torch.randn(5, 2), strict=strict)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNKNOWN_OUTPUT_TYPE
    if strict and missing_object_dicts():
        assert list(registered.suggest_registrations(attempt)) == [NoFix(missing_object_dicts())]
    returns_objects(strict)

    exported = good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    made = exported.program.module()(torch.ones(5, 2))["made"]
    assert type(made) is Memory
    assert type(made.layers[1]) is Layer


@pytest.mark.slow
@both_modes
@pytest.mark.parametrize("mask", [False, True])
def test_a_dataclass_is_registered_the_way_of_torch(strict: bool, mask: bool) -> None:
    batch = Batch(torch.randn(4, 2), mask=torch.ones(2) if mask else None)
    attempt = failed(TakesBatch(), batch, strict=strict)
    fix = only_fix(attempt, registered.suggest_registrations)

    good(apply_fixes(attempt, [fix]))

    assert "torch.export.register_dataclass(Batch)" in fix.after


@both_modes
@pytest.mark.slow
def test_a_dataclass_that_changes_what_it_is_given_comes_back_as_it_was(strict: bool) -> None:
    attempt = failed(TakesBatch(), Padded(torch.zeros(4)), strict=strict)
    fix = only_fix(attempt, registered.suggest_registrations)

    exported = good(apply_fixes(attempt, [fix]))

    assert "register_dataclass" not in fix.after
    assert torch.equal(exported.program.module()(Padded(torch.zeros(4))), torch.ones(4))


@pytest.mark.slow
@both_modes
def test_the_sizes_inside_a_container_are_left_to_torch(strict: bool) -> None:
    returns_objects(strict)
    memory = Memory(torch.ones(5, 2))
    shapes = Shapes.parse("x: n, _")
    attempt = failed(Remembers(), torch.randn(7, 2), memory, strict=strict, dynamic_shapes=shapes)
    fix = only_fix(attempt, registered.suggest_registrations)

    exported = good(apply_fixes(attempt, [fix]))

    assert str(exported.request and exported.request.shapes) == (
        "x: n, _; memory.layers.0.values: *, *"
    )
    program = exported.program.module()
    assert float(program(torch.ones(9, 2), Memory(torch.ones(6, 2)))[0]) == 30


@pytest.mark.after_check
def test_a_program_with_a_container_is_saved_and_loaded(tmp_path: Any) -> None:
    attempt = failed(Makes(), torch.randn(5, 2))
    exported = good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    torch.export.save(exported.program, tmp_path / "program.pt2")
    made = torch.export.load(tmp_path / "program.pt2").module()(torch.ones(5, 2))["made"]

    assert made.names == {"first": "a"}
    assert made.dtype is torch.float32


@both_modes
@pytest.mark.slow
def test_a_class_that_turns_up_later_in_a_known_container_is_not_overlooked(strict: bool) -> None:
    first = failed(Makes(), torch.randn(5, 2), strict=strict)
    good(apply_fixes(first, [only_fix(first, registered.suggest_registrations)]))
    attempt = failed(target, torch.randn(5, 2), strict=strict)

    good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))


def test_a_container_is_forgotten_when_the_export_fails() -> None:
    attempt = failed(Fails(), Batch(torch.randn(4, 2)))
    assert isinstance(
        apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]), Failed
    )

    assert Batch not in pytree.SUPPORTED_NODES


def test_a_registration_of_the_users_is_left_alone() -> None:
    torch.export.register_dataclass(Batch)
    known = pytree.SUPPORTED_NODES[Batch]

    Registered(Batch, "attributes").install()()

    assert pytree.SUPPORTED_NODES[Batch] is known


class Shared(dict[str, Any]):
    """Its attributes are its items: `__dict__` is the dict."""

    def __init__(self, **items: Any) -> None:
        super().__init__(**items)
        self.__dict__ = self


class Both(dict[str, Any]):
    """As the package easydict has it: what is set is an attribute and an item."""

    def __init__(self, **items: Any) -> None:
        for name, value in items.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        super().__setitem__(name, value)


class ReadsBothWays(nn.Module):
    def forward(self, given: Any) -> Any:
        return given.a + given["b"] * given.scale


@pytest.mark.after_check
@pytest.mark.parametrize("cls", [Shared, Both])
def test_a_dict_whose_items_are_attributes_is_registered(cls: Any) -> None:
    given = cls(a=torch.ones(3), b=torch.ones(3), scale=2)
    attempt = failed(ReadsBothWays(), given)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNKNOWN_INPUT_TYPE  # it runs in eager on a copy, too

    good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))


@pytest.mark.slow
@both_modes
def test_a_dict_with_attributes_beside_its_items_is_registered(strict: bool) -> None:
    attempt = failed(GivesLevels(), torch.ones(3), strict=strict)

    found = good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    given = found.program.module()(torch.ones(3))
    assert type(given) is Levels
    assert list(given) == ["one", "two"]
    assert given.stride == 4


def test_a_dict_with_a_tensor_beside_its_items_is_refused_with_the_reason() -> None:
    (reason,) = registered.suggest_registrations(failed(GivesLevels(masked=True), torch.ones(3)))
    assert isinstance(reason, NoFix)
    assert "tensors or items in attributes" in reason.reason


def test_a_class_without_key_paths_is_told_so() -> None:
    pytree.register_pytree_node(
        Layer,
        lambda layer: ([layer.values], None),
        lambda parts, _: Layer(next(iter(parts))),
    )

    attempt = failed(ReadsBothWays(), {"layers": [Layer(torch.ones(3))]})

    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNKNOWN_INPUT_TYPE
    assert "`Layer` is registered" in attempt.diagnosis.sentence
    assert "`flatten_with_keys_fn`" in attempt.diagnosis.sentence


def test_a_set_is_refused_with_the_reason() -> None:
    attempt = failed(lambda x: x["a"].pop(), {"a": {torch.ones(2)}})

    (refusal,) = registered.suggest_registrations(attempt)

    assert isinstance(refusal, NoFix)
    assert "a set has no order" in refusal.reason


class TestCaches:
    """The caches of transformers."""

    @staticmethod
    def llama() -> nn.Module:
        from transformers import LlamaConfig, LlamaForCausalLM

        config = LlamaConfig(
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            vocab_size=32,
        )
        return LlamaForCausalLM(config).eval()

    @both_modes
    @pytest.mark.slow
    def test_a_dynamic_cache_that_comes_out(self, strict: bool) -> None:
        ids = torch.arange(12).reshape(2, 6)
        shapes = Shapes.parse("input_ids: batch, seq")
        attempt = failed(self.llama(), ids, strict=strict, dynamic_shapes=shapes)
        fix = only_fix(attempt, registered.suggest_registrations)

        exported = good(apply_fixes(attempt, [fix]))

        assert "register_pytree_node(DynamicCache)" in fix.after
        assert exported.program.range_constraints

    @pytest.mark.slow
    def test_a_dynamic_cache_that_goes_in(self) -> None:
        from transformers import DynamicCache

        model = self.llama()
        cache = DynamicCache(config=model.config)
        with torch.no_grad():
            model(torch.arange(10).reshape(2, 5), past_key_values=cache)
        ids = torch.arange(6).reshape(2, 3)
        shapes = Shapes.parse("input_ids: batch, seq")
        attempt = failed(model, ids, kwargs={"past_key_values": cache}, dynamic_shapes=shapes)

        good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    @pytest.mark.after_check
    def test_a_static_cache_that_is_empty(self) -> None:
        from transformers import StaticCache

        model = self.llama()
        cache = StaticCache(config=model.config, max_cache_len=16)  # type: ignore[arg-type]
        ids = torch.arange(6).reshape(2, 3)
        attempt = failed(model, ids, kwargs={"past_key_values": cache})

        fix = only_fix(attempt, registered.suggest_registrations)

        assert fix.title == "Register `StaticCache` as a container"
        assert not cache.layers[0].is_initialized

    @pytest.mark.after_check
    def test_caches_for_an_encoder_and_a_decoder(self) -> None:
        from transformers import DynamicCache, EncoderDecoderCache

        def target(x: torch.Tensor, cache: Any) -> Any:
            cache.self_attention_cache.update(x, x, 0)
            cache.is_updated[0] = True
            return cache

        pair = EncoderDecoderCache(DynamicCache(), DynamicCache())
        pair.self_attention_cache.update(torch.ones(2, 1, 3, 4), torch.ones(2, 1, 3, 4), 0)
        pair.cross_attention_cache.update(torch.ones(2, 1, 3, 4), torch.ones(2, 1, 3, 4), 0)
        attempt = failed(target, torch.ones(2, 1, 5, 4), pair)

        good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))


B = torch.export.Dim("b")
X = torch.randn(4, 3)


def many(x: torch.Tensor, *rest: torch.Tensor, y: torch.Tensor, **more: torch.Tensor) -> Any:
    return x + rest[0] + y + more["z"]


@both_modes
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"x": {0: B}}, "x: b, _"),
        (({0: B}, ({0: B},)), "x: b, _; rest.0: b, _"),
        ({"x": {0: B}, "rest": {0: B}, "y": None, "z": None}, "x: b, _; rest.0: b, _"),
        ({"x": (B, None, None), "rest": ({0: B},), "y": None, "z": None}, "x: b, _; rest.0: b, _"),
        ({"x": (B,), "rest": None, "y": {0: B}, "z": None}, "x: b, _; y: b, _"),
        (({0: B}, {0: B}, {0: B}, {0: B}), "x: b, _; rest.0: b, _; y: b, _; z: b, _"),
        ({"x": ({0: B},), "y": None}, "x: b, _"),
    ],
)
def test_specs_that_do_not_fit_are_written_as_the_call_needs_them(
    given: Any, written: str, strict: bool
) -> None:
    attempt = failed(many, X, X, kwargs={"y": X, "z": X}, dynamic_shapes=given, strict=strict)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.SHAPES_MISMATCH

    fix = only_fix(attempt, specs.suggest_specs)

    assert not fix.lossy
    assert fix.after.splitlines()[0] == written
    assert str(fix.apply(attempt.request).shapes) == written  # type: ignore[arg-type]


@both_modes
@pytest.mark.slow
def test_a_mistyped_name_is_matched_and_the_program_agrees(strict: bool) -> None:
    def target(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return hidden * mask

    given = {"hiden": {0: B}, "mask": {0: B}}
    attempt = failed(target, X, X.clone(), dynamic_shapes=given, strict=strict)

    good(apply_fixes(attempt, [only_fix(attempt, specs.suggest_specs)]))


def test_a_dim_that_no_input_has_makes_the_fix_lossy() -> None:
    given = {"x": {0: B, 5: B}}
    attempt = failed(lambda x: x + 1, X, dynamic_shapes=given)
    fix = only_fix(attempt, specs.suggest_specs)

    assert fix.lossy
    assert "`x` dim 5" in fix.gives_up


def test_specs_for_nothing_are_refused_with_the_reason() -> None:
    attempt = failed(lambda x: x + 1, X, dynamic_shapes={"something": {0: B}, "else": {1: B}})

    (refusal,) = specs.suggest_specs(attempt)
    assert isinstance(refusal, NoFix)
    assert refusal.reason


def test_the_expected_tree_names_every_tensor() -> None:
    request = Request(target=many, args=(X, X), kwargs={"y": X, "z": X})

    lines = specs.format_inputs(request).splitlines()

    assert [line.split("    ")[0] for line in lines] == [
        "x: _, _",
        "rest.0: _, _",
        "y: _, _",
        "z: _, _",
    ]


class Pairs(nn.Module):
    def forward(self, x: torch.Tensor, past: Any) -> Any:
        return [torch.cat([x, each], 0) for pair in past for each in pair]


@pytest.mark.slow
@both_modes
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"x": {0: "b"}, "past": None}, "x: b, _"),
        ({"x": ("b", None), "past": None}, "x: b, _"),
        ({"x": [0], "past": None}, "x: !, _"),
        ({"tokens": {0: B}, "past": [({0: B}, {0: B})]}, "x: b, _; past.0.0: b, _; past.0.1: b, _"),
        ({"x": None, "past": [{0: B}, {0: B}]}, "past.0.0: b, _; past.0.1: b, _"),
        ({"x": None, "past": {0: B}}, "past.0.0: b, _; past.0.1: b, _"),
        ({"x": {0: -1, 1: None}, "past": None}, "x: !, _"),
        ({"a": {0: B}, "b": {0: B}, "c": {0: B}}, "x: b, _; past.0.0: b, _; past.0.1: b, _"),
        (
            {"x": {0: B}, "past_0_key": {0: B}, "past_0_value": {0: B}},
            "x: b, _; past.0.0: b, _; past.0.1: b, _",
        ),
        (
            {"x": {0: Dim("b", min=2, max=64)}, "past": [({0: Dim("b", max=32)}, None)]},
            "x: b[2..32], _; past.0.0: b, _",
        ),
    ],
    ids=[
        "names",
        "names in a tuple",
        "axes",
        "another name",
        "a flat list of pairs",
        "one for all",
        "-1 for any size",
        "names of no input",
        "flat names",
        "two ranges of one name",
    ],
)
def test_specs_as_other_exporters_take_them_are_understood(
    given: Any, written: str, strict: bool
) -> None:
    attempt = failed(Pairs(), X, [(X.clone(), X.clone())], dynamic_shapes=given, strict=strict)

    fix = only_fix(attempt, specs.suggest_specs)

    assert not fix.lossy
    assert fix.after.splitlines()[0] == written
    good(apply_fixes(attempt, [fix]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": {0: "b"}, "past": None}, "Convert the names in dynamic_shapes to Dims"),
        ({"x": {0: "b"}, "past": {0: "b"}}, "Restructure dynamic_shapes to match this call"),
        ({"x": [0], "past": None}, "Restructure dynamic_shapes to match this call"),
    ],
)
def test_names_that_only_lack_a_dim_are_not_restructured(given: Any, said: str) -> None:
    attempt = failed(Pairs(), X, [(X.clone(), X.clone())], dynamic_shapes=given)

    assert only_fix(attempt, specs.suggest_specs).title == said


def test_a_list_of_sizes_is_not_taken_for_axes() -> None:
    values = {"x": [2, 3], "y": {0: B, 7: B}}
    attempt = failed(lambda x, y: x + y[:1], torch.ones(2, 3), X, dynamic_shapes=values)

    fix = only_fix(attempt, specs.suggest_specs)

    assert "x: 2, 3" in fix.after.splitlines()[0]


@dataclass
class Sampled:
    ids: torch.Tensor
    mask: torch.Tensor


@pytest.mark.after_check
def test_a_class_is_registered_with_the_specs_for_what_is_in_it() -> None:
    given = {"batch": {"ids": {0: B}, "mask": {0: B}}}
    attempt = failed(
        lambda batch: batch.ids * batch.mask, Sampled(X, X.clone()), dynamic_shapes=given
    )
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNKNOWN_INPUT_TYPE

    found = good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    assert found.request is not None
    assert str(found.request.shapes) == "batch.ids: b, _; batch.mask: b, _"


@dataclass
class Weighed:
    ids: torch.Tensor
    weights: torch.Tensor | None = None
    scale: int = 2


@pytest.mark.after_check
def test_specs_in_the_order_of_a_dataclass_are_those_of_its_fields() -> None:
    given = {"batch": [{0: B}, None, None]}
    attempt = failed(lambda batch: batch.ids * batch.scale, Weighed(X), dynamic_shapes=given)

    found = good(apply_fixes(attempt, [only_fix(attempt, registered.suggest_registrations)]))

    assert found.request is not None
    assert str(found.request.shapes) == "batch.ids: b, _"


@pytest.mark.after_check
def test_what_a_size_is_made_of_is_not_1_in_an_example() -> None:
    height = Dim("h", max=8)
    attempt = failed(lambda x: x * 2, torch.ones(5, 3), dynamic_shapes={"x": {0: 4 * height + 1}})
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.ZERO_ONE
    assert "h is 1 in the example (x.shape[0] is derived from h)" in attempt.diagnosis.sentence

    fix = only_fix(attempt, examples.suggest_example)

    assert fix.title == "Use an example of size 9 for x.shape[0]"
    assert fix.gives_up == "The program may reject the size of x.shape[0] in your own arguments."
    found = good(apply_fixes(attempt, [fix]))
    assert found.program.module()(torch.ones(17, 3)).shape == (17, 3)


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@pytest.mark.after_check
def test_a_member_of_an_enum_that_is_returned_is_a_constant() -> None:
    attempt = failed(lambda x: {"x": x * 2, "level": Level.HIGH}, X)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.UNKNOWN_OUTPUT_TYPE
    assert "a `Level`" in attempt.diagnosis.sentence

    fix = only_fix(attempt, registered.suggest_registrations)
    found = good(apply_fixes(attempt, [fix]))

    assert fix.title == "Register `Level` as a constant"
    assert found.program.module()(X)["level"] is Level.HIGH
