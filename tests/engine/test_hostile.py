"""Odd, broken and malicious models: an answer for each, and the session goes on."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
from torch import nn

from export_engine.attempt import Attempt, Exported, Failed, Request, name_of
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record, encode
from export_engine.record.wire import decode
from export_engine.shapes import Shapes

MARKUP = "<img src=x onerror=alert(1)>{0}}{</script>"


def described(target: Any, *args: Any, **kwargs: Any) -> Record:
    record = describe(capture(Request(target=target, args=args, kwargs=kwargs, title="model()")))
    assert decode(encode(record)) == record
    return record


def output_types(record: Record) -> list[str]:
    return [record.types[each.type].text for each in record.signature.outputs]


def call_names(record: Record) -> list[str]:
    return [record.targets[number].name for number in record.graphs[0].target if number >= 0]


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError(MARKUP)


class SaysNothing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_model_that_raises_is_shown_with_its_line(strict: bool) -> None:
    attempt = capture(Request(target=Raises(), args=(torch.ones(1),), strict=strict))
    assert isinstance(attempt, Failed)
    record = describe(attempt)
    assert record.failure is not None
    stack = record.failure.stack
    frame = record.stacks.items[record.stacks.starts[stack + 1] - 1]
    line = Path(__file__).read_text().splitlines()[record.frames.line[frame] - 1]
    assert line.strip() == "raise ValueError(MARKUP)"


def test_an_error_without_a_message_still_has_a_sentence() -> None:
    failure = described(SaysNothing(), torch.ones(1)).failure
    assert failure is not None
    assert failure.sentence == "The model itself raised RuntimeError without a message."


def test_a_model_without_inputs() -> None:
    class Constant(nn.Module):
        def forward(self) -> torch.Tensor:
            return torch.ones(3)

    record = described(Constant())
    assert record.signature.inputs == []
    assert output_types(record) == ["f32[3]"]


def test_a_model_without_ops() -> None:
    record = described(nn.Identity(), torch.ones(2))
    assert record.verdict == "exported, non-strict, 0 ops"
    assert call_names(record) == []


def test_inputs_and_outputs_that_are_no_tensors() -> None:
    class Mixed(nn.Module):
        def forward(
            self, x: torch.Tensor, n: int, name: str = "a", flag: bool | None = None
        ) -> Any:
            return x * n, n, name, None, {"k": [x, (x,)]}

    record = described(Mixed(), torch.ones(2), 3, "q", flag=True)
    given = {each.path: each.constant for each in record.signature.inputs}
    assert given == {"x": None, "n": "3", "name": "'q'", "flag": "True"}
    found = {each.path: each.constant for each in record.signature.outputs}
    assert found == {"0": None, "1": "3", "2": "'q'", "3": "None", "4.k.0": None, "4.k.1.0": None}


def test_tied_weights_show_both_names() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(4, 4)
            self.b = nn.Linear(4, 4)
            self.b.weight = self.a.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(self.a(x))

    targets = [each.target for each in described(Tied(), torch.ones(2, 4)).signature.inputs]
    assert {"a.weight", "b.weight"} <= set(targets)


def test_a_module_called_twice_has_two_scopes() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(self.layer(x))

    scopes = described(Twice(), torch.ones(2, 4)).scopes
    assert [(each.path, each.call) for each in scopes] == [("", 0), ("layer", 0), ("layer", 1)]


def test_a_size_that_a_pass_of_torch_reads_is_of_no_module() -> None:
    class OfRows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.arange(x.shape[0])[:, None]

    shapes = Shapes.parse("x: rows, _")
    record = describe(
        capture(
            Request(
                target=OfRows(), args=(torch.ones(3, 4),), dynamic_shapes=shapes, title="model()"
            )
        )
    )
    assert "aten.sym_size.int" in call_names(record)
    assert [each.path for each in record.scopes] == [""]


TENSORS = {
    "complex": (torch.ones(3, dtype=torch.complex64), "c64[3]"),
    "half": (torch.ones(3, dtype=torch.bfloat16), "bf16[3]"),
    "float8": (torch.ones(3).to(torch.float8_e4m3fn), "f8e4m3fn[3]"),
    "scalar": (torch.tensor(1), "i64[]"),
    "empty": (torch.ones(0, 4), "f32[0, 4]"),
    "sparse": (torch.eye(3).to_sparse(), "sparse_coo f32[3, 3]"),
}


@pytest.mark.after_check
@pytest.mark.parametrize("kind", TENSORS)
def test_unusual_tensors_have_a_readable_type(kind: str) -> None:
    value, text = TENSORS[kind]
    record = described(nn.Identity(), value)
    assert record.types[record.signature.inputs[0].type].text == text


def test_a_quantised_input_fails_in_a_sentence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    failure = described(nn.Identity(), value).failure
    assert failure is None or failure.sentence


def test_functions_without_source_export() -> None:
    namespace: dict[str, Any] = {}
    exec("def nowhere(x):\n    return x.sin() + 1", namespace)
    record = described(namespace["nowhere"], torch.ones(2))
    assert call_names(record) == ["aten.sin.default", "aten.add.Tensor"]


def test_names_of_ten_thousand_characters() -> None:
    class Long(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.add_module("a" * 10_000, nn.Linear(2, 2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return getattr(self, "a" * 10_000)(x)

    record = described(Long(), torch.ones(1, 2))
    assert "a" * 10_000 in [scope.path for scope in record.scopes]


def test_markup_in_names_and_strings_is_carried_as_data() -> None:
    @torch.library.custom_op("hostile::tag", mutates_args=())
    def tag(x: torch.Tensor, label: str) -> torch.Tensor:
        return x.clone()

    @tag.register_fake
    def _(x: torch.Tensor, label: str) -> torch.Tensor:
        return torch.empty_like(x)

    class Marked(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return {MARKUP: tag(x, MARKUP)}

    record = described(Marked(), torch.ones(2))
    assert record.signature.outputs[0].path == f'"{MARKUP}"'
    texts = [record.strings[number] for number in record.graphs[0].args]
    assert any(MARKUP.replace("{", "{{").replace("}", "}}") in text for text in texts)


def test_a_model_that_prints_without_end_fills_no_memory() -> None:
    class Chatty(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(200):
                print("x" * 10_000)
            return x + 1

    assert len(described(Chatty(), torch.ones(1)).printed) == 100_000


def test_a_repr_of_the_users_class_is_never_called() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("its code ran")

    class Holds(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    model = Holds()
    model.note = Loud()
    assert isinstance(capture(Request(target=model, args=(torch.ones(1),))), Exported)


class Proxy:
    """Stands for something that is not there, as the proxies of web frameworks do."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("nothing is behind it")

    @__class__.setter
    def __class__(self, _: type) -> None: ...


