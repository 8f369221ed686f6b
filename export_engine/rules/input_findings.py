"""Findings on inputs."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class UnusedInput(Rule, kind=Kind.UNUSED_INPUT):
    """No op of the program reads this input's values, so it does not affect the result.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x, y):
        return x.sin() + len(y.shape)


    ex = explorer.explore(forward, (torch.ones(3, 4), torch.ones(3, 4)))
    ```

    ## What to do

    Check whether the input should matter: tracing may have taken a branch that skips a mask. If it
    should not, remove the input.

    ## Why

    Python can read an input while tracing, such as its number of dims, without leaving an op.
    """

    SENTENCE = Sentence("No op of the program reads its input `{name}`.", name="x")
    WHY = Sentence(
        "Callers must pass it, but its values change nothing. If the model should read it, "
        "look for the branch that tracing took."
    )


class OverlappingInputs(Rule, kind=Kind.OVERLAPPING_INPUTS):
    """Two inputs of the example share memory. The program was traced as if they did not.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x, y):
        return x.mul(2) + y


    memory = torch.ones(4, 4)
    ex = explorer.explore(forward, (memory[:3], memory[1:]))
    ```

    ## What to do

    Export with separate inputs, and do not rely on a write to one being visible in the other.

    ## Why

    Eager sees a write through either. The program's inputs are independent.
    """

    READ_WHY = Sentence(
        "torch.export assumes that inputs do not overlap. Neither is mutated, so the program "
        "is correct; a backend that mutates its inputs may not be."
    )
    WRITTEN_WHY = Sentence(
        "In eager, a write to `{written}` is visible in the other. The program was traced as "
        "if they did not overlap. Pass copies, or one tensor and let the model take views.",
        written="x",
    )
    SENTENCE = Sentence(
        "`{one}` and `{other}` overlap in memory in the example.", one="x", other="y"
    )


class WrittenInput(Rule, kind=Kind.WRITTEN_INPUT):
    """The model writes to one of its inputs, and so does the program.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            x[0].add_(1)
            return x * 2


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    If that is not intended, work on a copy: `x = x.clone()`.

    ## Why

    The graph is functional: the new value is an output, which is copied into the input after each
    call. Some backends do not do this.
    """

    SENTENCE = Sentence(
        "The program writes to its input `{path}`, so the caller's tensor changes.", path="x"
    )
    WHY = Sentence(
        "Some backends copy their inputs, and then the caller does not see the write. Work on "
        "a copy, `x.clone()`, or return the result."
    )


class SharedInput(Rule, kind=Kind.SHARED_INPUT):
    """The example passes the same tensor for several inputs; the program may treat them as one.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x, y):
        return x + 2 * y


    x = torch.ones(3, 4)
    ex = explorer.explore(forward, (x, x))
    ```

    ## What to do

    Export with different tensors: `x.clone()`.

    ## Why

    Tracing identifies inputs by tensor identity, so a tensor that is passed twice can become one
    input.
    """

    SENTENCE = Sentence(
        "{names} and `{last}` are the same tensor in the example, and the program reads only "
        "`{last}`.",
        names="`x`",
        last="y",
    )
    WHY = Sentence(
        "Tracing identifies inputs by tensor identity. Called with different tensors, the "
        "program ignores all but the last."
    )
    FIX = Sentence("Keeps the example's values; only the tensors differ.")
