"""Errors of tracing that the model's own code caught: each is told, with both lines."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Kind, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import FindingRow
from export_engine.torch_internals import private_names
from export_engine.verify import check

BROKEN = (ValueError, RuntimeError)


@torch.library.custom_op("caught_errors::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """Has no fake kernel."""
    return x * 2


def found(target: Callable[..., Any], strict: bool = False) -> list[FindingRow]:
    attempt = capture(Request(target=target, args=(torch.ones(3, 4),), strict=strict))
    assert isinstance(attempt, Exported)
    return [each for each in describe(attempt).findings if each.code == Kind.CAUGHT_ERROR.code]


def branch(x: torch.Tensor) -> torch.Tensor:
    try:
        if x.sum() > 0:  # asked
            return x * 2
    except RuntimeError:  # caught
        return x * 3
    return x


def positive(x: torch.Tensor) -> torch.Tensor:
    return x if x.max() > 2 else -x


def in_a_helper(x: torch.Tensor) -> torch.Tensor:
    try:
        return positive(x)
    except KeyError:
        return x
    except BROKEN:  # caught
        return x * 3


def suppressed(x: torch.Tensor) -> torch.Tensor:
    with contextlib.suppress(Exception):  # caught
        return x * float(int(x.sum()))  # asked
    return x * 3


def compared(x: torch.Tensor) -> torch.Tensor:
    try:
        assert torch.equal(x, x)  # asked
    except Exception:  # noqa: BLE001 - caught
        return x * 3
    return x


def without_memory(x: torch.Tensor) -> torch.Tensor:
    try:
        return x * float(x.numpy().mean())  # asked
    except RuntimeError:  # caught
        return x * 3


def without_kernel(x: torch.Tensor) -> torch.Tensor:
    try:
        doubled: torch.Tensor = twice(x)  # asked
        return doubled
    except Exception:  # noqa: BLE001 - caught
        return x * 2


def outermost(x: torch.Tensor) -> torch.Tensor:
    try:
        try:
            return x * 2 if x.sum() > 0 else x  # asked
        except RuntimeError:
            raise
        finally:
            x = x + 1
    except RuntimeError:  # caught
        return x * 3


def line_of(function: Callable[..., Any], mark: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return next(first + n for n, text in enumerate(lines) if text.rstrip().endswith(mark))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "asked", "said"),
    [
        (branch, "`x.sum() > 0` depends on data", "takes the `except` branch"),
        (in_a_helper, "`x.max() > 2` depends on data", "takes the `except` branch"),
        (suppressed, "`int(x.sum())` depends on data", "leaves the block there"),
        (compared, "`torch.equal(x, x)` depends on data", "takes the `except` branch"),
        (without_memory, "torch cannot trace `x.numpy()`", "takes the `except` branch"),
        (without_kernel, "torch cannot trace `twice(x)`", "takes the `except` branch"),
        (outermost, "`x.sum() > 0` depends on data", "takes the `except` branch"),
    ],
)
def test_what_code_caught_is_told_with_both_lines(
    function: Callable[..., Any], asked: str, said: str
) -> None:
    (finding,) = found(function)
    assert finding.severity == "wrong"
    assert finding.sentence.startswith(asked)
    assert finding.sentence.endswith(f"caught torch's error: the program always {said}.")
    assert f" on line {line_of(function, 'caught')} caught" in finding.sentence


@pytest.mark.slow
def test_the_finding_is_at_the_line_that_asked() -> None:
    attempt = capture(Request(target=branch, args=(torch.ones(3, 4),)))
    (caught,) = attempt.recording.caught
    assert caught.stack[-1].line == line_of(branch, "asked")
    assert caught.classes[0] == "GuardOnDataDependentSymNode"


def catches_what_eager_raises(x: torch.Tensor) -> torch.Tensor:
    try:
        return x @ torch.ones(7, 7)
    except RuntimeError:
        return x * 3


def catches_nothing(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.where(x.sum() > 0, x, -x)
    except RuntimeError:
        return x * 3


def needs_grad(x: torch.Tensor) -> torch.Tensor:
    try:
        return x * float((x * torch.ones(4, requires_grad=True)).numpy().mean())
    except RuntimeError:
        return x * 3


def asked_by_torch(x: torch.Tensor) -> torch.Tensor:
    rows = x[x.sum(1) > 0]
    joined: torch.Tensor = torch.cat([rows, x]).expand(-1, 4)
    return joined.contiguous().softmax(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [catches_what_eager_raises, catches_nothing, needs_grad, asked_by_torch]
)
def test_what_eager_raises_too_and_what_torch_catches_are_no_findings(
    function: Callable[..., Any],
) -> None:
    assert found(function) == []


@pytest.mark.slow
@pytest.mark.parametrize("function", [branch, compared, in_a_helper])
def test_strict_mode_gives_such_errors_to_no_code(function: Callable[..., Any]) -> None:
    attempt = capture(Request(target=function, args=(torch.ones(3, 4),), strict=True))
    assert isinstance(attempt, Failed)


def interrupts(_: torch.Tensor) -> torch.Tensor:
    raise KeyboardInterrupt


def test_torch_is_as_it_was_after_an_interrupt() -> None:
    hooks = [*private_names.ERRORS_OF_TRACING, private_names.NON_STRICT_FUNCTIONS]
    before = [vars(each.owner).get(each.name) for each in hooks]
    with pytest.raises(KeyboardInterrupt):
        capture(Request(target=interrupts, args=(torch.ones(3, 4),)))
    assert [vars(each.owner).get(each.name) for each in hooks] == before


def twice_or_added(x: torch.Tensor) -> torch.Tensor:
    try:
        if bool(x.isfinite().all()):  # asked
            return x * 2
    except RuntimeError:  # caught
        return x + x
    return x * 2


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("target", "severity"), [(twice_or_added, "surprising"), (branch, "wrong")]
)
def test_a_way_that_gives_what_eager_gives_is_no_wrong_program(
    target: Callable[..., Any], severity: str
) -> None:
    attempt = capture(Request(target=target, args=(torch.ones(3, 4),)))
    assert isinstance(attempt, Exported)
    tried = replace(attempt, agreement=check(attempt))
    (finding,) = [each for each in describe(tried).findings if each.code == Kind.CAUGHT_ERROR.code]
    assert finding.severity == severity
