"""Failures because Python needs a data-dependent value."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


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

    Keep the number a tensor and use `torch.cond` or `torch.where`, or state the condition with
    `torch._check(k > 5)` if only one side is wanted.

    ## Why

    `.item()` gives an unbacked symbol. Arithmetic on it is recorded; a decision on it needs a value
    that tracing does not have.
    """


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

    Use `torch._assert_async` or `torch._check` on what the program itself is to test, or remove the
    assert. Strict mode turns it into a runtime assertion.

    ## Why

    An `assert` is a branch that raises. To keep it, it must be an op of the graph.
    """


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

    Keep the value a tensor: `x * x.sum()`. Where Python needs it, compute it outside of the
    exported module and pass it in.

    ## Why

    Only tensors and symbolic numbers flow through a graph. Text, and numbers made from it, would be
    constants of the example.
    """


class LoopOnData(Rule, kind=Kind.LOOP_ON_DATA):
    """A loop runs as often as the values of a tensor say.

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
