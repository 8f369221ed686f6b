"""What would end a GPU's context raises on the host; tried on the CPU's kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from export_engine.process import gpu_checks, sandbox
from export_engine.process.gpu_checks import gpu_checked, gpu_unchecked

X = torch.arange(15.0, device="cpu").reshape(5, 3)


def at(*indices: int) -> torch.Tensor:
    return torch.tensor(indices, dtype=torch.long, device="cpu")


OUT_OF_RANGE: dict[str, Callable[[torch.Tensor], Any]] = {
    "index": lambda x: x[at(7)],
    "index, the last dim": lambda x: torch.ops.aten.index(x, [None, at(3)]),
    "after a mask": lambda x: x.reshape(5, 3, 1)[x[:, 0] > 3, at(0, 1, 3)],
    "write": lambda x: torch.ops.aten.index_put(x, [at(-6)], torch.ones(())),
    "embedding": lambda x: functional.embedding(at(9), x),
    "gather": lambda x: x.gather(0, at(5)[None]),
    "scatter": lambda x: x.scatter(1, at(-1)[None], 0.0),
    "add": lambda x: x.index_add(0, at(5), x[:1]),
    "fill": lambda x: x.index_fill(0, at(-6), 1.0),
    "take": lambda x: x.take(at(15)),
    "class": lambda x: functional.cross_entropy(x, at(0, 1, 2, 3, 0)),
}


@pytest.mark.parametrize("case", OUT_OF_RANGE)
def test_an_index_out_of_range_is_an_error_before_the_kernel_runs(case: str) -> None:
    with (
        gpu_checked("CPU"),
        pytest.raises(IndexError, match=r"is out of bounds for dimension \d with"),
    ):
        OUT_OF_RANGE[case](X)


WITHIN: dict[str, Callable[[torch.Tensor], Any]] = {
    "index": lambda x: x[at(-5, 4)],
    "mask": lambda x: x[x > 3],
    "mask of a dim": lambda x: x[:, torch.tensor([True, False, True], device="cpu")],
    "nothing": lambda x: x[at()],
    "a scalar": lambda x: torch.tensor(3.0).gather(0, torch.tensor(0)),
    "write": lambda x: x.clone().index_put_((at(0), at(2)), x[0, 1]),
    "fill": lambda x: x.index_fill(0, at(-5, 4), 1.0),
    "embedding": lambda x: functional.embedding(at(0, 4), x),
    "ignored class": lambda x: functional.cross_entropy(x, at(0, 1, -100, 2, 0)),
    "shares": lambda x: functional.binary_cross_entropy(x.sigmoid(), x.sigmoid()),
}


@pytest.mark.parametrize("case", WITHIN)
def test_what_is_within_range_gives_what_it_gave(case: str) -> None:
    wanted = WITHIN[case](X)
    with gpu_checked("CPU"):
        torch.testing.assert_close(WITHIN[case](X), wanted, rtol=0, atol=0)


def test_gradients_come_as_they_came() -> None:
    x = X.clone().requires_grad_()
    with gpu_checked("CPU"):
        x[at(1, 1)].sum().backward()
    assert x.grad is not None
    assert x.grad.sum(1).tolist() == [0, 6, 0, 0, 0]


class Asserts(nn.Module):
    """An assertion in a branch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def above(x: torch.Tensor) -> torch.Tensor:
            torch.ops.aten._assert_async.msg((x > 0).all(), "not all are above zero")
            return x.sin()

        found: torch.Tensor = torch.cond(x.sum() > 0, above, torch.cos, (x,))
        return found


def test_assertions_of_programs_raise_as_they_do_on_a_cpu() -> None:
    with gpu_checked("CPU"):
        with pytest.raises(RuntimeError, match="not all are above zero"):
            torch.ops.aten._assert_async.msg(torch.tensor(False), "not all are above zero")
        with pytest.raises(RuntimeError, match="Expected Tensor with"):
            torch._assert_async(torch.tensor(0))


@pytest.mark.after_check
def test_an_assertion_in_a_branch_of_a_program_raises() -> None:
    program = torch.export.export(Asserts(), (torch.ones(3),)).module()
    with gpu_checked("CPU"), pytest.raises(RuntimeError, match="not all are above zero"):
        program(torch.tensor([5.0, -1.0, 1.0]))


def test_kernels_are_torchs_own_where_they_are_timed_and_afterwards() -> None:
    with gpu_checked("CPU"), gpu_checked("CPU"):
        assert len(gpu_checks._kept) == 1
        with gpu_unchecked():
            assert not gpu_checks._kept
        assert len(gpu_checks._kept) == 1
    assert not gpu_checks._kept


def test_an_action_checks_once_and_nothing_is_replaced_where_there_is_no_gpu() -> None:
    with sandbox(), sandbox():
        assert len(gpu_checks._kept) == bool(torch.cuda.device_count())
    assert not gpu_checks._kept
