"""Lesson 2: what goes into a program, what it holds, what it changes."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "Reading a graph and a signature",
    name="reading_a_graph_and_a_signature",
    after="Next: `03_strict_and_non_strict.ipynb`.",
)

_COUNTED = """
class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {counts}
        return x * {factor}

%export --as mine Counted()(x)
"""


def _count_text(made: str, counts: str, factor: str = "self.calls") -> str:
    return _COUNTED.format(made=made, counts=counts, factor=factor)


@lesson.exercise(
    "1",
    hints=(
        "Open Signature above. The Kind column shows the kind of each input.",
        "A parameter or buffer is identified by its path in the model: `lin.weight`, not the "
        "name of a box.",
        "Three tensors belong to the model. Two of them are the parameters of `lin`.",
    ),
    solution='held = ["lin.weight", "lin.bias", "mean"]',
    wrong=(
        'held = ["lin.weight", "lin.bias"]',
        'held = ["lin"]',
        'held = ["lin.weight", "lin.bias", "mean", "x"]',
        'held = ["weight", "bias", "mean"]',
    ),
)
def lists_what_is_held(answer: Answer) -> None:
    """List the tensors that the program holds, by their paths in the model."""
    if not isinstance(answer.value, list | tuple | set):
        raise Wrong('Pass a list of names: `["...", "..."]`.')
    texts = {str(value) for value in answer.value}
    wanted = _held(_Centred(), torch.randn(2, 8))
    if "x" in texts:
        raise Wrong("`x` is passed in with each call. Which tensors does the program itself own?")
    unknown = texts - wanted
    if unknown:
        raise Wrong(f"There is no `{min(unknown)}`. Look at the targets in Signature.")
    if texts != wanted:
        raise Wrong(f"{len(wanted - texts)} more belong to the model.")


@lesson.exercise(
    "2",
    hints=(
        "`self.calls = 0` is a Python number. It is 1 while tracing, and 1 is baked into "
        "the program.",
        "A tensor that belongs to the model but is not trained is a buffer: "
        '`self.register_buffer("calls", torch.tensor(0))`.',
        "Change the buffer in place: `self.calls += 1` on a tensor, or `self.calls.add_(1)`.",
    ),
    solution=_count_text('self.register_buffer("calls", torch.tensor(0))', "self.calls += 1"),
    wrong=(
        _count_text("self.calls = 0", "self.calls += 1"),
        _count_text('self.register_buffer("calls", torch.tensor(1))', "pass"),
        _count_text('self.register_buffer("calls", torch.tensor(0))', "self.calls += 2"),
        _count_text(
            'self.register_buffer("calls", torch.tensor(0))', "self.calls += 1", "self.calls * 2"
        ),
    ),
)
def counts_in_a_buffer(answer: Answer) -> None:
    """Make the program count its calls, in a buffer that it changes."""
    program = answer.program
    if not program.run_decompositions({}).graph_signature.buffers_to_mutate:
        raise Wrong("The program does not mutate a buffer. The count was baked in while tracing.")
    module = program.module()
    x = torch.full(tuple(answer.record.probe.inputs[n].example for n in range(2)), 3.0)
    for call in (1, 2, 3):
        if not torch.equal(module(x), x * call):
            raise Wrong(f"Call {call} should return `x * {call}`, but does not.")


@lesson.exercise(
    "3",
    hints=(
        "`forward` may return a tuple, a list or a dict. The program returns the same structure.",
        '`return {"hidden": ..., "scores": ...}`',
    ),
    solution="""
class Scored(torch.nn.Module):
    def forward(self, x):
        hidden = x.tanh()
        return {"hidden": hidden, "scores": hidden.sum(-1)}

%export --as named Scored()(x)
""",
    wrong=(
        """
class Scored(torch.nn.Module):
    def forward(self, x):
        hidden = x.tanh()
        return hidden, hidden.sum(-1)

%export --as named Scored()(x)
""",
        """
class Scored(torch.nn.Module):
    def forward(self, x):
        hidden = x.tanh()
        return {"scores": hidden.sum(-1)}

%export --as named Scored()(x)
""",
        """
class Scored(torch.nn.Module):
    def forward(self, x):
        hidden = x.tanh()
        return {"hidden": hidden.sum(-1), "scores": hidden}

%export --as named Scored()(x)
""",
    ),
)
def names_its_outputs(answer: Answer) -> None:
    """Return both results under names: `hidden` and `scores`."""
    value_types = {
        output.path: value for output, value in answer.outputs() if output.kind == "user_output"
    }
    if set(value_types) != {"hidden", "scores"}:
        names = ", ".join(f"`{name}`" for name in value_types if name)
        if not names:
            raise Wrong("There is one output, and it has no name.")
        raise Wrong(f"The outputs are called {names}.")
    sizes = [size.example for size in answer.record.probe.inputs]
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(2))
    answer.agrees_with(_score, (x,))


class _Centred(torch.nn.Module):
    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(8, 4)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h: torch.Tensor = self.lin(x - self.mean)
        return h.relu_() * 2


def _score(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"hidden": x.tanh(), "scores": x.tanh().sum(-1)}


def _held(model: torch.nn.Module, x: torch.Tensor) -> set[str]:
    """The tensors that a program of the model holds."""
    specs = torch.export.export(model, (x,)).graph_signature.input_specs
    return {spec.target for spec in specs if spec.target is not None}
