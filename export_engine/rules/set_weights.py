"""Findings on weights and constants of a set of programs."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


class SetWeights(Rule, kind=Kind.SET_WEIGHTS):
    """Two programs have a weight of the same name and size, but with different values.

    ## Example

    ```python
    import copy

    import explorer
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 8))
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed[2].bias.add_(1.0)
    x = torch.ones(3, 8)
    ex = explorer.explore_many({"prefill": (model, (x,)), "decode": (changed, (x,))})
    ```

    ## What to do

    Export all programs from one model, at the same state.

    ## Why

    Each program stores its own weights. Changes after an export do not reach it.
    """

    SENTENCE = Sentence(
        "`{mine}` of `{one}` and `{theirs}` of `{other}` should be the same weight, but their "
        "values differ{more}.",
        mine="gate.bias",
        one="prefill",
        theirs="gate.bias",
        other="decode",
        more="",
    )
    WHY = Sentence(
        "Their weights have the same names and sizes, so both programs come from one model, "
        "exported at two different states. Export all programs from one model."
    )


class SetTied(Rule, kind=Kind.SET_TIED):
    """Weights are one tensor in one program, and separate tensors in another.

    ## Example

    ```python
    import copy

    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(16, 8)
            self.head = torch.nn.Linear(8, 16, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(self.embed(ids))


    model = Model()
    copied = copy.deepcopy(model)
    copied.head.weight = torch.nn.Parameter(copied.head.weight.clone())
    ids = torch.tensor([[1, 2]])
    ex = explorer.explore_many({"prefill": (model, (ids,)), "decode": (copied, (ids,))})
    ```

    ## What to do

    Export all programs from one model, with the weights tied.

    ## Why

    Untied weights can be changed, quantized or stored separately.
    """

    SENTENCE = Sentence(
        "{names} are one weight in `{one}`, and {count} in `{other}`{differ}",
        names="`inner.embed.weight` and `inner.head.weight`",
        one="prefill",
        count="2",
        other="decode",
        differ=".",
    )
    WHY = Sentence(
        "Weight tying was lost: one can be changed, quantized or stored without the other. "
        "Export all programs from one model."
    )


class SetCopies(Rule, kind=Kind.SET_COPIES):
    """Several programs store equal weights that do not share memory.

    ## Example

    ```python
    import copy

    import explorer
    import torch

    model, x = torch.nn.Linear(8, 8), torch.ones(3, 8)
    ex = explorer.explore_many({"prefill": (model, (x,)), "decode": (copy.deepcopy(model), (x,))})
    ```

    ## What to do

    Export all programs from one model object: a set stores shared weights once.

    ## Why

    torch.export keeps the tensors that the module has. Copies of a model have separate weights.
    """

    SENTENCE = Sentence(
        "{programs} hold equal copies of {weights}: {spare:,} bytes more than needed.",
        programs="`one`, `other`",
        weights="`weight`",
        spare=128,
    )
    WHY = Sentence(
        "The values are equal but do not share memory: a file, and a process that loads it, "
        "holds one copy per program. Export all programs from one model."
    )


class SetConstant(Rule, kind=Kind.SET_CONSTANT):
    """The same op of one model has a different constant in two programs.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self, linear, base):
            super().__init__()
            self.linear, self.base = linear, base

        def forward(self, x):
            return self.linear(x) * self.base


    linear, x = torch.nn.Linear(8, 8), torch.ones(3, 8)
    ex = explorer.explore_many({
        "prefill": (Model(linear, 10000.0), (x,)),
        "decode": (Model(linear, 500000.0), (x,)),
    })
    ```

    ## What to do

    Export all programs with the same settings of the model.

    ## Why

    A number in `forward`, such as the base of rotary positions, is a constant of each program.
    """

    SENTENCE = Sentence(
        "{op} has {mine} in `{one}`, and {theirs} in `{other}`{more}.",
        op="`aten.pow.Scalar`",
        mine="10000",
        one="prefill",
        theirs="500000",
        other="decode",
        more="",
    )
    WHY = Sentence(
        "The programs come from one model, so they should compute the same function, but "
        "one was exported with different settings."
    )
