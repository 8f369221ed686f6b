"""Loads an archive without running code from it.

`torch.export.load` trusts its file. It unpickles even what its restricted loader rejects, has
sympy evaluate the text of every size, and imports modules that the file names.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch

from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook

NO_INPUTS = (
    "The example inputs need classes that only code from the file could create, so they are "
    "left out."
)


NO_LIBRARIES = (
    "The file also holds libraries that AOTInductor compiled. They are not loaded: that would run "
    "them."
)


class CodeInside(ValueError):
    """Opening the file would run its code. The message can be shown unchanged."""


class UnregisteredContainer(NotImplementedError):
    """A program's call is made of a class that this process has not registered as a pytree."""

    def __init__(self, name: str) -> None:
        """Make one.

        Args:
            name: of the class, as torch saves it: `transformers.cache_utils:DynamicCache`.
        """
        super().__init__(name)
        self.name = name


_UNREGISTERED = re.compile(r"Deserializing (\S+) in pytree (?:is not registered|failed because)")
"""torch's messages on one (`torch/utils/_pytree.py`), before 2.15 and since."""
ONLY = "model"
"""torch's name for the program of a file that has one."""


def load_program(file: Path, model: str) -> Any:
    """A program of a file, by its name.

    Raises:
        MissingCapabilityError: this torch loads no program of several.
        UnregisteredContainer: nothing has registered a class that its call is made of.
        Exception: whatever else torch raises for a file that it cannot read.
    """
    try:
        with texts_read_once():
            if model == ONLY:
                return torch.export.load(file)
            return torch_has.LOAD_ARCHIVE.value(str(file)).exported_programs[model]
    except RuntimeError as error:
        reason = _reason(file) if model == ONLY and torch_has.LOAD_ARCHIVE else error
        match = _UNREGISTERED.search(str(reason))
        if match:
            raise UnregisteredContainer(match[1]) from error
        raise


def _reason(file: Path) -> Exception | None:
    """Why `torch.export.load` fails, which it writes into its log and does not raise."""
    try:
        torch_has.LOAD_ARCHIVE.value(str(file))
    except Exception as error:  # noqa: BLE001 - looked at for its message alone
        log_internal_error(error, "asking torch why it does not load a file")
        return error
    return None


@undone
def nothing_run(is_size: Callable[[str], bool]) -> Iterator[list[str]]:
    """While inside, `load_program` in this thread runs nothing from a file.

    Args:
        is_size: whether a text is arithmetic on sizes; sympy evaluates what torch takes for one.

    Yields:
        Sentences on what was left out.

    Raises:
        MissingCapabilityError: this torch lacks a place where code from a file has to be stopped.
    """
    notes: list[str] = []
    with ExitStack() as patches:
        for place, make in (
            (torch_has.LOAD, _restrict_load(threading.get_ident())),
            (torch_has.UNPICKLER, lambda original: _Without(original, "loads", _reject_pickle)),
            (
                torch_has.IMPORTER,
                lambda original: _Without(original, "import_module", _import_known),
            ),
            (torch_has.PARSE_SIZE, _restrict_parse(is_size)),
            (torch_has.LOAD_LIBRARIES, _left_alone(notes)),
        ):
            _ = place.value
            patches.enter_context(hook(place, make))
        patches.enter_context(hook(torch_has.DESERIALIZE, _without_inputs(notes)))
        yield notes


@undone
def texts_read_once() -> Iterator[None]:
    """For `torch.export.load`, which reads the same texts again for each tensor.

    It has sympy parse each size at each use, and Python evaluate the annotations of each
    class for each of its instances: about half of the time of a large program.
    """
    with hook(torch_has.PARSE_SIZE, _remember_sizes), hook(torch_has.ANNOTATIONS, _evaluate_once):
        yield


def _remember_sizes(original: Any) -> Any:
    """A size by its text and its value in the trace, per program that is being read."""
    known: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()

    def parse(self: Any, text: Any, hint: Any = None) -> Any:
        if not isinstance(text, str):
            return original(self, text, hint)
        sizes = known.setdefault(getattr(self, "shape_env", self), {})
        key = text, type(hint), hint
        if key not in sizes:
            sizes[key] = original(self, text, hint)
        return sizes[key]

    return parse


def _evaluate_once(typing: Any) -> Any:
    entries: dict[Any, Any] = {}

    def hints(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls not in entries:
            entries[cls] = typing.get_type_hints(cls, *args, **kwargs)
        return entries[cls]

    return _Without(typing, "get_type_hints", hints)


def _restrict_load(thread: int) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == thread:
                kwargs["weights_only"] = True
            return original(*args, **kwargs)

        return load

    return make


def _restrict_parse(is_size: Callable[[str], bool]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def parse(self: Any, expr_str: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(expr_str, str) and not is_size(expr_str):
                raise CodeInside(f"it has an invalid size: {expr_str[:80]!r}.")
            return original(self, expr_str, *args, **kwargs)

        return parse

    return make


def _left_alone(notes: list[str]) -> Callable[[Any], Any]:
    def load(*_: Any, **__: Any) -> None:
        if NO_LIBRARIES not in notes:
            notes.append(NO_LIBRARIES)

    return lambda original: load


def _without_inputs(notes: list[str]) -> Callable[[Any], Any]:
    """Leaves out unreadable example inputs; anything else unreadable is an error."""

    def make(original: Any) -> Any:
        def deserialize(*args: Any, **kwargs: Any) -> Any:
            call = inspect.signature(original).bind(*args, **kwargs)
            value = call.arguments.get("example_inputs")
            try:
                if value:
                    torch_has.ARTIFACT.value(value)
            except Exception as error:  # noqa: BLE001 - what an unpickler raises is up to the file
                log_internal_error(error, "reading the example inputs of a file")
                notes.append(NO_INPUTS)
                call.arguments["example_inputs"] = None
            return original(*call.args, **call.kwargs)

        return deserialize

    return make


class _Without:
    """A module with one function of it replaced, for who has the module under this name."""

    def __init__(self, module: Any, name: str, function: Callable[..., Any]) -> None:
        self._module = module
        setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _reject_pickle(*_: Any, **__: Any) -> Any:
    raise CodeInside("it contains an object that only code from the file could create.")


def _import_known(name: str, package: str | None = None) -> Any:
    if name not in sys.modules:
        raise CodeInside(f"it imports the module {name[:80]!r}.")
    return importlib.import_module(name, package)
