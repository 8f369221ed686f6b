"""Failures of control flow operators."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class CondBranchesDiffer(Rule, kind=Kind.COND_BRANCHES_DIFFER):
    """The two branches return tensors of different dtype, shape or number, so the result of
    `torch.cond` has no single type.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.long(), (x,))


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Make both return the same structure with the same dtypes and shapes, for example with
    `.to(x.dtype)`.

    ## Why

    The ops after `torch.cond` are compiled once. They need one type, whichever branch ran.
    """

    WHY = Sentence(
        "The code after it must not depend on which branch ran, so all branches return the "
        "same number of tensors, with the same dtype, device and number of dims."
    )
    TENSORS_DIFFER = Sentence(
        "The branches of `{operator}` return tensors that differ in {what}: {left} and {right}.",
        operator="torch.cond",
        what="number of dims",
        left="2",
        right="0",
    )
    BRANCHES_DIFFER = Sentence(
        "The branches of `{operator}` differ: {reason}.",
        operator="torch.cond",
        reason="one returns a tuple and the other a tensor",
    )
    CARRIED_CHANGES = Sentence(
        "`{operator}` carries a value whose {what} changes: {left} and {right}.",
        operator="while_loop",
        what="dtype",
        left="int64",
        right="float32",
    )
    CARRIED_COUNT = Sentence(
        "The body of `{operator}` returns a different number of values than it carries.",
        operator="while_loop",
    )


class CondMutates(Rule, kind=Kind.COND_MUTATES):
    """A branch of `torch.cond` writes to one of its inputs in place.

    ## Example

    ```python
    import explorer
    import torch

    def positive(x):
        x.add_(1)
        return x.sin()


    def forward(x):
        return torch.cond(x.sum() > 0, positive, torch.cos, (x,))


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Use the functional form: `x = x + 1` in place of `x.add_(1)`.

    ## Why

    Each branch is a separate, functional graph: it returns results only as outputs.
    """

    SENTENCE = Sentence(
        "{part} mutates its input{code}.", part="A branch of `torch.cond`", code=": `x.add_(1)`"
    )
    WHY = Sentence(
        "Each branch is traced into a subgraph that sees only its operands, so it must be "
        "functional. Otherwise the caller would see the mutation from one branch only."
    )


class CondAliases(Rule, kind=Kind.COND_ALIASES):
    """A branch of `torch.cond` returns its input, or a view of it.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        return torch.cond(x.sum() > 0, lambda x: x, lambda x: x.cos(), (x,))


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Return a copy: `x.clone()`.

    ## Why

    If one branch aliased its input and the other did not, later writes would have a different
    effect on each side.
    """

    SHARED_OUTPUTS = Sentence(
        "{part} returns two tensors that share memory. Each must be a new tensor.",
        part="A branch of `torch.cond`",
    )
    SHARED_OUTPUTS_WHY = Sentence(
        "Each branch is traced into a subgraph that sees only its operands, so it must be "
        "functional: no two outputs may alias each other. Return a `.clone()`."
    )
    RETURNS_INPUT = Sentence(
        "{part} returns {what}{code}. It must return a new tensor.",
        part="A branch of `torch.cond`",
        what="its input",
        code=": `x`",
    )
    RETURNS_INPUT_WHY = Sentence(
        "Each branch is traced into a subgraph that sees only its operands, so it must be "
        "functional: its outputs may not alias its inputs. Return a `.clone()`."
    )


class CondSideEffect(Rule, kind=Kind.COND_SIDE_EFFECT):
    """A branch of `torch.cond` changes something outside itself: a list, an attribute, a global.

    ## Example

    ```python
    import explorer
    import torch

    def forward(x):
        seen = []

        def positive(x):
            seen.append(x)
            return x.sin()

        return torch.cond(x.sum() > 0, positive, torch.cos, (x,))


    ex = explorer.explore(forward, (torch.ones(3),))
    ```

    ## What to do

    Return the value as an additional output of both branches.

    ## Why

    Both branches are traced, but only one is run. A side effect while tracing would happen for
    both, and never again.
    """

    SENTENCE = Sentence(
        "{part} has a side effect{code}.",
        part="A branch of `torch.cond`",
        code=": `seen.append(x)`",
    )
    WHY = Sentence(
        "Each branch is traced into a subgraph that sees only its operands, so it must be "
        "functional. A list, an attribute or an outer variable would change in one branch "
        "only."
    )
