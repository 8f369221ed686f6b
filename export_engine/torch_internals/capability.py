"""A private name of torch, looked up and probed once: what is there, and what is lost without it.

A missing or changed name disables only what depends on it. The view and `explorer.doctor()` say
what that is, and which name it needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import torch

from export_engine.defects import log_internal_error
from export_engine.torch_internals.patching import replace_attribute

Area = Literal["export", "strict", "run", "load", "library", "compile", "joint", "delegate"]
"""The purpose of a capability: any export, only strict mode, running and verifying, opening a file,
ExportDB and torch's pages on graph breaks, the comparison with torch.compile, joint graphs, or the
ops that a backend supports."""


class Looked(NamedTuple):
    """The result of probing a private name."""

    value: Any
    """The object; None where it is missing, and for an attribute that only instances have."""
    reason: str = ""
    """Why it cannot be used, as a clause after its name: `which torch 2.16 does not have`."""
    older: bool = False
    """Whether it is there under its older name."""


PROBED: dict[str, Looked] = {}
"""The probes so far in this process, by path."""
REGISTRY: dict[str, Capability] = {}
"""By path, each private name that Export Explorer uses."""


class MissingCapabilityError(RuntimeError):
    """This torch lacks a capability. The message can be shown unchanged."""


class Notes(Protocol):
    """Collects sentences on what failed in the middle of an export."""

    left_out: list[str]


@dataclass(frozen=True, eq=False)
class Capability:
    """A private name of torch's."""

    path: str
    """From `torch` on. `()` after a class stands for an instance of it: `torch.x.ShapeEnv().y`.
    With slashes it is a file of torch's."""
    without: str
    """What is lost without it, as a sentence; empty if there is a replacement."""
    area: Area = "export"
    takes: str | None = None
    """The arguments that we call it with, by position or `name=`: `tree is_leaf=`."""
    begins: str = ""
    """For a function that we wrap: the names of its first parameters, `self prefix g`; with `|`
    between names of one that was renamed."""
    older: str = ""
    """Its older name; the whole path, where it moved to another module or class."""
    since: tuple[int, int] = (0, 0)
    """The first torch that has it, if earlier ones do not need it."""
    until: tuple[int, int] = (0, 0)
    """The last torch that is known to lack it: there it is left out, and no test fails for it."""
    spared_by: Capability | None = None
    """Where that is there, nothing goes without this one."""
    probe: Callable[[Any], object] | None = None
    """A further check; False or any error means missing."""

    def __post_init__(self) -> None:
        if self.path in REGISTRY:
            raise ValueError(f"{self.path} is registered twice.")
        REGISTRY[self.path] = self

    def __bool__(self) -> bool:
        return not self.looked.reason

    @property
    def looked(self) -> Looked:
        """The result of probing it, now or earlier."""
        if self.path not in PROBED:
            with torch.random.fork_rng(devices=[]):  # some of torch's modules draw on import
                PROBED[self.path] = _look(self)
        return PROBED[self.path]

    @property
    def name(self) -> str:
        """Its last part, as this torch has it: `_log_guard`."""
        return self._place.rpartition(".")[2]

    @property
    def owner(self) -> Any:
        """The module or class that has it."""
        return _resolve(self._place.rpartition(".")[0])

    @property
    def older_path(self) -> str:
        """Where it was."""
        return self.older if "." in self.older else f"{self.path.rpartition('.')[0]}.{self.older}"

    @property
    def _place(self) -> str:
        """Where this torch has it."""
        return self.older_path if self.looked.older else self.path

    @property
    def sentence(self) -> str:
        """What is lost without it, and why; empty if it is there or has a replacement."""
        reason = self.looked.reason
        if not reason or not self.without or self.spared_by:
            return ""
        return f"{self.without} That needs {self.path}, {reason}."

    @property
    def expected(self) -> bool:
        """Whether this torch is known to lack it."""
        return _version() <= self.until

    @property
    def value(self) -> Any:
        """The object.

        Raises:
            MissingCapabilityError: this torch lacks it.
        """
        result = self.looked
        if result.reason:
            raise MissingCapabilityError(
                self.sentence or f"{self.path} is needed, {result.reason}."
            )
        return result.value

    def of(self, owner: Any, default: Any = None) -> Any:
        """This attribute of an object; the default where this torch lacks it."""
        return getattr(owner, self.name, default) if self else default

    @contextmanager
    def tolerate(self, notes: Notes) -> Iterator[None]:
        """Continues the export, and records it, if torch's objects have changed.

        For reads in the middle of an export: an error there would look like the model's.
        """
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever another torch makes of it
            log_internal_error(error, f"reading {self.path}")
            self.note_change(notes, error)

    def note_change(self, notes: Notes, error: Exception) -> None:
        """Records what is left out by an error, for code where `tolerate` would take too long."""
        text = f"{self.without} That needs {self.path}, {_describe_change(error)}."
        if text not in notes.left_out:
            notes.left_out.append(text)


