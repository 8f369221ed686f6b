"""What the user's code raises is theirs; "a bug in Export Explorer" is said of ours alone."""

from __future__ import annotations

import dataclasses
import functools
import sys
from types import FunctionType
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.export import Dim
from torch.utils import _pytree

import explorer
from export_engine.attempt import Exported
from export_engine.defects import find_user_code, user_code
from export_engine.rules import GuaranteeFlat
from export_engine.source import user_error
from export_engine.verify import Verified
from export_engine.verify.guarantees import CHECKS, Check

X = torch.randn(4, 3)


def verify(model: torch.nn.Module, *args: Any, **options: Any) -> Verified:
    """Verifies a model that exports, and asserts that nothing is called a bug of ours."""
    attempt = explorer.explore(model, args, **options)
    assert attempt.ok
    verified = attempt.verify()
    assert [each.sentence for each in verified.guarantees if each.report] == []
    return verified


def sentences(verified: Verified, verdict: str) -> dict[str, str]:
    return {each.name: each.sentence for each in verified.guarantees if each.verdict == verdict}


class CastsInside(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
        return y.float() + x


def test_a_program_that_raises_when_it_runs_is_not_a_bug_of_ours() -> None:
    unchecked = sentences(verify(CastsInside(), X, strict=True), "not checked")
    for name in ("state", "saved", "unflattened"):
        assert unchecked[name].startswith("The program raises RuntimeError: Tensor dtype mismatch!")
        assert f"({__file__.rpartition('/')[2]}:" in unchecked[name]


class Starred(torch.nn.Module):
    def forward(self, *a: torch.Tensor) -> torch.Tensor:
        return a[0].sum() + a[1].sum()


def test_a_program_of_star_args_with_dynamic_sizes_exports_again() -> None:
    shapes = {"a": ({0: Dim("p")}, {0: Dim("q")})}
    verified = verify(Starred(), torch.randn(3), torch.randn(4), dynamic_shapes=shapes)
    assert sentences(verified, "holds")["re-exported"] == "The same graph of 3 ops."


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: list[torch.Tensor]


torch.export.register_dataclass(Pair, serialized_type_name="tests.claims.Pair")


class Nested(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, *rest: Any, scale: float = 1.0, y: Any = None, **more: Any
    ) -> torch.Tensor:
        total = x.sum() + rest[0]["k"][0].sum() + rest[1].right[0].sum()
        return total + scale * y.sum() + more["q"]["z"][0].sum()


def test_nested_containers_of_star_args_and_keywords_export_again() -> None:
    args = (torch.randn(2), {"k": [torch.randn(4)]}, Pair(torch.randn(2), [torch.randn(7)]))
    kwargs = {"q": {"z": [torch.randn(5)]}, "y": torch.randn(6), "scale": 3.0}
    attempt = explorer.explore(
        Nested(), args, kwargs, dynamic_shapes="x: n; rest.0.k.0: k; rest.1.right.0: p; q.z.0: r"
    )
    verified = attempt.verify()
    assert "re-exported" in sentences(verified, "holds")


class TwoLayers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return self.layer(x) + self.calls


def without_values(kind: str) -> tuple[torch.nn.Module, torch.Tensor]:
    with torch.device("meta") if kind == "meta" else FakeTensorMode():
        return TwoLayers(), torch.randn(4, 3)


@pytest.mark.parametrize(("kind", "said"), [("meta", "on the meta device"), ("fake", "a fake ten")])
def test_a_model_without_weights_is_checked_for_all_that_needs_no_values(
    kind: str, said: str
) -> None:
    model, x = without_values(kind)
    attempt = explorer.explore(model, (x,), dynamic_shapes="x: b, _")
    verified = attempt.verify()
    assert {"flat", "lifted", "mapped", "functional", "saved", "re-exported", "refuses"} <= set(
        sentences(verified, "holds")
    )
    unchecked = sentences(verified, "not checked")
    assert set(unchecked) == {"sound", "state", "unflattened", "decomposed"}
    for sentence in unchecked.values():
        assert f"The model has no weights: `layer.weight` is {said}" in sentence
    assert verified.ok
    rows = attempt.run().rows
    assert {row.outcome for row in rows} == {"unavailable"}
    assert all("The model has no weights" in row.sentence for row in rows)


@pytest.mark.parametrize("kind", ["meta", "fake"])
def test_a_program_without_weights_is_decomposed_compared_and_saved(
    kind: str, tmp_path: Any
) -> None:
    model, x = without_values(kind)
    attempt = explorer.explore(model, (x,), dynamic_shapes="x: b, _")
    decomposed = explorer.explore(model, (x,), dynamic_shapes="x: b, _").decompose("core")
    assert decomposed.ok
    assert explorer.diff(attempt, decomposed) is not None
    attempt.save(tmp_path / "program.pt2")
    assert explorer.load(tmp_path / "program.pt2").ok


def test_a_fix_of_a_model_without_weights_is_not_said_to_agree() -> None:
    class Branches(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.layer(x).sum() > 0:
                return x.cos()
            return x

    attempt = explorer.explore(Branches().to("meta"), (X.to("meta"),))
    report = attempt.autofix()
    assert "Not compared with eager: the model has no weights" in str(report)


class Rebuilt:
    """A container whose unflatten function works a number of times only."""

    left = sys.maxsize

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    @classmethod
    def unflatten(cls, children: Any, _: Any) -> Rebuilt:
        cls.left -= 1
        if cls.left < 0:
            raise ValueError("it is rebuilt no more")
        return cls(*children)


_pytree.register_pytree_node(
    Rebuilt,
    lambda each: ([each.tensor], None),
    Rebuilt.unflatten,
    flatten_with_keys_fn=lambda each: ([(_pytree.GetAttrKey("tensor"), each.tensor)], None),
    serialized_type_name="tests.claims.Rebuilt",
)


@pytest.mark.parametrize("left", [2, 9, 14])
def test_a_container_whose_unflatten_raises_is_named(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Takes(torch.nn.Module):
        def forward(self, box: Rebuilt) -> Rebuilt:
            return Rebuilt(box.tensor.relu())

    attempt = explorer.explore(Takes(), (Rebuilt(X),))
    assert attempt.ok
    monkeypatch.setattr(Rebuilt, "left", left)
    verified = attempt.verify()
    assert not [each for each in verified.guarantees if each.report]
    assert not verified.broken
    assert sentences(verified, "not checked")["saved"].startswith(
        "`Rebuilt.unflatten` raises ValueError: it is rebuilt no more ("
    )
    assert all("`Rebuilt.unflatten` raises" in row.sentence for row in attempt.run().rows)


class Refuses:
    """An output that raises when it is compared, or shown."""

    def __eq__(self, _: object) -> bool:
        raise RuntimeError("not to be compared")

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")

    __hash__ = object.__hash__


_pytree.register_constant(Refuses)


def test_an_object_that_raises_when_compared_or_shown_is_not_a_bug_of_ours() -> None:
    class Takes(torch.nn.Module):
        def forward(self, x: torch.Tensor, _: Refuses) -> torch.Tensor:
            return x.relu()

    verify(Takes(), X, Refuses())


@torch.library.custom_op("test_whose_error::lacks", mutates_args=())
def lacks(x: torch.Tensor) -> torch.Tensor:
    raise AttributeError("no kernel for this machine")


@lacks.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def runs_op(x: torch.Tensor) -> torch.Tensor:
    return torch.ops.test_whose_error.lacks(x) + 1  # type: ignore[no-any-return]


def calls_hook(x: torch.Tensor) -> torch.Tensor:
    if not torch.compiler.is_compiling():
        raise LookupError("the hook says no")
    return x.relu()


def leaves_python(x: torch.Tensor) -> torch.Tensor:
    if not torch.compiler.is_compiling():
        sys.exit(3)
    return x.relu()


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (runs_op, "raises AttributeError: no kernel for this machine"),
        (calls_hook, "raises LookupError: the hook says no"),
        (leaves_python, "raises SystemExit: 3"),
    ],
)
def test_what_the_model_raises_is_the_reason(called: Any, said: str) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return called(x)  # type: ignore[no-any-return]

    unchecked = sentences(verify(Model(), X), "not checked")
    assert said in unchecked["state"]
    assert said in unchecked["sound"]


def test_an_interrupt_in_the_model_is_not_kept() -> None:
    class Interrupts(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not torch.compiler.is_compiling():
                raise KeyboardInterrupt
            return x.relu()

    attempt = explorer.explore(Interrupts(), (X,))
    with pytest.raises(KeyboardInterrupt):
        attempt.verify()


def test_an_error_of_ours_is_still_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> Any:
        return {}["missing"]

    ours = FunctionType(fails.__code__, {"__name__": "export_engine.verify.planted"})
    planted = Check(GuaranteeFlat, ours)
    monkeypatch.setattr("export_engine.verify.guarantees.CHECKS", (planted, CHECKS[1]))
    guarantees = explorer.explore(Starred(), (X, X)).verify().guarantees
    assert "This is a bug in Export Explorer" in guarantees[0].sentence
    assert guarantees[0].report
    assert guarantees[1].verdict == "holds"


def test_an_error_is_marked_once_and_by_the_innermost_code() -> None:
    with (
        pytest.raises(ValueError, match="four") as raised,
        user_code("the program"),
        user_code("the model"),
    ):
        int("four")
    assert find_user_code(raised.value) == "the model"
    assert user_error(raised.value).startswith("The model raises ValueError: invalid literal")
    assert user_error(KeyError("x")) == ""


@pytest.mark.parametrize("strict", [False, True])
def test_after_a_reset_of_dynamo_nothing_is_said_to_be_missing(strict: bool) -> None:
    torch.export.export(Starred(), (X, X))
    torch._dynamo.reset()
    attempt = explorer.explore(Starred(), (X, X), strict=strict)
    assert isinstance(attempt.session.entry.attempt, Exported)
    assert attempt.record.left_out == []


def test_a_function_may_call_its_argument_self() -> None:
    def add(self: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return self + x

    ex = explorer.explore(add, (torch.ones(2), torch.ones(2)), dynamic_shapes="self: n; x: n")
    assert ex.ok, repr(ex)


class AsksAtRunTime(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_exporting():  # the line that asks
            return x * 2
        return x * 3


def test_code_that_asks_whether_it_is_exported_is_the_cause_of_its_difference() -> None:
    verified = verify(AsksAtRunTime(), torch.randn(3))
    state = next(each for each in verified.broken if each.name == "state")
    assert "The code checks whether it is being exported" in state.sentence
    assert "`if torch.compiler.is_exporting(): # the line that asks`" in state.sentence
    assert not torch.compiler.is_exporting()
    assert not torch.compiler.is_compiling()


class Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


def test_a_difference_of_a_later_call_has_no_cause_that_the_first_lacks() -> None:
    verified = verify(Counts(), torch.randn(3))
    state = next(each for each in verified.broken if each.name == "state")
    assert state.sentence == "Diverges from eager at call 2 of 3 in a row."


def test_a_program_that_differs_wherever_something_is_computed_has_no_wrong_size() -> None:
    ex = explorer.explore(AsksAtRunTime(), (torch.randn(3),), dynamic_shapes="x: n")
    verified = ex.verify()
    assert {0: "agrees", 1: "differs"}.items() <= {
        trial.sizes["n"]: trial.outcome for trial in verified.trials if trial.sizes
    }.items()
    assert not [each for each in ex.findings if each.kind.code == "EX224"]


def test_attributes_that_a_model_refuses_to_tell_of_are_not_asked_for() -> None:
    class Refuses(torch.nn.Module):
        def __getattr__(self, name: str) -> Any:
            if name in ("components", "methods"):
                raise RuntimeError(f"no {name} here")
            return super().__getattr__(name)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    assert explorer.explore(Refuses(), (torch.randn(3),)).ok


class GradientInside(torch.nn.Module):
    """Computes a gradient as a part of its answer."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.detach().requires_grad_()
        return torch.autograd.grad((y**2).sum(), y)[0]


class ReadsGradMode(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if torch.is_grad_enabled() else x * 3


class Sparse(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.eye(3).to_sparse())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sparse.mm(self.weight, x.t()).t()


def test_a_model_that_needs_gradients_is_called_with_them() -> None:
    holds = sentences(verify(GradientInside(), X), "holds")
    assert {"sound", "state"} <= set(holds)


def test_a_branch_on_the_grad_mode_is_named_as_the_cause() -> None:
    verified = verify(ReadsGradMode(), X)
    broken = sentences(verified, "broken")
    assert broken.keys() == {"sound", "state"}
    assert "checks whether gradients are recorded" in broken["state"]
    assert str(verified).count("checks whether gradients are recorded") > 1, verified


def test_sparse_state_is_compared() -> None:
    assert "state" in sentences(verify(Sparse(), X), "holds")


class CachesTables(torch.nn.Module):
    @functools.lru_cache  # noqa: B019 - as models do it
    def table(self, dims: int) -> torch.Tensor:
        return torch.arange(dims).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table(x.shape[1])


def test_a_table_that_a_method_caches_is_made_again_after_the_trace() -> None:
    model = CachesTables()
    verified = verify(model, X)
    assert not verified.broken, verified
    assert torch.equal(model(X), X + torch.arange(3.0))
