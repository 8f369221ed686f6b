"""Findings on state and weights."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule


class StateChanged(Rule, kind=Kind.STATE_CHANGED):
    """The code changes an attribute, a list or a global while it is traced. The program does not.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, x):
            y = x.relu()
            self.seen.append(y)
            return y


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Return the value, or keep state in a buffer that is written in place.

    ## Why

    Side effects on Python objects happen once, while tracing. Only writes to tensors become part of
    the program.
    """


class WrittenConstant(Rule, kind=Kind.WRITTEN_CONSTANT):
    """The code writes to a tensor that is a constant of the program, so calls may no longer be
    independent.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.held = [torch.zeros(4)]

        def forward(self, x):
            self.held[0][0] = x.sum()
            return x + self.held[0]


    ex = explorer.explore(Model(), (torch.ones(3, 4),), strict=True)
    ```

    ## What to do

    Register the tensor as a buffer: writes to buffers are part of the signature.

    ## Why

    The signature lists mutations of buffers and inputs. A constant that changes is state that
    nobody declares.
    """


class TiedWeights(Rule, kind=Kind.TIED_WEIGHTS):
    """Two parameters are one tensor in the model, and two in the program.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Linear(4, 4, bias=False)
            self.head = torch.nn.Linear(4, 4, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x):
            return self.head(self.embed(x))


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    state = ex.program.state_dict
    state["head.weight"] = torch.nn.Parameter(state["head.weight"].clone())
    ex.decompose("core")
    ```

    ## What to do

    Tie them again after loading if you train on, and mind the size on disk.

    ## Why

    The program lists each use by its own name. A later change of one no longer changes the other.
    """


class TrainingMode(Rule, kind=Kind.TRAINING_MODE):
    """A module with another behaviour in training, such as dropout, was exported in training mode.

    ## Example

    ```python
    import explorer
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    ex = explorer.explore(model, (torch.ones(3, 4),))
    ```

    ## What to do

    Call `model.eval()` before you export for inference.

    ## Why

    `self.training` is a Python flag. The program has the behaviour of the moment it was traced.
    """


class AliasedBuffers(Rule, kind=Kind.ALIASED_BUFFERS):
    """Two buffers of the model are one tensor, or overlap in memory, and the program writes to it.

    ## Example

    ```python
    import explorer
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(3, 4))
            self.register_buffer("same", self.cache)

        def forward(self, x):
            self.cache.copy_(x)
            return x + self.same


    ex = explorer.explore(Model(), (torch.ones(3, 4),))
    ```

    ## What to do

    Register the tensor once, and use that name everywhere: `self.cache`.

    ## Why

    Each name is an input of the program. The exported program answers like eager, but torch cannot
    decompose a program that writes to one of two inputs that share memory, so most backends refuse
    it.
    """
