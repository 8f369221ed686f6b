"""Lesson 11: a program is called, saved, opened elsewhere, and given other weights."""

from __future__ import annotations

from pathlib import Path

import torch

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "Running and packaging",
    name="running_and_packaging",
    after="Next: `12_soundness.ipynb`.",
)


@lesson.exercise(
    "1",
    hints=(
        "Export with a dynamic batch, then `ex.save(path)` writes the file.",
        '`-d "x: batch, _"` lets it vary.',
        "`--save` of the magic accepts no variable, so export with `--as shipped` and call "
        "`shipped.save(path)`.",
    ),
    solution="""
path = folder / "ranked.pt2"
%export -d "x: batch, _" --no-display --as shipped ranked(x)
shipped.save(path)
""",
    wrong=(
        """
path = folder / "fixed.pt2"
%export --no-display --as shipped ranked(x)
shipped.save(path)
""",
        'path = folder / "nothing.pt2"',
        """
path = folder / "other.pt2"
%export -d "x: batch, _" --no-display --as shipped (lambda x: x.softmax(-1))(x)
shipped.save(path)
""",
        """
path = folder / "text.pt2"
_ = path.write_text("no program")
""",
    ),
)
def saves_a_program(answer: Answer) -> None:
    """Save a program of `ranked` that accepts any batch size."""
    if not isinstance(answer.value, str | Path):
        raise Wrong("Pass the path of the file.")
    program = _load_program(Path(answer.value)).module()
    _ranks(program)


@lesson.exercise(
    "2",
    hints=(
        "`torch.export.load(path)` returns a program. A program cannot be called.",
        "`.module()` of a program returns a module that can be called.",
    ),
    solution="loaded = torch.export.load(path).module()",
    wrong=(
        "loaded = torch.export.load(path)",
        "loaded = ranked",
        "loaded = torch.export.load(path).module()(x)",
        "loaded = torch.softmax",
    ),
)
def opens_it_again(answer: Answer) -> None:
    """Open the file, and get a module that can be called."""
    value = answer.value
    if isinstance(value, torch.export.ExportedProgram):
        raise Wrong("That is the program, which cannot be called. It has a module that can.")
    if not isinstance(value, torch.fx.GraphModule):
        raise Wrong("This does not come from a file: it is not the module of a program.")
    _ranks(value)


@lesson.exercise(
    "3",
    hints=(
        "A module loads weights with `load_state_dict`, and so does the module of a program.",
        "`runner.load_state_dict(better)`, on a separate line; it changes the module in place.",
    ),
    solution="""
runner = scored.program.module()
_ = runner.load_state_dict(better)
""",
    wrong=(
        "runner = scored.program.module()",
        "runner = scored.program.module().load_state_dict(better)",
        """
runner = scored.program.module()
_ = runner.load_state_dict({name: 2 * value for name, value in better.items()})
""",
        "runner = lambda rows: rows * 0 + 1",
    ),
)
def takes_other_weights(answer: Answer) -> None:
    """Load the weights `better` into the program of `scored`."""
    runner = answer.value
    if not isinstance(runner, torch.nn.Module):
        raise Wrong("Pass the module of the program, with the weights loaded.")
    rows = torch.arange(12.0).reshape(3, 4)
    wanted = rows.sum(dim=1, keepdim=True) + 0.5
    with torch.no_grad():
        value = runner(rows)
    if value.shape != (3, 1) or not torch.allclose(value, wanted):
        raise Wrong("It does not compute with the weights of `better`.")


def _load_program(path: Path) -> torch.export.ExportedProgram:
    if not path.exists():
        raise Wrong(f"There is no file `{path.name}`.")
    try:
        return torch.export.load(path)
    except Exception as error:
        raise Wrong(f"torch cannot read `{path.name}` as a program.") from error


def _ranks(module: torch.nn.Module) -> None:
    """The module ranks rows of any batch size, and rejects rows of a different width."""
    generator = torch.Generator().manual_seed(12)
    for rows in (2, 5, 30):
        x = torch.randn(rows, 6, generator=generator)
        try:
            value = module(x)
        except Exception as error:
            raise Wrong(f"It rejects a batch of {rows}.") from error
        if not isinstance(value, torch.Tensor) or not torch.equal(value, x.argsort(dim=-1)):
            raise Wrong("It does not compute the same result as `ranked`.")
