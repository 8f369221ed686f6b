"""What the command line does with a file of several programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from explorer.programs import Programs

_OF_ONE = ("diff", "decompose", "run", "backend", "profile", "json")

_WORSE = ("ok", "unchecked", "bad")


def carried_out(kit: Programs, asked: argparse.Namespace, say: Callable[[object], None]) -> str:
    """Does what is asked of a set.

    Args:
        kit: the set.
        asked: the parsed arguments.
        say: prints.

    Returns:
        `ok`, `bad` or `unchecked`.

    Raises:
        ValueError: what is asked is done to one program only.
    """
    wrong = [f"--{each}" for each in _OF_ONE if getattr(asked, each)]
    if wrong:
        raise ValueError(
            f"{asked.program} holds {len(kit)} programs, and {wrong[0]} takes one: name it with "
            f"--model, one of {', '.join(kit)}."
        )
    verdict = "ok"
    if asked.verify or asked.ready:
        verified = kit.verify().values()
        if any(each.broken for each in verified):
            verdict = "bad"
        elif not all(each.ok for each in verified):
            verdict = "unchecked"
    say(kit)
    if asked.verify:
        for name, each in kit.items():
            verification = each.record.verification
            say(f"{name}: {verification.sentence if verification else 'not checked'}")
    if asked.ready:
        release = kit.ready()
        say(f"\n{release.called(opening(asked))}")
        worse = {"ready": "ok", "open": "unchecked", "not ready": "bad"}[release.verdict]
        verdict = max(verdict, worse, key=_WORSE.index)
    if asked.save:
        say(f"written: {kit.save(asked.save)}")
    if asked.html:
        say(f"written: {kit.to_html(asked.html)}")
    wrong_between = any(each.severity == "wrong" for each in kit.findings)
    return "bad" if wrong_between else verdict


def opening(asked: argparse.Namespace) -> str:
    """What opens in Python what the command was given; `ex` for the export of a call."""
    if not asked.program.endswith(".pt2"):
        return "ex"
    model = f", model={asked.model!r}" if asked.model else ""
    trusted = ", trusted=True" if asked.trusted else ""
    return f"explorer.load({asked.program!r}{model}{trusted})"
