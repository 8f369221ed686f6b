"""The command line on a file of several programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from explorer.sets.programs import Programs
from explorer.text.exit_codes import BAD

_OF_ONE = ("decompose", "run", "backend", "profile", "stages", "delegate")


def run_set_command(kit: Programs, asked: argparse.Namespace, say: Callable[[object], None]) -> int:
    """Does what is asked of a set.

    Args:
        kit: the set.
        asked: the parsed arguments.
        say: prints.

    Returns:
        The exit code.

    Raises:
        ValueError: what is asked is done to one program only.
    """
    wrong = [f"--{text}" for text in _OF_ONE if getattr(asked, text)]
    if wrong:
        raise ValueError(
            f"{asked.program} holds {len(kit)} programs, but {wrong[0]} needs one: choose it with "
            f"--model, one of {', '.join(kit)}."
        )
    if asked.verify or asked.ready:
        kit.verify()
    say(kit)
    if asked.verify:
        for name, exploration in kit.items():
            verification = exploration.record.verification
            say(f"{name}: {verification.sentence if verification else 'not checked'}")
    if asked.ready:
        say(f"\n{kit.release_report().called(opening(asked))}")
    if asked.save:
        say(f"written: {kit.save(asked.save, kind='.pt2')}")
    if asked.html:
        say(f"written: {kit.save(asked.html, kind='.html')}")
    if asked.json:
        say(f"written: {kit.save(asked.json, kind='.json')}")
    return _exit_code(kit, asked)


def _exit_code(kit: Programs, asked: argparse.Namespace) -> int:
    """As of one program: of all claims with `--ready`, else of those that were asked for."""
    whole = kit.release_report().exit_code(None if asked.ready else ())
    claims = ("verification", "sizes") if asked.verify else ()
    numbers = (program.release_report().exit_code(("export", *claims)) for program in kit.values())
    return whole if whole == BAD or asked.ready else max(numbers)


def opening(asked: argparse.Namespace) -> str:
    """Python code that opens the command's argument; `ex` for the export of a call."""
    if not asked.program.endswith(".pt2"):
        return "ex"
    model = f", model={asked.model!r}" if asked.model else ""
    trusted = ", trusted=True" if asked.trusted else ""
    return f"explorer.load({asked.program!r}{model}{trusted})"
