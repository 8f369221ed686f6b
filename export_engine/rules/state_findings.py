"""Findings on state and weights."""

from __future__ import annotations

from export_engine.rules.kinds import Kind
from export_engine.rules.rule import Rule, Sentence


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

    AGREES = Sentence(
        "Verify called the model and the program several times in a row, and they agree. "
    )
    LEAKED = Sentence(" Tracing left a fake tensor there; it was removed.")
    CHANGED = Sentence(
        "While tracing, the {state} {summary}.",
        state="global `CALLS`",
        summary="changed from 0 to 1",
    )
    CHANGED_WHY = Sentence(
        "The program is functional: it has none of these side effects, and it reads the "
        "values at export. Your objects are unchanged. Use a buffer for state that "
        "changes.{leak}",
        leak="",
    )
    NOT_RETURNED = Sentence(
        "The new value is not among the outputs, so it is lost. Return it, and use the returned "
        "value."
    )
    RETURNED = Sentence("The new value is among the outputs: use that one.")
    MUTATED = Sentence(
        "The model mutates its input `{name}`: {summary}.", name="cache", summary="`cache.k`"
    )
    MUTATED_WHY = Sentence(
        "The program does not mutate the containers that it receives. {cure}",
        cure="The new value is among the outputs: use that one.",
    )
    SIDE_EFFECTS = Sentence("The model has side effects: {names}.", names="a write to a global")
    WHY = Sentence(
        "The program is functional: it has none of these side effects, and it reads the "
        "values at export. Your objects are unchanged. Use a buffer for state that changes."
    )


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

    The signature lists mutations of buffers and inputs. A constant that changes is undeclared
    state.
    """

    SENTENCE = Sentence(
        "This line writes to a constant of the program, `{target}`.", target="self___held_0"
    )
    WHY = Sentence(
        "Tracing captured the tensor as a constant. The write is lost, or is still there at "
        "the next call. Write to a tensor that `forward` creates or receives, without "
        "`.data`, or register it as a buffer."
    )


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

    Tie them again after loading if you continue training, and expect a larger file.

    ## Why

    The program lists each use by its own name. A later change to one no longer affects the other.
    """

    SENTENCE = Sentence(
        "{names} are tied in the model and separate in the program.",
        names="`embed.weight` and `head.weight`",
    )
    WHY = Sentence("Training or loading one of them in the program leaves the others unchanged.")


class TrainingMode(Rule, kind=Kind.TRAINING_MODE):
    """A module that behaves differently in training, such as dropout, was exported in training
    mode.

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

    `self.training` is a Python flag. The program keeps the behaviour that it was traced with.
    """

    DROPOUT_WHY = Sentence(
        "Dropout stays active, so the program's outputs are random and differ from the model's "
        "in eval mode."
    )
    NORM_WHY = Sentence(
        "It normalizes with the batch statistics instead of the running statistics, and "
        "updates those on each call."
    )
    TRAINING = Sentence(
        "The model was exported in training mode: {what} is in the program{count}.",
        what="dropout",
        count="",
    )
    TRAINING_CURE = Sentence("Call `model.eval()` before exporting for inference.")
    EVAL = Sentence(
        "The model is in eval mode, but {what} is in the program{count}.", what="dropout", count=""
    )
    EVAL_CURE = Sentence("The code ignores the mode: pass `training=self.training`.")


class AliasedBuffers(Rule, kind=Kind.ALIASED_BUFFERS):
    """Two buffers of the model are the same tensor, or overlap in memory, and the program writes to
    it.

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

    Each name is an input of the program. The exported program matches eager, but torch cannot
    decompose a program that writes to one of two inputs that share memory, so most backends reject
    it.
    """

    WHY = Sentence(
        "Each name is an input of the program. torch cannot decompose a program that "
        "writes to such an input, so most backends reject it. Register the tensor once, and use "
        "that name everywhere."
    )
