"""Runs a command of `%export`: makes an exploration, then runs the requested actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import explorer
from explorer.cli.skipped_options import left_undone
from explorer.comparing.contracts import compare_contracts
from explorer.session.notebook_cells import cell_names
from explorer.text.run_text import amount
from explorer.text.validate_options import check_ahead
from kernel_ext.call import Call
from kernel_ext.command import Command
from kernel_ext.errors import ExportUsageError
from kernel_ext.evaluate import Evaluated, evaluate, line_file
from kernel_ext.guiding import Steps
from kernel_ext.progress import ProgressLine

LAST = "_export"
"""The variable that always holds the last result."""


@dataclass(frozen=True)
class Asked:
    """A command, and the objects that it names."""

    command: Command
    call: Call
    target: Evaluated
    shapes: Any
    """The dynamic shapes, as text or as torch accepts them."""
    steps: Steps | None = None
    """Where the steps of a guide are shown; None for a command without `--guide`."""


def refuse_early(command: Command, names: Mapping[str, Any]) -> None:
    """Raises the errors of later steps that are known before the export.

    Raises:
        ValueError: the decomposition table, the device, a backend or a variable is unknown.
        OSError: a file cannot be written where it should be.
    """
    table = _table(command.decompose, names) if command.decompose else None
    if command.diff:
        find_program(command.diff, names)
    check_ahead(table, [command.save, command.html], command.run, command.backend)


def export_call(asked: Asked, shell: Any, progress: ProgressLine) -> explorer.Exploration:
    """Exports the call, as the command says how."""
    command, target = asked.command, asked.target
    common = _common(asked, shell, progress)
    if command.joint:
        return explorer.explore(*target, title=common["title"], cells=common["cells"], joint=True)
    if asked.steps is None:
        return explorer.explore(
            *target,
            **common,
            both=command.mode == "both",
            fix=command.fix,
            spec=command.spec,
            without_weights=command.without_weights,
        )
    guided = explorer.guide(
        *target,
        **common,
        report=command.html,
        name=command.name or asked.call.assigned or LAST,
        tell=asked.steps,
    )
    assert guided.exploration is not None
    asked.steps.offer(guided)
    return guided.exploration


def generate_programs(asked: Asked, shell: Any, progress: ProgressLine) -> explorer.Programs:
    """Cuts the called model into programs, and generates with them.

    Raises:
        TypeError: the call gives more than `generate()` takes by name.
    """
    model, args, kwargs = asked.target
    if args:
        raise TypeError(
            "--generate needs the arguments of generate(), by name: %export --generate "
            "model(**inputs)."
        )
    common = _common(asked, shell, progress)
    model = getattr(model, "__self__", model)  # model.generate(**inputs) means the same
    kit = explorer.explore_generation(
        model,
        kwargs,
        bounds=asked.command.dynamic or "",
        title=common["title"],
        cells=common["cells"],
        progress=progress,
    )
    if kit.ok:
        kit.generate(progress=progress)
    return kit


def beside_compile(
    asked: Asked, shell: Any, progress: ProgressLine
) -> explorer.typing.CompileComparison:
    """Exports the call, and shows beside it what torch.compile does with it."""
    common = _common(asked, shell, progress)
    return explorer.compare_with_compile(*asked.target, **common, sizes=asked.command.sizes)


def _common(asked: Asked, shell: Any, progress: ProgressLine) -> dict[str, Any]:
    call = asked.call
    return {
        "dynamic_shapes": asked.shapes,
        "strict": asked.command.mode == "strict",
        "title": " ".join(line.strip() for line in call.text.splitlines()),
        "cells": {**cell_names(shell), line_file(call.source): "%export"},
        "progress": progress,
    }


def add_to_set(
    exploration: explorer.Exploration, command: Command, names: Mapping[str, Any]
) -> explorer.Programs:
    """The set that a command adds its program to.

    Raises:
        TypeError: the variable holds something else.
        ValueError: a program cannot have this name.
    """
    kit, program = names.get(command.into or ""), command.program or ""
    if kit is None:
        return explorer.Programs({program: exploration})
    if not isinstance(kit, explorer.Programs):
        raise TypeError(
            f"--into {command.into}: {command.into} is a {type(kit).__name__}, not a set of "
            "programs. Name a new variable, or one that %export --into created."
        )
    kit.add(program, exploration)
    return kit


def act_on_set(kit: explorer.Programs, command: Command, progress: ProgressLine) -> list[str]:
    """Runs a command's actions on all programs of a file: verify, write a report.

    Returns:
        A line for each file that was written.

    Raises:
        ValueError: what is asked is done to one program only.
    """
    for option, asked in (
        ("--decompose", command.decompose),
        ("--run", command.run),
        ("--profile", command.profile),
        ("--delegate", command.delegate),
        ("--stages", command.stages),
    ):
        if asked:
            raise ValueError(
                f"{command.load or command.call} has {len(kit)} programs, but {option} needs one: "
                f"kit = explorer.load(path), then kit[{next(iter(kit))!r}]."
            )
    if command.verify:
        kit.verify(progress=progress)
    written = [kit.save(command.save, kind=".pt2")] if command.save else []
    written += [kit.save(command.html, kind=".html")] if command.html else []
    return [f"Saved {file} ({amount(file.stat().st_size)})" for file in written]


def act(
    exploration: explorer.Exploration,
    command: Command,
    names: dict[str, Any],
    progress: ProgressLine,
) -> list[str]:
    """Runs a command's actions on a result: decompose, verify, run, save.

    Args:
        exploration: the result.
        command: what is asked.
        names: the user's variables.
        progress: told how far it is.

    Returns:
        How the two forms of the contract compare, what a backend takes, and the stages, each where
        that was asked for and nothing else shows it; a line for each file that was written, and one
        for what a failed export leaves undone.
    """
    written, compared, told, stages = [], "", "", ""
    if exploration.ok:
        if command.contracts:
            compared = str(compare_contracts(exploration.session, progress))
        if command.decompose:
            exploration.decompose(_table(command.decompose, names), progress=progress)
        if command.verify and not command.guide:
            exploration.verify(progress=progress)
        if command.run:
            client = evaluate(command.on, names) if command.on else None
            exploration.run(command.run, command.backend, on=client, progress=progress)
        if command.profile:
            exploration.cost().measure(command.run or "cpu", progress=progress)
        if command.stages:
            device = command.run or "cpu"
            stages_result = exploration.stages(command.stages, device=device, progress=progress)
            stages = "" if command.display else str(stages_result)
        if command.delegate:
            told = str(exploration.delegate(command.delegate, progress))
        if command.save:
            written.append(exploration.save(command.save, kind=".pt2"))
    if command.html and not (command.guide or command.diff):
        written.append(exploration.save(command.html, kind=".html"))
    saved = [f"Saved {file} ({amount(file.stat().st_size)})" for file in written]
    undone = "" if exploration.ok else left_undone(command)
    return [text for text in (compared, told, stages, *saved, undone) if text]


def compare(
    result: explorer.Exploration | explorer.Programs, command: Command, names: Mapping[str, Any]
) -> explorer.typing.Comparison | explorer.typing.SetComparison | None:
    """What `--diff` asks for: how another program differs from this, the later of both.

    Returns:
        None where nothing was asked, or the export failed.

    Raises:
        TypeError: the variable holds no program.
        ValueError: one is a set, and one is not.
    """
    if not command.diff or (isinstance(result, explorer.Exploration) and not result.ok):
        return None
    comparison = explorer.diff(find_program(command.diff, names), result)
    if command.html and isinstance(comparison, explorer.typing.Comparison):
        comparison.save(command.html)
    return comparison


def find_program(word: str, names: Mapping[str, Any]) -> Any:
    """The value of a word: a variable, else the path of a file.

    Raises:
        ExportUsageError: there is no such variable.
    """
    if word in names:
        return names[word]
    if word.isidentifier():
        raise ExportUsageError(f"There is no variable {word}. Pass two results, or .pt2 files.")
    return word


def _table(word: str, names: Mapping[str, Any]) -> Any:
    """A decomposition table: the user's own, if the word is its name, else the text."""
    held = names.get(word)
    return held if isinstance(held, Mapping) else word
