"""Failures on sizes and shapes."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class ExampleOutOfRange(Rule, kind=Kind.EXAMPLE_OUT_OF_RANGE):
    """The example input has a size that the requested range does not contain, so torch.export
    cannot trace it as a value of that dim.

    ## Example

    ```python
    import explorer
    import torch

    def double(x):
        return x * 2


    ex = explorer.explore(double, (torch.ones(10),), dynamic_shapes="x: rows[11..18]")
    ```

    ## What to do

    Widen the range so that it holds the example's size, or export with an example within the range.
    Export Explorer offers both.

    ## Why

    The example is one of the calls that the program must accept. A range that excludes it
    contradicts the call.
    """

    PINNED_ELSEWHERE = Sentence("{said}.", said="b is pinned to 4, but is 10 in the example")
    PINNED_ELSEWHERE_WHY = Sentence(
        "The model is traced with the example, so a pinned size must match the example."
    )
    EXAMPLE_OUTSIDE = Sentence(
        "{name_of} is {example} in the example, outside the requested range {low} to {high}.",
        name_of="b",
        example="10",
        low="11",
        high="18",
    )
    EXAMPLE_OUTSIDE_WHY = Sentence(
        "The model is traced with the example, so the example must lie within the range."
    )


class ShapesViolated(Rule, kind=Kind.SHAPES_VIOLATED):
    """Tracing found a condition on sizes that the requested shapes do not promise: two dims must be
    equal, one follows from another, or the code fixes a size.

    ## Example

    ```python
    import explorer
    import torch

    def product(x, y):
        return x @ y


    x, y = torch.ones(8, 16), torch.ones(16, 32)
    ex = explorer.explore(product, (x, y), dynamic_shapes="x: a, b; y: c, d")
    ```

    ## What to do

    Give dims that must be equal the same name (`x: a, b; y: b, d`), write a derived dim as a
    formula, or let torch decide with `*`. Export Explorer solves the conditions and offers the
    shapes.

    ## Why

    A named Dim is a statement about every call. Each `if` and each op that needs a relation between
    sizes adds a guard; the shapes must imply all of them.
    """

    FIXED_WHY = Sentence(
        "While tracing, this line needed a concrete int: for a comparison, a loop count or "
        "the size of another tensor. The program is then correct for that size only."
    )
    MULTIPLE_WHY = Sentence(
        "The code divides this size and requires no remainder, so not every size works."
    )
    RANGE_WHY = Sentence(
        "The code branches on this size. The trace follows the branch that the example takes, "
        "and is correct for the sizes that take it."
    )
    EQUAL_WHY = Sentence("The code requires these two sizes to be equal, so they need one name.")
    DERIVED_WHY = Sentence(
        "The code computes one of these sizes from the other, so one has to be derived."
    )
    TIED_WHY = Sentence("The code relates several sizes in a way that Dims cannot express.")
    INNER_ONE_WHY = Sentence(
        "Size 1 broadcasts, so torch specializes on it, even for sizes computed inside "
        "the model. The program is correct as long as none of them is 1."
    )
    LOOP_WHY = Sentence(
        "Tracing unrolls a Python loop, so its length is specialized. Replace a loop over a "
        "dynamic size with an op over the whole tensor, or with torch's scan or while_loop."
    )
    REFUSAL_WHY = Sentence("The size is fixed in eager too: the model raises for other values.")
    FORWARD_DERIVATIVE_WHY = Sentence(
        "Forward-mode derivatives are traced with the sizes of the example. Write the "
        "derivative out, or take it outside the model."
    )
    PIECES_WHY = Sentence(
        "A program has a fixed number of tensors, so splitting a tensor specializes the size "
        "that decides how many. Use an op over the whole tensor, or torch.tensor_split, which "
        "returns the same number of pieces for every size."
    )
    SIZE_AS_KEY = Sentence(
        "{listed} cannot be dynamic: {said} uses a dynamic size as a key.",
        listed="x.shape[0]",
        said="`cache[n]`",
    )
    SIZE_AS_KEY_WHY = Sentence(
        "A SymInt is not hashable. Compute the value from the size, or keep the values in a "
        "tensor and index it with the size."
    )
    ONE_NAME = Sentence(
        "{place} and {place2} are both {named} {name}, and are {example} and {example2} in the "
        "example.",
        place="x.shape[0]",
        place2="y.shape[0]",
        named="called",
        name="n",
        example="5",
        example2="6",
    )
    ONE_NAME_WHY = Sentence(
        "A name means the same size everywhere. If these sizes are related, derive one from the "
        "other, as in `{name} + 1`; if not, give them different names.",
        name="n",
    )
    UNPROVED = Sentence(
        "torch cannot prove{said} for every size in the range.", said=" that h*w is a multiple of 4"
    )
    UNPROVED_WHY = Sentence(
        "The condition holds at the sizes that were tried, but a Dim needs a proof. With "
        "Dim.AUTO the condition becomes a runtime assertion of the program."
    )
    VIOLATED = Sentence(
        "{first}{because}.{more}",
        first="dy must be dx + 1",
        because="",
        more=" Also: x.shape[1] must be 4.",
    )
    SIZE_AS_TEXT = Sentence(
        "{called} formats a dynamic size as a number, but while tracing it is a symbol.",
        called='`f"{n:d}"`',
    )
    SIZE_AS_TEXT_WHY = Sentence(
        "A dynamic size is a SymInt while tracing. `str` accepts it; a format such as `:d` "
        "needs a concrete int."
    )


class ZeroOne(Rule, kind=Kind.ZERO_ONE):
    """A dim that should be dynamic has size 0 or 1 in the example. torch specializes these sizes,
    because broadcasting and emptiness change what ops do.

    ## Example

    ```python
    import explorer
    import torch

    def double(x):
        return x * 2


    ex = explorer.explore(double, (torch.ones(1, 4),), dynamic_shapes="x: batch, _")
    ```

    ## What to do

    Use an example of size 2 or more, or make the dim static. On torch 2.14 and newer, a ShapesSpec
    (`--spec`) keeps sizes unbacked and does not specialize them.

    ## Why

    A size of 1 broadcasts and a size of 0 is empty. Code for other sizes would be wrong for them,
    so torch needs an example that is neither.
    """

    SENTENCE = Sentence(
        "{names} {is_} {values} in the example{made_of}, and torch specializes on sizes 0 and 1.",
        names="x.shape[0]",
        is_="is",
        values="1",
        made_of="",
    )
    WHY = Sentence(
        "Size 1 broadcasts and size 0 is empty, so torch specializes on both (0/1 "
        "specialization). An example of size 2 or more keeps the size dynamic; the program "
        "then often accepts size 1."
    )


class UnbackedSize(Rule, kind=Kind.UNBACKED_SIZE):
    """The code branches on a size that a ShapesSpec left unbacked. The program must be correct for
    every size, so neither branch can be chosen. ShapesSpec needs torch 2.14.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            if x.shape[0] > 100:
                return x.sin()
            return x.cos()


    ex = explorer.explore(Model(), (torch.ones(5, 3),), dynamic_shapes="x: rows, _; unbacked")
    ```

    ## What to do

    State what the code relies on, as an assumption of the spec: `rows <= 100`. Export Explorer
    offers it. Or use Dims, which follow the example's branch and add a guard.

    ## Why

    A size of a Dim has the example's value as a hint, and a condition on it becomes a guard. An
    unbacked size has no hint, so torch cannot evaluate the condition.
    """

    PIECES = Sentence(
        "{code} returns a number of tensors that depends on {sizes}, and {unbacked}: every size "
        "that the ShapesSpec allows is possible.",
        code="`x.split(n)`",
        sizes="`n`",
        unbacked="`n` is unbacked",
    )
    CONDITION = Sentence(
        "{code} needs to know whether `{text}`, and {unbacked}: every size that the ShapesSpec "
        "allows is possible.",
        code="This `if`",
        text="n > 4",
        unbacked="`n` is unbacked",
    )
    LOOP = Sentence(
        "The length of the loop over {code} depends on `{text}`, and {unbacked}: every size that "
        "the ShapesSpec allows is possible.",
        code="`range(n)`",
        text="n",
        unbacked="`n` is unbacked",
    )
    NUMBER = Sentence(
        "{code} needs `{text}` as a concrete int, and {unbacked}: every size that the ShapesSpec "
        "allows is possible.",
        code="`int(n)`",
        text="n",
        unbacked="`n` is unbacked",
    )
    WHY = Sentence(
        "The program must be correct for every size that the ShapesSpec allows, including 0 "
        "and 1, so tracing ignores the example's size. Assume one branch, or keep both with "
        "torch.cond."
    )


class ShapesMismatch(Rule, kind=Kind.SHAPES_MISMATCH):
    """The dynamic shapes have a different structure from the arguments: an input that does not
    exist, or a different number of dims.

    ## Example

    ```python
    import explorer
    import torch

    def double(x):
        return x * 2


    ex = explorer.explore(double, (torch.ones(3, 4),), dynamic_shapes={"x": {0: "rows"}, "y": None})
    ```

    ## What to do

    Name each argument as the function does, with one entry per dim. The short language uses names:
    `x: rows, _`.

    ## Why

    `dynamic_shapes` mirrors the arguments: the same names, the same nesting, one spec per tensor.
    """

    SENTENCE = Sentence(
        "The `dynamic_shapes` do not fit this call: {reason}.", reason="there is no input `z`"
    )
    WHY = Sentence(
        "The call's inputs are {names}. Each needs an entry of the same structure, with one "
        "entry per dim of a tensor. `*args` needs a tuple, and each keyword in `**kwargs` an "
        "entry under its own name.",
        names="`x`, `y`",
    )
