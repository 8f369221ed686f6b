"""Failures of operators."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


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
    shape, such as `torch.empty_like(x)`. Export Explorer writes one if it can infer the sizes.

    ## Why

    torch.export runs the model on fake tensors, which have shapes and no data. An opaque kernel
    cannot run on them.
    """

    SENTENCE = Sentence(
        "`{name}` has no fake kernel, so the shape and dtype of {code} are unknown while tracing.",
        name="seeds::tripled",
        code="what `tripled(x.sin())` returns",
    )
    WHY = Sentence(
        "Fake tensors have shapes but no data, so an operator's real kernel cannot run while "
        "tracing. Its fake kernel computes the shape and dtype of the result instead."
    )


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

    Move one of them: `.to(x.device)`. A tensor that the model creates should take the device of
    an input, or be a buffer.

    ## Why

    Eager also rejects this call. Fake tensors carry their device, so tracing finds the mismatch
    without the device itself.
    """

    SENTENCE = Sentence(
        "{code} mixes tensors on {device} and {other}.", code="`x + y`", device="cpu", other="meta"
    )
    WHY = Sentence(
        "All tensors of an op must be on one device. A tensor that is a plain attribute, not a "
        "registered buffer, does not move with the module."
    )


class OperatorFailed(Rule, kind=Kind.OPERATOR_FAILED):
    """An op rejects its inputs: shapes that do not fit, a wrong dtype, a wrong
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

    Tracing runs the same shape checks as eager. A call that eager rejects cannot be exported.
    """

    NESTED_INPUT = Sentence(
        "The input `{path}` is a nested tensor, which {mode} mode cannot trace here.",
        path="x",
        mode="non-strict",
    )
    NESTED_INPUT_WHY = Sentence(
        "A nested tensor is a subclass with its own ragged sizes. Pass the values and their "
        "offsets, or a padded tensor and a mask, such as from torch.nested.to_padded_tensor."
    )
    SHARED_OPERANDS = Sentence("Two operands of `{operator}` share memory.", operator="torch.cond")
    SHARED_OPERANDS_WHY = Sentence(
        "Each branch is traced into a subgraph that sees only its operands, so no two "
        "operands may share memory, such as a tensor and a view of it. Tensors read from "
        "outside count as operands. Pass a `.clone()` of one of them."
    )
    CALLED_WRONGLY = Sentence(
        "`{operator}` got arguments that it does not accept: {said}.",
        operator="torch.cond",
        said="Expected `operands` to be a list/tuple but got `Tensor`",
    )
    CALLED_WRONGLY_WHY = Sentence(
        "The predicate is a bool or a one-element tensor; the operands are a tuple or list of "
        "tensors, passed to the functions."
    )
    TORCH_NAMED = Sentence(
        "torch.export rejects this call: {reason}.", reason="an input has no name"
    )
    TORCH_NAMED_WHY = Sentence(
        "torch.export reports this failure itself; see its message and traceback for details."
    )
    UNPLACED_NUMBER = Sentence(
        "{code} computes a data-dependent number that torch then loses track of.",
        code="`torch.bincount(x)`",
    )
    UNPLACED_NUMBER_WHY = Sentence(
        "torch tracks each data-dependent number as a size, a stride or the offset of an op's "
        "result. This number appears in none of them."
    )
    NESTED_TENSOR = Sentence(
        "`{code}` makes a nested tensor, which torch.export cannot trace here.",
        code="torch.nested.nested_tensor_from_jagged(x, ends)",
    )
    NESTED_TENSOR_WHY = Sentence(
        "A nested tensor is a subclass with its own ragged sizes. Compute with the values and "
        "their offsets, or with a padded tensor and a mask: torch.nn.utils.rnn.pad_sequence "
        "pads a list of rows."
    )
    OP_REJECTED_WHY = Sentence(
        "Tracing runs the model once with fake tensors, and this op rejects its inputs. If "
        "the model runs in eager, the cause is a dynamic size or a value that is unknown "
        "while tracing."
    )
    FIXED_SIZES_ONLY = Sentence(
        "`{code}` does not accept a dynamic size: torch implements this op for fixed sizes only.",
        code="torch.rand(x.shape, generator=torch.Generator())",
    )