def hook(capability: Capability, make: Callable[[Any], Any]) -> AbstractContextManager[None]:
    """Replaces the name by `make(original)` for a while; does nothing if this torch lacks it."""
    if capability.looked.value is None:
        return nullcontext()
    return replace_attribute(capability.owner, capability.name, make)


def _this_torch() -> str:
    return f"torch {str(torch.__version__).partition('+')[0]}"


def _version() -> tuple[int, int]:
    major, minor = str(torch.__version__).split(".")[:2]
    return int(major), int(minor)


def _describe_change(error: Exception | None = None) -> str:
    text = f" ({type(error).__name__}: {error})" if error is not None else ""
    return f"which has changed in {_this_torch()}{text}"


def _look(capability: Capability) -> Looked:
    older = False
    try:
        value = _resolve(capability.path)
    except (AttributeError, ImportError, TypeError):
        older = bool(capability.older)
        try:
            value = _resolve(capability.older_path)
        except (AttributeError, ImportError, TypeError):
            if _version() < capability.since:
                return Looked(None)
            return Looked(None, f"which {_this_torch()} does not have")
    try:
        if not _takes(value, capability):
            parameters = ", ".join(inspect.signature(value).parameters)
            return Looked(
                None, f"which in {_this_torch()} takes different arguments ({parameters})"
            )
        if capability.probe is not None and not capability.probe(value):
            return Looked(None, _describe_change())
    except Exception as error:  # noqa: BLE001 - a probe of something that has changed
        log_internal_error(error, f"probing {capability.path}")
        return Looked(None, _describe_change(error))
    return Looked(value, older=older)


def _resolve(path: str) -> Any:
    """The object of a dotted path; None for an attribute that only instances have.

    Raises:
        AttributeError: torch has no such name.
        ImportError: a module on the way cannot be imported.
    """
    if "/" in path:
        return _file(path)
    root, *parts = path.split(".")
    result: Any = import_module(root)
    walked = root
    for part in parts:
        name = part.removesuffix("()")
        walked = f"{walked}.{name}"
        if not name:
            raise AttributeError(walked)
        try:
            result = getattr(result, name)
        except AttributeError:
            if inspect.ismodule(result):
                result = import_module(walked)
            elif inspect.isclass(result) and part == parts[-1] and _set_by_instances(result, name):
                return None
            else:
                raise
        if part.endswith("()"):
            result = result()
    return result


def _file(path: str) -> Path:
    file = Path(torch.__path__[0], path.removeprefix("torch/"))
    if not file.is_file():
        raise AttributeError(path)
    return file


def _set_by_instances(cls: type, name: str) -> bool:
    """Whether a class's own code sets an attribute on instances that the class lacks."""
    for item in cls.__mro__:
        if name in vars(item).get("__annotations__", {}) or name in vars(item).get("__slots__", ()):
            return True
        for method in _SETTING & vars(item).keys():
            code = getattr(inspect.unwrap(vars(item)[method]), "__code__", None)
            if code is not None and name in code.co_names:
                return True
    return False


_SETTING = {"__init__", "_init", "recompile"}
"""Where torch's classes set what their instances have."""


def _takes(value: Any, capability: Capability) -> bool:
    """Whether something can be called or wrapped as we do."""
    if capability.begins:
        wanted = [word.split("|") for word in capability.begins.split()]
        parameters = [*inspect.signature(value).parameters]
        pairs = zip(parameters, wanted, strict=False)
        if len(parameters) < len(wanted) or any(name not in names for name, names in pairs):
            return False
    if capability.takes is None:
        return True
    words = capability.takes.split()
    positional = [word for word in words if not word.endswith("=")]
    named = {word.removesuffix("="): word for word in words if word.endswith("=")}
    try:
        inspect.signature(value).bind(*positional, **named)
    except TypeError:
        return False
    except ValueError:  # written in C++: no signature
        return True
    return True
