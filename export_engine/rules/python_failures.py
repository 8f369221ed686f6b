"""Failures in Python that torch cannot trace."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class Numpy(Rule, kind=Kind.NUMPY):
    """The code turns a tensor into a NumPy array, which has no fake form.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return torch.from_numpy(x.numpy() * 2)


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Use torch's function of the same name. Strict mode translates many of NumPy's functions by
    itself.

    ## Why

    A fake tensor has no memory that NumPy could read, and NumPy's results would be constants of the
    graph.
    """


class DataWrite(Rule, kind=Kind.DATA_WRITE):
    """The code writes through `.data` or `.detach()` of a tensor, past what tracing can see.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            y = x * 1
            x.data[0, 0] = 3
            return y + x


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Write to the tensor itself, or build the new value with a functional op such as `torch.where` or
    `index_put`.

    ## Why

    `.data` shares memory without the record of autograd and functionalization, so the graph would
    miss the write.
    """


class TensorLeak(Rule, kind=Kind.TENSOR_LEAK):
    """A tensor was made or changed where tracing does not see it, so the program would hold a fake
    tensor, which has no values.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.func.grad(lambda y: (y * y).sum())(x)


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Compute it with ops that tracing sees, here the gradient as a formula. Clear tensors that were
    kept from an earlier trace.

    ## Why

    Everything in a program comes from its inputs, parameters, buffers or constants. A fake tensor
    from elsewhere has no values to save.
    """


class GraphBreak(Rule, kind=Kind.GRAPH_BREAK):
    """Strict mode follows the bytecode, and here it meets a construct that it does not support: a
    graph break.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x * len(x.tolist())


    ex = explorer.explore(forward, (torch.ones(3),), strict=True)
    ```

    ## What to do

    Export with `strict=False`, which runs the Python itself, or move the construct out of the
    model. The page of the graph break has torch's own hints.

    ## Why

    `torch.compile` can leave the graph and come back; torch.export needs one whole graph.
    """


class OwnError(Rule, kind=Kind.OWN_ERROR):
    """The model's own code raised an error: in eager too with this example, or only while tracing,
    where sizes are symbols. The sentence says which.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        if x.shape[0] != 7:
            raise ValueError("seven rows, please")
        return x * 2


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Call the model eagerly with this example first, and correct the example or the model.

    ## Why

    torch.export runs the model once. An error in eager is an error there.
    """


class ModuleChanged(Rule, kind=Kind.MODULE_CHANGED):
    """`forward` calls `.to(...)`, `.half()` or `.float()` on a module. That replaces the module's
    parameters, and while tracing they are fake tensors, which cannot be replaced.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.linear.to(x.dtype)(x)


    ex = explorer.explore(Model(), (torch.ones(2, 4),))
    ```

    ## What to do

    Where the module has that dtype and device already, apply the fix that leaves the conversion
    out. Else convert the module once, before the export. To compute in another dtype, convert the
    input, or the weight for one call: `torch.nn.functional.linear(x,
    self.linear.weight.to(x.dtype))`. Strict mode traces a conversion that changes nothing.

    ## Why

    A program has the parameters that the module has at the export. Converting a module changes them
    in place.
    """


class Unknown(Rule, kind=Kind.UNKNOWN):
    """Export Explorer does not know this kind of failure. The line and torch's message are shown as
    they are.

    ## Example

    ```python
    import explorer
    import torch

    from unittest import mock

    # A stand-in for a torch that fails in a way that is not known yet
    with mock.patch("torch.export.export", side_effect=RuntimeError("out of nowhere")):
        ex = explorer.explore(torch.nn.ReLU(), (torch.ones(3),))
    ```

    ## What to do

    Read torch's message. `ex.diagnosis.stack` has the line. Please report it: a kind of failure
    that is not known here is worth an entry of its own.

    ## Why

    A diagnosis is made from what is known of a kind of failure. Nothing is guessed where that does
    not fit.
    """
