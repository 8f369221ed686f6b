"""Failures because Python needs a data-dependent value."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class BranchOnData(Rule, kind=Kind.BRANCH_ON_DATA):
    """An `if` depends on the values of a tensor. They are unknown while tracing, so neither side
    can be chosen.

    ## Example

    ```python
    import explorer
    import torch

    def flip(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()


    ex = explorer.explore(flip, (torch.ones(3),))
    ```

    ## What to do

    Write the branch with `torch.cond`, which keeps both sides in the graph, or with `torch.where`
    if both can be computed. Export Explorer offers the rewritten function.

    ## Why

    torch.export records one graph for all inputs. A Python `if` on data would keep only the side
    that the example takes.
    """

    IN_VMAP = Sentence(
        "{called} reads the value of a tensor inside `torch.vmap`, and tensor values are "
        "unknown while tracing.",
        called="`x.item()`",
    )
    WHY = Sentence(
        "torch.export traces the model once, with fake tensors, which have shapes but no "
        "values. The program must be correct for all values, so it cannot follow only the path "
        "that the example takes."
    )
    CALL = Sentence(
        "`{text}` turns tensor values into a Python value, but tensor values are unknown "
        "while tracing.",
        text="bool(x.sum())",
    )
    DEPENDS = Sentence(
        "{construct} depends on the values of `{text}`, but tensor values are unknown while "
        "tracing.",
        construct="This `if`",
        text="x.sum() > 0",
    )


class BranchOnUnbacked(Rule, kind=Kind.BRANCH_ON_UNBACKED):
    """An `if` depends on a Python number that was read from a tensor, with `.item()` or `int()`.

    ## Example

    ```python
    import explorer
    import torch

    def shift(x, k):
        if k.item() > 5:
            return x + 1
        return x - 1


    ex = explorer.explore(shift, (torch.ones(3), torch.tensor(7)))
    ```

    ## What to do

    Keep the number as a tensor and use `torch.cond` or `torch.where`, or state the condition with
    `torch._check(k > 5)` if only one side is wanted.

    ## Why

    `.item()` returns an unbacked symbol. torch records arithmetic on it, but a branch on it needs a
    value that tracing does not have.
    """

    WHY = Sentence(
        "While tracing, a number computed from tensor values is an unbacked symbol: Python "
        "cannot compare it, loop over it or index with it."
    )
    UNNAMED = Sentence(
        "{code} needs to know whether a data-dependent number {compared}.",
        code="`x[:n]`",
        compared="is at least 0",
    )
    CONDITION = Sentence(
        "{code} needs to know whether `{condition}`, {number}.",
        code="`x[:n]`",
        condition="n >= 0",
        number="where `n` is data-dependent",
    )
    DEPENDS = Sentence(
        "{construct} depends on `{asked}`{also}, {where}, and its value is unknown while tracing.",
        construct="This `if`",
        asked="count > 5",
        also="",
        where="where `count` is data-dependent",
    )


class AssertOnData(Rule, kind=Kind.ASSERT_ON_DATA):
    """An `assert` tests the values of a tensor, which are unknown while tracing.

    ## Example

    ```python
    import explorer
    import torch

    def checked(x):
        assert x.sum() > 0, "too small"
        return x * 2


    ex = explorer.explore(checked, (torch.ones(3),))
    ```

    ## What to do

    Use `torch._assert_async` or `torch._check` for what the program itself should check, or remove
    the assert. Strict mode turns it into a runtime assertion.

    ## Why

    An `assert` is a branch that raises. To keep it, it must be an op of the graph.
    """

    NUMBER = Sentence(
        "This `assert` depends on `{asked}`, {where}.",
        asked="count > 5",
        where="where `count` is data-dependent",
    )
    TENSOR = Sentence(
        "This `assert` depends on the values of `{text}`, but tensor values are unknown while "
        "tracing.",
        text="x.sum() > -1e6",
    )


class OutputFromData(Rule, kind=Kind.OUTPUT_FROM_DATA):
    """A value read from a tensor is needed as a plain Python number, for example by `float()` or as
    an output.

    ## Example

    ```python
    import explorer
    import torch

    def scaled(x):
        return x * float(f"{x.sum().item():.2f}")


    ex = explorer.explore(scaled, (torch.ones(3),))
    ```

    ## What to do

    Keep the value as a tensor: `x * x.sum()`. If Python needs it, compute it outside the
    exported module and pass it in.

    ## Why

    Only tensors and symbolic numbers flow through a graph. Strings, and numbers parsed from them,
    would be constants of the example.
    """

    UNPACKING = Sentence(
        "Unpacking `{asked}` needs its length, which is data-dependent.", asked="x.tolist()"
    )
    CONCRETE_HERE = Sentence(
        "Python needs a concrete value for `{asked}` here, but it is computed from tensor values.",
        asked="int(count)",
    )
    CONCRETE = Sentence(
        "{code} needs a concrete number, but it is computed from tensor values.",
        code="`float(x.max())`",
    )
    NEEDS_VALUE = Sentence(
        "{code} needs a Python value that depends on tensor values, but tensor values are "
        "unknown while tracing.",
        code="This line",
    )
    RETURNED_SIZE = Sentence(
        "`{called}`{inner} returns a tensor whose size depends on the values of its inputs, "
        "but tensor values are unknown while tracing.",
        called="x.nonzero()",
        inner="",
    )
    RETURNED_VALUE = Sentence(
        "`{called}`{inner} returns a Python value that depends on the values of its tensors, "
        "but tensor values are unknown while tracing.",
        called="torch.equal(x, y)",
        inner="",
    )
    READS_VALUES_WHY = Sentence(
        "torch.export traces the model once, with fake tensors, which have shapes but no "
        "values. Only torch ops accept them."
    )
    TRITON_KERNEL = Sentence(
        "{code} launches a Triton kernel on fake tensors, which have no memory.",
        code="`kernel[grid](x)`",
    )
    TRITON_KERNEL_WHY = Sentence(
        "Non-strict export runs the Python, including the launch. Wrap it in an op: "
        "`torch.library.triton_op`, with `torch.library.wrap_triton` around the kernel. "
        "Strict mode traces the launch, but torch cannot save such a program."
    )
    READS_VALUES = Sentence(
        "{code} {does} tensor values, and fake tensors have none.",
        code='`f"at most {x.max():.2f}"`',
        does="formats",
    )


class LoopOnData(Rule, kind=Kind.LOOP_ON_DATA):
    """The number of iterations of a loop depends on tensor values.

    ## Example

    ```python
    import explorer
    import torch

    def halved(x, steps):
        for _ in range(steps.item()):
            x = x * 0.5
        return x


    ex = explorer.explore(halved, (torch.ones(3), torch.tensor(3)))
    ```

    ## What to do

    Use `torch.while_loop`, a closed form, or an op on the whole tensor. If the length is known,
    pass it as an int. A loop that only computes values is rewritten with `while_loop` for you. A
    loop over selected indices, such as the experts of a mixture that have tokens, can run over all
    of them.

    ## Why

    Tracing unrolls a Python loop. Without a known length there is nothing to unroll.
    """

    NUMBER = Sentence(
        "The length of this loop depends on `{asked}`, which is data-dependent and unknown "
        "while tracing.",
        asked="range(steps.item())",
    )
    PACKED_SEQUENCE = Sentence(
        "{called} uses a PackedSequence: its number of rows at each step depends on the "
        "values of the lengths.",
        called="`self.rnn(packed)`",
    )
    PACKED_SEQUENCE_WHY = Sentence(
        "torch.export traces the model once, without values, and the sizes of a "
        "PackedSequence are values. Pass the padded tensor to the RNN, and select each row's "
        "outputs by its length: with a mask, or with `gather` for the last step."
    )