@pytest.mark.parametrize("kind", [Proxy, lambda: MagicMock(spec=torch.Tensor)])
def test_what_says_it_is_of_another_class_is_held_by_a_model(kind: Callable[[], Any]) -> None:
    stands_in = kind()

    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.note = [stands_in]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept.append(stands_in)
            return x + 1

    kept: list[Any] = []
    assert described(Holds(), torch.ones(1)).verdict.startswith("exported, non-strict, 1 op")
    assert not kept


def test_a_module_whose_class_raises_is_counted_for_the_progress() -> None:
    class Hides(nn.Module):
        @property
        def __class__(self) -> type:  # type: ignore[override]
            raise RuntimeError("no class")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    attempt = capture(Request(target=Hides(), args=(torch.ones(1),)), lambda _: None)
    assert isinstance(attempt, Attempt)


def test_a_class_without_a_module_gets_an_answer() -> None:
    def forward(self: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return x + 1

    made = type("Made", (nn.Module,), {"forward": forward, "__module__": None, "__slots__": "a"})
    failure = described(made(), torch.ones(1)).failure
    assert failure is None or failure.sentence


def test_an_argument_that_holds_itself_is_refused_in_a_sentence() -> None:
    class Takes(nn.Module):
        def forward(self, x: torch.Tensor, more: Any) -> torch.Tensor:
            return x + 1

    circle: dict[str, Any] = {}
    circle["again"] = circle
    deep: Any = torch.ones(1)
    for _ in range(5_000):
        deep = [deep]
    for more in (circle, deep):
        with pytest.raises(TypeError, match=r"Takes\(\) contains itself, or is nested too deeply"):
            capture(Request(target=Takes(), args=(torch.ones(1), more)))


def test_a_target_that_answers_no_question_has_a_title() -> None:
    class Silent(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert name_of(Silent()) == "Silent"
    assert name_of(torch.relu) == "relu"
    assert name_of(MagicMock(__name__=3)) == "MagicMock"


def test_what_a_model_switches_in_python_is_switched_back() -> None:
    class Switches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            gc.disable()
            sys.settrace(lambda *_: None)
            sys.setprofile(lambda *_: None)
            return x + 1

    before = sys.gettrace(), sys.getprofile()
    capture(Request(target=Switches(), args=(torch.ones(1),)))
    assert (sys.gettrace(), sys.getprofile()) == before
    assert gc.isenabled()
