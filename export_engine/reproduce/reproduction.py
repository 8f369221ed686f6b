"""A failing call, or a program with a wrong answer, as a short script that shows the same."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import torch

from export_engine.attempt import NO_CALL, Attempt, Exported, Failed, Request
from export_engine.diagnose import diagnose
from export_engine.plain_errors import PlainError
from export_engine.progress import Progress, Report
from export_engine.reproduce.literals import NoText
from export_engine.reproduce.reduction import Reduction
from export_engine.reproduce.script import script_of, showing_constants
from export_engine.reproduce.smaller_call import smaller_calls
from export_engine.reproduce.trial_process import WRONG
from export_engine.reproduce.trials import Outcome, Trials
from export_engine.rules import page_on

_SECONDS = 60.0
_OURS = "StandInHeld"
"""The class of the error that `capture` raises where torch raises none."""


class NotReproduced(PlainError, RuntimeError):
    """No script could be made that shows the same. The message says why, and can be shown."""


@dataclass(frozen=True)
class Reproduction:
    """A script that shows what went wrong; `print` it."""

    script: str
    """Python that needs no package of the user's but those in `needs`."""
    code: str
    """The code of the diagnosis, `EX111`; `wrong answer` if the program differs from the model."""
    heading: str
    """`A branch on data`."""
    error: str
    """The class of the exception: `GuardOnDataDependentSymNode`."""
    raised: str
    """The script's own error in a fresh process; the same class, or torch's around it.
    Empty where torch accepts the model, and the program that it gives holds a fake tensor."""
    minimal: bool
    """Whether nothing more can go; else the time was up, or it was interrupted."""
    trials: int
    """How many scripts were run."""
    seconds: float
    needs: tuple[str, ...] = ()
    """Packages that the script imports, but for torch and Python's own."""

    @property
    def lines(self) -> int:
        """How many lines the script has."""
        return len(self.script.rstrip("\n").split("\n"))

    def __repr__(self) -> str:
        """The script."""
        return self.script


def reproduce(
    attempt: Attempt, seconds: float = _SECONDS, progress: Report | None = None
) -> Reproduction:
    """Makes a script that fails with the same kind of error, as short as the time allows.

    The scripts run in processes of their own; the model, its files and its inputs are only read.
    An interrupt ends the search, and keeps the shortest script so far.

    Args:
        attempt: a failure; or a program that differs from its model on its inputs.
        seconds: how long it may take to make it short. The proof that it fails comes on top.
        progress: called before each script that is run.

    Raises:
        NotReproduced: no script shows the same.
    """
    if attempt.request is None:
        raise NotReproduced(NO_CALL)
    started = time.monotonic()
    compared = isinstance(attempt, Exported)
    with closing(Trials(compared)) as trials:
        search = _Search(attempt, trials, started + seconds, progress)
        text, wanted = search.first()
        minimal = search.reduce_script()
        accepted = _is_accepted(attempt)
        text = showing_constants(search.text) if accepted else search.text
        proof = trials.prove(_add_header(text, wanted))
        if (proof.code, proof.error) != wanted[:2] or not (proof.raised or accepted):
            raise NotReproduced(
                "The script fails only after other scripts ran in the same process."
            )
        return Reproduction(
            script=_add_header(text, wanted),
            code=wanted.code,
            heading=_heading(wanted.code),
            error=wanted.error,
            raised=proof.raised,
            minimal=minimal,
            trials=trials.count,
            seconds=time.monotonic() - started,
            needs=_packages(text),
        )


class _Search:
    """From the first script that fails to the shortest in time."""

    def __init__(
        self, attempt: Attempt, trials: Trials, until: float, progress: Report | None
    ) -> None:
        self.text = ""
        self._attempt = attempt
        self._trials = trials
        self._until = until
        self._progress = progress
        self._wanted = _find_outcome(attempt)

    def first(self) -> tuple[str, Outcome]:
        """The first script that shows the same: of a small part of the model, or of all of it."""
        reason = ""
        for write in self._drafts():
            try:
                text = write()
            except NoText as missing:
                reason = f" {missing}."
                continue
            if self._shows(text, self._until + 60):
                self.text = text
                return text, self._wanted
        raise NotReproduced(
            "No script reproduces the failure: it depends on something that cannot be written as "
            f"code.{reason}"
        )

    def reduce_script(self) -> bool:
        """Reduces the script; whether nothing more can go."""
        reduction = Reduction(self.text, lambda text: self._shows(text, self._until))
        try:
            reduction.run()
        except (_TimeUp, KeyboardInterrupt):
            return False
        finally:
            self.text = reduction.text
        return True

    def _drafts(self) -> Iterator[Callable[[], str]]:
        request = self._attempt.request
        assert request is not None
        if isinstance(self._attempt, Exported):
            for other in _OTHERS:
                yield partial(_on, other, request)
            return
        assert isinstance(self._attempt, Failed)
        for smaller in smaller_calls(self._attempt, diagnose(self._attempt).stack):
            yield partial(script_of, smaller)
        yield partial(script_of, request)

    def _shows(self, text: str, until: float) -> bool:
        if time.monotonic() > until:
            raise _TimeUp
        if self._progress is not None:
            label = f"{self.text.count(chr(10)) + 1} lines" if self.text else "the first script"
            self._progress(Progress(self._trials.count, 0, label, "script"))
        return self._trials.run(text, until) == self._wanted


class _TimeUp(Exception):
    """The time that was given is over."""


_OTHERS = (
    "{0}",
    "tuple(-each if isinstance(each, torch.Tensor) else each for each in {0})",
    "tuple(torch.zeros_like(each) if isinstance(each, torch.Tensor) else each for each in {0})",
    "tuple(each + 1 if isinstance(each, torch.Tensor) else each for each in {0})",
)
"""Inputs on which a program is held against its model, made of those that it was exported with."""


def _on(other: str, request: Request) -> str:
    """A script that compares on such inputs."""
    *lines, text, compared = script_of(request, compared=True).split("\n")
    name, _, value = text.partition(" = ")
    changed = f"{name} = {other.format(value)}"
    return "\n".join(["import torch", "torch.manual_seed(0)", *lines[1:], changed, compared])


def _find_outcome(attempt: Attempt) -> Outcome:
    if isinstance(attempt, Failed):
        return Outcome(diagnose(attempt).kind.code, type(attempt.error).__name__)
    return Outcome(WRONG, "AssertionError")


def _is_accepted(attempt: Attempt) -> bool:
    """Whether torch raises nothing, and gives a program with a fake tensor in it."""
    return isinstance(attempt, Failed) and type(attempt.error).__name__ == _OURS


def _heading(code: str) -> str:
    return page_on(code).title if code != WRONG else "The program differs from the model"


def _add_header(text: str, wanted: Outcome) -> str:
    code = f" ({wanted.code})" if wanted.code != WRONG else ""
    error = "a fake tensor is in the program" if wanted.error == _OURS else wanted.error
    return f"# torch {torch.__version__}. {_heading(wanted.code)}{code}: {error}\n{text}\n"


def _packages(text: str) -> tuple[str, ...]:
    """Imports of a script besides torch and the standard library."""
    texts = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            texts |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            texts.add((node.module or "").partition(".")[0])
    return tuple(sorted(texts - set(sys.stdlib_module_names) - {"torch", ""}))
