"""Findings on values that became constants of the program."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class BakedValue(Rule, kind=Kind.BAKED_VALUE):
    """A Python value that changes from call to call was computed while tracing, and is a constant
    of the program.

    ## Example

    ```python
    import explorer
    import torch

    import time


    def forward(x):
        return x + time.time()


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Pass the value as an input, or compute it with torch ops.

    ## Why

    Plain Python runs once, while tracing. Only what flows through torch ops is computed in each
    call.
    """


class OutsideValue(Rule, kind=Kind.OUTSIDE_VALUE):
    """The code reads the environment, a file, a global setting or a tensor's memory layout while
    tracing; the program keeps what it was then.

    ## Example

    ```python
    import explorer
    import torch

    import os


    def forward(x):
        return x * float(os.environ.get("SCALE", "2.5"))


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Read it in `__init__`, where it is plain that it is fixed, or pass it as an input.

    ## Why

    Eager reads it in each call. The program has the value, or the branch, of the day it was
    exported.
    """


class BakedArgument(Rule, kind=Kind.BAKED_ARGUMENT):
    """An argument that is a plain Python value is a constant of the program: other values are
    refused.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x, k: int):
        return x[:, :k]


    ex = explorer.explore(forward, (torch.ones(3, 4), 2))
    ```

    ## What to do

    Pass a tensor, or make the number dynamic with `k: *` in the shapes.

    ## Why

    Numbers, strings and flags are part of the call's structure. The program is made for these
    values.
    """


class FrozenTensor(Rule, kind=Kind.FROZEN_TENSOR):
    """A tensor that is neither parameter nor buffer is a constant of the program.

    ## Example

    ```python
    import explorer
    import torch

    TABLE = torch.randn(4)


    class Model(torch.nn.Module):
        def forward(self, x):
            return x * TABLE


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Register it as a buffer, or pass it as an input.

    ## Why

    A constant is saved with the program, does not move with the model, and does not follow later
    changes.
    """


class FrozenParameter(Rule, kind=Kind.FROZEN_PARAMETER):
    """A parameter reaches the code by a way that is not an attribute of a module, and is a constant
    there.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            self.held = {"weight": self.linear.weight}

        def forward(self, x):
            return self.linear(x) @ self.held["weight"]


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Use the attribute: `self.linear.weight`.

    ## Why

    A program finds its state by module names. Tensors in a dict or a closure have no such name.
    """


class DeviceBaked(Rule, kind=Kind.DEVICE_BAKED):
    """An op names a device, so the program works there only.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x + torch.arange(4, device="cpu")


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Make tensors on the device of an input: `device=x.device`, or register them as buffers.
    `torch.export.passes.move_to_device_pass` moves a program.

    ## Why

    A device is an argument of the op, and so a constant.
    """


class DtypeBaked(Rule, kind=Kind.DTYPE_BAKED):
    """The code casts to a fixed dtype, so the program does not follow the dtype of its inputs.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x.to(torch.float16) + 1


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Use `.to(x.dtype)` or leave the cast out, if it was not meant.

    ## Why

    Dtypes are part of a program's types: it is made for one choice.
    """
