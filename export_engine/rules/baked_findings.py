"""Findings on values that became constants of the program."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


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

    UNDECIDED_WHY = Sentence(
        "Eager sets it in each call, so a later call may differ; the program always repeats "
        "the traced call. Verify compares several calls in a row."
    )
    VALUE = Sentence(
        "The value of `{code}` while tracing{shown} is baked into the program as a constant.",
        code="self.calls",
        shown=", 1,",
    )
    VALUE_WHY = Sentence(
        "Eager computes it in each call; in the program it never changes. Pass it in as a tensor."
    )
    BRANCH = Sentence(
        "The branch on `{code}` was specialized while tracing.", code="time.time() > start"
    )
    BRANCH_WHY = Sentence(
        "`{code}` changes with each call in eager; the program always takes the traced branch.",
        code="time.time()",
    )


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

    Read it in `__init__`, where it is clearly fixed, or pass it as an input.

    ## Why

    Eager reads it in each call. The program keeps the value, or the branch, from the export.
    """

    READ = Sentence(
        "The model reads {source} each time it runs: `{code}`.",
        source="the environment",
        code='os.environ["SCALE"]',
    )
    READ_WHY = Sentence(
        "The program does not read it at run time: the value at export is baked in. "
        "Read it in `__init__`, or pass it in as a tensor."
    )
    BRANCH = Sentence(
        "The code branches on {what}: `{code}` was decided while tracing.",
        what="a process-wide setting",
        code="not exact",
    )
    BRANCH_WHY = Sentence(
        "`{code}` may differ when the program runs. The program does not check it and always "
        "takes the traced branch.",
        code="exact",
    )
    SETTING = Sentence(
        "The model computes with a process-wide setting: `{code}`.",
        code="torch.get_num_threads()",
    )
    SETTING_WHY = Sentence("The value at export is a constant of the program.")


class BakedArgument(Rule, kind=Kind.BAKED_ARGUMENT):
    """An argument that is a plain Python value is a constant of the program: other values are
    rejected.

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

    Numbers, strings and flags are part of the call's structure. The program is specialized on
    these values.
    """

    SENTENCE = Sentence(
        "`{path}` = {constant} is a constant of the program.", path="k", constant="2"
    )
    WHY = Sentence(
        "A Python number is specialized while tracing; the program rejects other values. "
        "{advice} pass a tensor.",
        advice="Let it vary, or",
    )


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

    SENTENCE = Sentence(
        "A tensor{shape} that is neither a parameter nor a buffer is a constant of the program: "
        "`{name}`.",
        shape=" of shape [4]",
        name="self___held_0",
    )
    WHY = Sentence(
        "It keeps the value that it had at export: later writes do not reach the program, and "
        "it is not in the state dict. `register_buffer` makes it part of the model."
    )


class FrozenParameter(Rule, kind=Kind.FROZEN_PARAMETER):
    """The code reaches a parameter other than as a module attribute, so the program has a constant
    in its place.

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

    SENTENCE = Sentence(
        "The parameter `{parameter}` was also lifted as a constant: `{name}`.",
        parameter="lin.weight",
        name="lifted_tensor_0",
    )
    WHY = Sentence(
        "The code reaches it through a plain container, not as an attribute. Weights loaded "
        "into the program later do not reach this copy (pytorch issue 163303)."
    )


class DeviceBaked(Rule, kind=Kind.DEVICE_BAKED):
    """An op names a device, so the program works only there.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x + torch.arange(4, device="cpu")


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Create tensors on the device of an input: `device=x.device`, or register them as buffers.
    `torch.export.passes.move_to_device_pass` moves a program.

    ## Why

    A device is an argument of the op, and so a constant.
    """

    CREATED = Sentence(
        "{layers} a tensor on `{device}`: {names}.",
        layers="A layer creates",
        device="cpu",
        names="`GRU`",
    )
    CREATED_WHY = Sentence(
        "In eager it follows the device of the layer's input; in the program it stays on "
        "the example's device. Pass it in (for example, the initial hidden state), or move the "
        "program with "
        "`torch.export.passes.move_to_device_pass`."
    )
    NAMED = Sentence("The code names a device: `{code}`.", code='"cpu"')
    NAMED_WHY = Sentence(
        "The program always creates this tensor there. Take the device from a tensor instead: "
        "`x.device`."
    )


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

    Use `.to(x.dtype)`, or remove the cast if it is not intended.

    ## Why

    A program's types include dtypes, so it is traced for one choice of them.
    """

    SENTENCE = Sentence(
        "The code names a dtype of lower precision: `{code}`.", code="torch.float16"
    )
    WHY = Sentence("The program uses it regardless of the dtypes of inputs and weights.")
