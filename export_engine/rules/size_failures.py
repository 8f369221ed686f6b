"""Failures on sizes and shapes."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


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

    A named Dim is a promise about every call. Each `if` and each op that needs a relation between
    sizes adds a guard; the shapes must imply all of them.
    """


class ZeroOne(Rule, kind=Kind.ZERO_ONE):
    """A dim that is to be dynamic has size 0 or 1 in the example. torch specializes these sizes,
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
    so torch asks for an example that is neither.
    """


class UnbackedSize(Rule, kind=Kind.UNBACKED_SIZE):
    """The code decides something by a size that a ShapesSpec left unbacked: the program must hold
    for every size, so neither side can be chosen. ShapesSpec needs torch 2.14.

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
    offers it. Or use Dims, which take the side of the example and add a guard.

    ## Why

    A size of a Dim has the example's value as a hint, and a decision on it becomes a guard. An
    unbacked size has no hint, so there is nothing to decide by.
    """


class ShapesMismatch(Rule, kind=Kind.SHAPES_MISMATCH):
    """The dynamic shapes have a different structure from the arguments: an input that is not there,
    or another number of dims.

    ## Example

    ```python
    import explorer
    import torch

    def double(x):
        return x * 2


    ex = explorer.explore(double, (torch.ones(3, 4),), dynamic_shapes={"x": {0: "rows"}, "y": None})
    ```

    ## What to do

    Name each argument as the function does, with one entry per dim. The short language says it by
    name: `x: rows, _`.

    ## Why

    `dynamic_shapes` mirrors the arguments: the same names, the same nesting, one spec per tensor.
    """
