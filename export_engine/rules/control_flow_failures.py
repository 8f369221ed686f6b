"""Failures of control flow operators."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


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

    Let both return the same structure with the same dtypes and shapes, for example with
    `.to(x.dtype)`.

    ## Why

    The ops after `torch.cond` are compiled once. They need one type, whichever branch ran.
    """


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

    Branches are graphs of their own, and they are functional: results leave only as outputs.
    """


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


class CondSideEffect(Rule, kind=Kind.COND_SIDE_EFFECT):
    """A branch of `torch.cond` changes something outside of itself: a list, an attribute, a global.

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

    Return what is to be kept as another output of both branches.

    ## Why

    Both branches are traced, but only one is run. A side effect while tracing would happen for
    both, and never again.
    """
