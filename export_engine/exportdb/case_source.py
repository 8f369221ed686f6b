"""The source of a case, original or edited, run in a separate module.

It neither sees nor changes torch's modules or the user's names.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import tempfile
import traceback
from collections import deque
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from export_engine.attempt import Request, signature_of
from export_engine.capture import quiet
from export_engine.shapes import Shapes, ShapesError

_MOST_MODULES = 64
_numbers = itertools.count(1)
_modules: deque[str] = deque()
"""Names of the modules that were made, the oldest first. strict mode looks functions up by the
name of their module, so each stays known for a while."""


class SourceProblem(ValueError):
    """Why a text cannot be exported. Its text can be shown unchanged."""

    def __init__(self, sentence: str, line: int = 0) -> None:
        """Make one.

        Args:
            sentence: what is wrong, and what to do.
            line: the line of the text that it is about; 0: none.
        """
        super().__init__(sentence)
        self.line = line

    def _render_traceback_(self) -> list[str]:
        """IPython shows the sentence."""
        return [f"Line {self.line}: {self}" if self.line else str(self)]


def request_of(name: str, source: str, *, strict: bool = False) -> Request:
    """The call that a text describes, in the way of ExportDB: it defines names.

    `model` is a module and `example_args` a tuple; `example_kwargs` and `dynamic_shapes` may be
    there too. The text is run.

    Args:
        name: how to call it.
        source: Python.
        strict: the mode.

    Raises:
        SourceProblem: it is not valid Python, raises an error, or lacks one of the names.
        KeyboardInterrupt: interrupted.
    """
    number = next(_numbers)
    path = Path(tempfile.gettempdir(), f"exportdb_{os.getpid()}", str(number), f"{name}.py")
    names = _run(source, str(path), f"exportdb_{number}_{name}")
    model, args = _get_name(names, "model"), _get_name(names, "example_args")
    kwargs = names.get("example_kwargs") or {}
    if not callable(model):
        raise SourceProblem(f"`model` is a {type(model).__name__}. Make it a module: model = M()")
    if not isinstance(args, tuple):
        raise SourceProblem(
            f"`example_args` is a {type(args).__name__}. Make it a tuple: example_args = (x,)"
        )
    if not isinstance(kwargs, dict):
        raise SourceProblem(f"`example_kwargs` is a {type(kwargs).__name__}. Make it a dict.")
    return Request(
        target=model,
        args=args,
        kwargs=kwargs,
        shapes=_shapes(names.get("dynamic_shapes"), model, args, kwargs),
        strict=strict,
        title=_title(name, model, args, kwargs),
        cells={str(path): f"{name}.py"},
    )


def other_args(request: Request) -> tuple[Any, ...] | None:
    """A second set of arguments that a case brings, `extra_inputs`; None where it has none."""
    module = sys.modules.get(type(request.target).__module__)
    extra = getattr(module, "extra_inputs", None)
    return extra if isinstance(extra, tuple) else None


def _run(source: str, path: str, module_name: str) -> dict[str, Any]:
    """The names that a text defines."""
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    module = ModuleType(module_name)
    module.__file__ = path
    _remember(module)
    try:
        code = compile(source, path, "exec", dont_inherit=True)
        with quiet(), torch.random.fork_rng(devices=[]):
            exec(code, module.__dict__)  # noqa: S102 - what the user asked to run
    except SyntaxError as error:
        raise SourceProblem(f"This is not valid Python: {error.msg}.", error.lineno or 0) from error
    except (Exception, SystemExit) as error:
        raise _problem(error, path) from error
    return module.__dict__


def _remember(module: ModuleType) -> None:
    sys.modules[module.__name__] = module
    _modules.append(module.__name__)
    while len(_modules) > _MOST_MODULES:
        sys.modules.pop(_modules.popleft(), None)


def _problem(error: BaseException, path: str) -> SourceProblem:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno or 0 for frame in frames if frame.filename == path]
    text = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return SourceProblem(f"The code raised {text}", own[-1] if own else 0)


def _get_name(names: dict[str, Any], wanted: str) -> Any:
    if names.get(wanted) is None:
        raise SourceProblem(
            f"The code defines no `{wanted}`. A case defines `model`, a module, and "
            "`example_args`, the tuple of arguments that it is called with."
        )
    return names[wanted]


def _shapes(given: Any, model: Any, args: Any, kwargs: Any) -> Shapes | None:
    """What is dynamic, in torch's way or in the short language."""
    try:
        if isinstance(given, str):
            return Shapes.parse(given)
        return Shapes.from_torch(given, model, args, kwargs) if given is not None else None
    except ShapesError as error:
        raise SourceProblem(f"`dynamic_shapes`: {error}") from error
    except (TypeError, ValueError) as error:
        raise SourceProblem(f"`dynamic_shapes` do not fit the call: {error}") from error


def _title(name: str, model: Any, args: Any, kwargs: Any) -> str:
    """`cond_operands(x, y)`."""
    try:
        bound = signature_of(model).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise SourceProblem(f"`model` cannot be called with `example_args`: {error}.") from error
    return f"{name}({', '.join(bound)})"
