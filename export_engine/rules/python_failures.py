"""Failures in Python that torch cannot trace."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class Numpy(Rule, kind=Kind.NUMPY):
    """The code converts a tensor to a NumPy array, which a fake tensor cannot become.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return torch.from_numpy(x.numpy() * 2)


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Use torch's function of the same name. Strict mode translates many NumPy functions.

    ## Why

    A fake tensor has no memory that NumPy could read, and NumPy's results would be constants of the
    graph.
    """

    SENTENCE = Sentence(
        "{called} converts a tensor to NumPy, which needs values, and fake tensors have none.",
        called="`x.numpy()`",
    )
    NO_EQUIVALENT = Sentence(
        "Strict mode cannot trace {called}: torch has no equivalent of this NumPy function.",
        called="`np.random.permutation(4)`",
    )
    WHY = Sentence(
        "NumPy functions are not ATen ops, so they cannot be captured in the graph. torch has "
        "equivalents of most of them; strict mode can translate some."
    )


class DataWrite(Rule, kind=Kind.DATA_WRITE):
    """The code writes through `.data` or `.detach()` of a tensor, which tracing does not see.

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

    `.data` shares memory but bypasses autograd and functionalization, so the graph would miss the
    write.
    """

    SENTENCE = Sentence("A write through `{code}` is invisible to torch.export.", code="x.data")
    WHY = Sentence(
        "`.data` shares memory with the tensor but bypasses autograd and tracing, so a write to "
        "it is not captured."
    )


class TensorLeak(Rule, kind=Kind.TENSOR_LEAK):
    """A tensor was created or changed where tracing does not see it, so the program would hold a
    fake tensor, which has no values.

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

    DERIVATIVE = Sentence(
        "`{text}` {does}, which torch.export does not {fully}trace: {lost} has no values to "
        "store in the program.",
        text="torch.autograd.grad(y, x)",
        does="runs a backward pass",
        fully="fully ",
        lost="a tensor that autograd saved for it",
    )
    AUTOGRAD_WHY = Sentence(
        "torch.export traces the operators that `forward` calls. Autograd's engine calls those "
        "of a backward pass, with saved tensors that the tracer does not know, such as results "
        "of tanh, exp or a Linear. Write the derivative out, or take it outside the model. Or "
        "trace the model first and export its graph: "
        "torch.fx.experimental.proxy_tensor.make_fx(model, tracing_mode='symbolic', "
        "_allow_non_fake_inputs=True) follows them."
    )
    BACKWARD_WHY = Sentence(
        "torch.export traces the operators that `forward` calls. Autograd's engine calls those "
        "of a backward pass, below the tracer. Write the derivative out, or take it outside the "
        "model. Or trace the model first and export its graph: "
        "torch.fx.experimental.proxy_tensor.make_fx(model, tracing_mode='symbolic', "
        "_allow_non_fake_inputs=True) follows them."
    )
    FORWARD_MODE_WHY = Sentence(
        "torch.export traces the operators that `forward` calls. A transform runs its "
        "operators on wrapped tensors, below the tracer. Write the derivative out, or take it "
        "outside the model."
    )
    CREATED_HERE = Sentence(
        "A tensor here was created outside the trace, so it has no values to store in the program."
    )
    IN_PROGRAM = Sentence(
        "The program would contain a fake tensor, which was created while tracing and has no "
        "values."
    )
    WHY = Sentence(
        "Every tensor of a program comes from its inputs, parameters, buffers or constants. A "
        "tensor created or mutated outside the trace, or left over from an earlier trace, is "
        "none of these."
    )
    DEEPCOPY = Sentence(
        "{called} copies the Python object of a tensor, which tracing does not follow: the "
        "copy has no values. `{name}.view_as({name})` is traced, and shares its memory.",
        called="`copy.copy(x)`",
        name="x",
    )
    DEEPCOPY_WHY = Sentence(
        "While tracing, tensors are fake tensors, created by torch's operators. The tracer "
        "does not know about a copy made by Python."
    )


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

    DERIVATIVE = Sentence(
        "Strict mode cannot trace `{text}`, which takes a derivative.",
        text="torch.autograd.grad(y, x)",
    )
    SENTENCE = Sentence(
        "{who} cannot trace {called}: {reason}.",
        who="Strict mode",
        called='`open("nowhere")`',
        reason="this function is not supported for these arguments",
    )
    WHY = Sentence(
        "Strict mode (TorchDynamo) interprets your Python instead of running it, and does not "
        "support all of it."
    )
    MISSING_BREAK = Sentence(
        "Strict mode cannot trace {called}: {reason}.",
        called="`len(gen)`",
        reason="a generator has no length",
    )
    CHECKPOINT = Sentence(
        "Strict mode cannot export `torch.utils.checkpoint.checkpoint`: torch cannot run its "
        "op again to make the program."
    )
    CHECKPOINT_WHY = Sentence(
        "Activation checkpointing saves memory in training, and has no effect in a program. "
        "Non-strict mode runs the checkpointed function itself."
    )
    UNREGISTERED_MODULE = Sentence(
        "Strict mode cannot find the weights of `{held}`: it is in {kept_in}, so it is not a "
        "submodule of `{owner}`.",
        held="self.heads[0]",
        kept_in="a plain list",
        owner="Heads",
    )
    UNREGISTERED_MODULE_WHY = Sentence(
        "PyTorch registers modules that are attributes, or in an `nn.ModuleList` or "
        "`nn.ModuleDict`. Others are missing from `parameters()`, `state_dict()` and `to()`, "
        "and in non-strict mode their weights become constants of the program."
    )


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

    torch.export runs the model once. An error in eager also fails the export.
    """

    SENTENCE = Sentence(
        "The model itself raised {name}{message}.", name="KeyError", message=": 'b'"
    )
    WHY = Sentence(
        "The exception comes from the model's code, not from torch.export. If the model runs in "
        "eager, the cause is a size or a value that differs while tracing."
    )


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

    If the module already has that dtype and device, apply the fix that drops the conversion. If
    not, convert the module once, before the export. To compute in another dtype, convert the input,
    or the weight for one call: `torch.nn.functional.linear(x, self.linear.weight.to(x.dtype))`.
    Strict mode traces a conversion that changes nothing.

    ## Why

    A program has the parameters that the module had when it was exported. Converting a module
    changes them in place.
    """

    SENTENCE = Sentence(
        "{called} converts a module while it is traced, which replaces its parameters.",
        called="`self.layer.half()`",
    )
    WHY = Sentence(
        "While tracing, parameters are fake tensors, which cannot be replaced. Convert the "
        "module before the export."
    )


class Unknown(Rule, kind=Kind.UNKNOWN):
    """Export Explorer does not know this kind of failure. The line and torch's message are shown
    unchanged.

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

    Read torch's message. `ex.diagnosis.stack` has the line. Please report it, so that this kind of
    failure gets its own entry.

    ## Why

    Each diagnosis recognizes one kind of failure. If none matches, Export Explorer does not guess.
    """

    WHY = Sentence(
        "Export Explorer does not recognize this failure. See torch's message and traceback "
        "for details."
    )
    NO_MESSAGE = Sentence("torch.export raised {name} without a message.", name="Mute")
