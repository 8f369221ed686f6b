"""What to survey, as `survey.toml` or a dict says it, and the trials that follow."""

from __future__ import annotations

import fnmatch
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import msgspec

Mode = Literal["non-strict", "strict"]
_MOST_SECONDS = 1e8
"""Three years: no trial takes longer."""
_MOST_MEMORY = 1 << 60
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class SurveyError(ValueError):
    """The survey does not say what to try."""


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model of a survey."""

    call: str
    """`file.py:make`, relative to the survey, or `package.module:make`."""
    name: str = ""
    """Its name in the table; the call by default."""
    group: str = ""
    """A heading, such as the library that it is of."""
    shapes: str | list[str] = ""
    """Dynamic shapes in the short language; of several, each is a trial. Empty: all static."""
    modes: list[Mode] | None = None
    """In place of the survey's."""


class Survey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to try, and within which limits."""

    model: list[ModelSpec]
    modes: list[Mode] = msgspec.field(default_factory=lambda: ["non-strict"])
    backends: list[str] = []
    """What to run each program with, compared with eager: `program`, `inductor`, `onnx`, …"""
    fix: bool = True
    """Whether a failure is tried again with fixes that are not lossy."""
    verify: bool = False
    """Whether the guarantees are also checked."""
    seconds: float = 300
    """The longest that a trial may take."""
    memory: str = "8 GB"
    """The most memory that a trial may use."""
    pythons: dict[str, str] = {}
    """Pythons by a label: each has Export Explorer and a torch of its own. By default this one."""
    folder: str = "."
    """Where trials run, relative to the survey: a call by its module is found there."""
    preload: list[str] = []
    """Modules that are imported once for all trials, such as `transformers.modeling_utils`."""
    pages: str = ""
    """A folder for the view of each program, one HTML file each; none by default."""

    @property
    def memory_bytes(self) -> int:
        """The limit of memory in bytes."""
        return parse_memory(self.memory)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One row to be: everything that its process needs to know."""

    key: str
    """Names it in the journal: the same trial of the same survey has the same key."""
    name: str
    group: str
    call: str
    mode: Mode
    shapes: str
    label: str
    python: str
    backends: list[str]
    fix: bool
    verify: bool
    seconds: float
    memory: int
    folder: str
    """Where it runs: a call by its module is found there."""
    preload: list[str]
    page: str


def read_survey(source: str | Path | Mapping[str, Any]) -> tuple[Survey, Path]:
    """A survey, and the folder that its paths are relative to.

    Args:
        source: a TOML file, or a dict of the same fields.

    Raises:
        SurveyError: it cannot be read, or a field is wrong; says which.
    """
    if isinstance(source, Mapping):
        named, home, data = "The survey", Path.cwd(), dict(source)
    else:
        file = Path(source)
        named, home = str(file), file.resolve().parent
        try:
            data = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise SurveyError(f"{file} cannot be read: {error.strerror}.") from error
        except (ValueError, RecursionError) as error:
            raise SurveyError(f"{file} is not TOML: {error}.") from error
    try:
        survey = msgspec.convert(data, Survey)
    except msgspec.ValidationError as error:
        raise SurveyError(f"{named}: {error}.") from error
    if not survey.model:
        raise SurveyError(f'{named} has no models. Add [[model]] with call = "file.py:make".')
    _check(survey, home)
    return survey, home


def _check(survey: Survey, home: Path) -> None:
    """Raises SurveyError for a field whose value no trial can use."""
    parse_memory(survey.memory)
    if not 0 < survey.seconds < _MOST_SECONDS:
        raise SurveyError(f"seconds = {survey.seconds} is not a time limit such as 300.")
    for model in survey.model:
        named = model.name or model.call
        before, _, function = model.call.rpartition(":")
        if not before.strip() or not function.isidentifier():
            raise SurveyError(f'call = {model.call!r} does not name a call such as "file.py:make".')
        if not (survey.modes if model.modes is None else model.modes):
            raise SurveyError(f"{named}: modes is empty, so nothing would be tried.")
        if model.shapes == []:
            raise SurveyError(f'{named}: shapes is empty. Write "" for static sizes.')
    texts = [survey.folder, survey.pages, *survey.pythons.values(), *survey.preload]
    texts += [part for model in survey.model for part in (model.call, model.name)]
    if unprintable := next((text for text in texts if not text.isprintable()), None):
        raise SurveyError(f"{unprintable!r} has control characters.")
    if not (home / survey.folder).is_dir():
        raise SurveyError(f"folder = {survey.folder!r} does not exist.")
    if survey.backends:
        from export_engine.run import check_names

        try:
            check_names(",".join(survey.backends))
        except ValueError as error:
            raise SurveyError(str(error)) from error


def parse_memory(text: str) -> int:
    """Bytes of `8 GB`, `500 MB`. Raises SurveyError."""
    read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", text)
    if (
        read is None
        or read[2] not in _UNITS
        or not 0 < float(read[1]) * _UNITS[read[2]] < _MOST_MEMORY
    ):
        raise SurveyError(f'memory = {text!r} is not an amount such as "8 GB".')
    return int(float(read[1]) * _UNITS[read[2]])


def list_trials(survey: Survey, home: Path) -> list[Trial]:
    """All trials of a survey, in order. Raises SurveyError where two are the same."""
    trials = list(_trials(survey, home))
    seen: set[str] = set()
    for trial in trials:
        if trial.key in seen:
            raise SurveyError(f"Two models are called {trial.name!r}. Give each a unique name.")
        seen.add(trial.key)
    return trials


def _trials(survey: Survey, home: Path) -> Iterator[Trial]:
    pythons = survey.pythons or {"": ""}
    for model in survey.model:
        every = [model.shapes] if isinstance(model.shapes, str) else model.shapes
        modes = model.modes or survey.modes
        for (label, python), mode, shapes in product(pythons.items(), modes, every):
            name = model.name or model.call
            key = " · ".join(part for part in (name, mode, shapes, label) if part)
            page = hashlib.sha256(key.encode()).hexdigest()[:12]
            yield Trial(
                key=key,
                name=name,
                group=model.group,
                call=_call(model.call, home),
                mode=mode,
                shapes=shapes,
                label=label,
                python=str(home / python) if "/" in python else python,
                backends=survey.backends,
                fix=survey.fix,
                verify=survey.verify,
                seconds=survey.seconds,
                memory=survey.memory_bytes,
                folder=str((home / survey.folder).resolve()),
                preload=survey.preload,
                page=str((home / survey.pages / f"{page}.html").resolve()) if survey.pages else "",
            )


def _call(call: str, home: Path) -> str:
    """A call with the path of its file as seen from anywhere."""
    file, colon, function = call.rpartition(":")
    return f"{(home / file).resolve()}{colon}{function}" if file.endswith(".py") else call


def choose_trials(
    trials: Sequence[Trial], only: Sequence[str] = (), part: tuple[int, int] = (1, 1)
) -> list[Trial]:
    """The trials of models with certain names, and of these one part of several.

    Args:
        trials: all.
        only: patterns of names, `bert*`; none: all.
        part: which, from 1, and of how many: each trial is in one part.
    """
    named = [
        trial
        for trial in trials
        if not only or any(fnmatch.fnmatch(trial.name, pattern) for pattern in only)
    ]
    number, parts = part
    return named[number - 1 :: parts]
