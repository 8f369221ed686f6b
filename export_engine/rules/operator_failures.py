"""Failures of operators."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class NoFakeKernel(Rule, kind=Kind.NO_FAKE_KERNEL):
    """A custom op has no fake (meta) kernel, so the shape and dtype of its output are unknown while
    tracing.

    ## Example

    ```python
    import explorer
    import torch

    @torch.library.custom_op("ex121::tripled", mutates_args=())
    def tripled(x: torch.Tensor) -> torch.Tensor:
        return x * 3


    def forward(x):
        return tripled(x) + 1


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Register one: `@tripled.register_fake` with a function that returns an empty tensor of the right
    shape, such as `torch.empty_like(x)`. Export Explorer writes it where it can tell.

    ## Why

    torch.export runs the model on fake tensors, which have shapes and no data. An opaque kernel
    cannot run on them.
    """


class DeviceMismatch(Rule, kind=Kind.DEVICE_MISMATCH):
    """An op gets tensors that are on different devices.

    ## Example

    ```python
    import explorer
    import torch

    def add(x, y):
        return x + y


    ex = explorer.explore(add, (torch.ones(3), torch.ones(3, device="meta")))
    ```

    ## What to do

    Move one of them: `.to(x.device)`. A tensor that the model makes should take the device of an
    input, or be a buffer.

    ## Why

    Eager refuses this call as well. Fake tensors carry their device, so tracing finds it without
    the device.
    """


class OperatorFailed(Rule, kind=Kind.OPERATOR_FAILED):
    """An op cannot work on what it is given: shapes that do not fit, a wrong dtype, a wrong
    argument.

    ## Example

    ```python
    import explorer
    import torch

    def square(x):
        return x @ x


    ex = explorer.explore(square, (torch.ones(2, 3),))
    ```

    ## What to do

    Call the model eagerly with the same example: it usually fails at the same line. Correct the
    example or the code.

    ## Why

    Tracing runs the same shape checks as eager. A call that eager refuses cannot be exported.
    """
