"""Findings on sizes."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class FixedSize(Rule, kind=Kind.FIXED_SIZE):
    """A size that was left to torch (`*`) became a constant, because the code branches on it.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return x.sin() if x.shape[0] == 3 else x.cos()


    ex = explorer.explore(forward, (torch.ones(3, 4),), dynamic_shapes="x: *, _")
    ```

    ## What to do

    Remove the condition, or request a named dim, which fails with the reason instead of
    specializing.

    ## Why

    `*` (Dim.AUTO) accepts what tracing finds. A guard that only one size satisfies makes it static.
    """

    ZERO_ONE_WHY = Sentence(
        "torch specializes on sizes 0 and 1. Export with an example of size 2 or more."
    )
    CONDITION_WHY = Sentence(
        "The code evaluates `{condition}`, which specializes the size.", condition="x.shape[0] == 3"
    )
    UNNAMED_WHY = Sentence(
        "torch specialized it while tracing. Name the dim instead of `*` to see why."
    )
    SENTENCE = Sentence(
        "`{size}` was requested to be dynamic, but the program accepts only {example}.",
        size="x.shape[0]",
        example="1",
    )
    FIX = Sentence("Repeats the example's values.")


class HiddenCondition(Rule, kind=Kind.HIDDEN_CONDITION):
    """The program rejects sizes within its ranges: a guard relates sizes in a way that a range
    cannot express.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        a, b = x.shape[0] // 8, x.shape[1] // 8
        return x.sin() if a * b == 16 else x.cos()


    ex = explorer.explore(forward, (torch.ones(32, 32),), dynamic_shapes="x: *, *")
    ```

    ## What to do

    Read the guard in Shapes, and call the program only with sizes that satisfy it, or remove the
    branch.

    ## Why

    `range_constraints` has one interval per symbol. Guards over several symbols are only in the
    program.
    """

    REJECTS_SIZES = Sentence(
        "The program rejects nearly every size within its ranges: it asserts `{rule}`.",
        rule="h*w == 16",
    )
    REJECTS_SIZES_WHY = Sentence(
        "Each range bounds only one size. The program also checks this guard at run "
        "time, and few sizes satisfy it."
    )
    REJECTS_EXAMPLE = Sentence(
        "The program rejects the example itself: it asserts `{rule}`.", rule="n <= 4"
    )
    REJECTS_EXAMPLE_WHY = Sentence(
        "Under a ShapesSpec, tracing ignores the example's sizes, so torch does not compare "
        "them with the bounds and assumptions. The program does, on each call."
    )


class WrongSize(Rule, kind=Kind.WRONG_SIZE):
    """The program differs from the model at a size that it accepts. Verify ran both there.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        if x.shape[0] == 1:
            return x * 100
        return x * 2


    ex = explorer.explore(forward, (torch.ones(3, 4),), dynamic_shapes="x: batch, _")
    ex.verify()
    ```

    ## What to do

    Apply a fix: torch.cond keeps both branches, torch's options make the program reject the size,
    and `batch[2..]` excludes it. torch itself does not reject a call at 0 or 1.

    ## Why

    torch traces as if no size were 0 or 1, and takes the branch of larger sizes. The program
    still accepts 0 and 1.
    """


class UntracedBranch(Rule, kind=Kind.UNTRACED_BRANCH):
    """The code tests a size. torch decided the test for sizes of 2 or more, but the program accepts
    0 or 1.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        if x.shape[0] == 1:
            return x * 100
        return x * 2


    ex = explorer.explore(forward, (torch.ones(3, 4),), dynamic_shapes="x: batch, _")
    ```

    ## What to do

    Run Verify: it compares the program with eager at these sizes, and offers fixes if they differ.
    Or exclude the size, as in `batch[2..]`.

    ## Why

    torch traces as if no size were 0 or 1. The other branch is not in the program, and no guard
    rejects the size.
    """

    SENTENCE = Sentence(
        "`{test}` was decided for sizes of 2 or more, and the program also accepts {sizes}.",
        test="x.shape[0] == 1",
        sizes="batch = 1",
    )
    WHY = Sentence(
        "torch traces as if no size were 0 or 1, so the other branch is not in the program."
    )
    UNDECIDED = Sentence(" Verify compares the program with eager at these sizes.")
    AGREES = Sentence("Verify compared the program with eager at these sizes, and they agree. ")
