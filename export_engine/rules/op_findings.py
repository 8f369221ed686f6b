"""Findings on ops of the program."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class RuntimeCheck(Rule, kind=Kind.RUNTIME_CHECK):
    """The program asserts conditions on values while it runs, and fails if one does not hold.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x, k):
            n = k.item()
            torch._check(n < 3)
            return x + n


    ex = explorer.explore(Model(), (torch.ones(3, 4), torch.tensor([2])))
    ```

    ## What to do

    Nothing, if the conditions are right. Backends that drop asserts will not check them.

    ## Why

    Conditions on unknown values are assumed while tracing and asserted at run time. The assertion
    keeps the program sound.
    """

    SENTENCE = Sentence(
        "The program has runtime assertions on values: {count} {asserts}.",
        count="1",
        asserts="assert",
    )
    WHY = Sentence(
        "Values that are unknown while tracing are checked at run time; a call that violates "
        "a check fails. Some backends drop such assertions."
    )


class Random(Rule, kind=Kind.RANDOM):
    """The program draws random numbers, so two calls differ, and it differs from eager unless both
    are seeded.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x + torch.randn_like(x)


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Pass the noise as an input if results must be reproducible.

    ## Why

    Random ops stay in the graph. A generator is not part of a program's state.
    """

    SENTENCE = Sentence(
        "The program draws random numbers: {names}.", names="`aten.dropout.default`"
    )
    WHY = Sentence(
        "Two calls return different outputs, and other backends draw different numbers from the "
        "same seed."
    )


class Synchronises(Rule, kind=Kind.SYNCHRONISES):
    """An op's result, or its size, depends on tensor values: on a GPU the host waits for them.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x[x > 0].sum()


    ex = explorer.explore(forward, (torch.ones(3, 4),))
    ```

    ## What to do

    Use an op with a fixed output size, such as `torch.where(x > 0, x, 0).sum()`.

    ## Why

    The host must know a size before it can allocate. Some backends reject such ops.
    """

    SENTENCE = Sentence(
        "The host waits for the device at {count} {ops}: {names}.",
        count="1",
        ops="op",
        names="`aten.item.default`",
    )
    WHY = Sentence(
        "Its output, or its size, depends on tensor values. On a GPU the host blocks until they "
        "are computed, and some backends do not support such ops."
    )


class Predicate(Rule, kind=Kind.PREDICATE):
    """The predicate of `torch.cond` has more than one element; the program may take either branch,
    or fail.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return torch.cond(x > 0, torch.sin, torch.cos, (x,))


    ex = explorer.explore(forward, (torch.ones(3),), strict=True)
    ```

    ## What to do

    Reduce it to one element, with `.any()` or `.all()`.

    ## Why

    A branch is taken once for the whole call.
    """

    SENTENCE = Sentence("The predicate of this `torch.cond` has several elements.")
    WHY = Sentence(
        "torch.cond takes a one-element predicate. Strict mode accepts this one, and the "
        "program fails when called."
    )
