"""Makes a module of whatever the user wants exported: torch.export takes only modules.

A module is passed on unchanged. Any other callable is wrapped in a module of its own, with the same
signature; modules that the callable reaches (as its `self`, in a closure, by a global name) become
submodules, so that their parameters stay parameters instead of turning into constants.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import torch

from export_engine.defects import log_internal_error
from export_engine.source import closure_of, names_in
from export_engine.torch_internals import signature_of


def as_module(target: Callable[..., Any]) -> torch.nn.Module:
    """The target itself when it is a module, else a module that calls it.

    Raises:
        TypeError: the target cannot be called, or calling it makes a module.
    """
    if isinstance(target, torch.nn.Module):
        return target
    if isinstance(target, type) and issubclass(target, torch.nn.Module):
        raise TypeError(
            f"{target.__name__} is a class, not a module. Export an instance of it: "
            f"{target.__name__}(…)."
        )
    if not callable(target):
        raise TypeError(
            f"{type(target).__name__} is not callable, so it cannot be exported. "
            "Export a module, a function or a method."
        )
    return _wrapper(target)


def name_of(target: Callable[..., Any]) -> str:
    """A function's name, else that of the target's class."""
    name = None
    try:
        name = getattr(target, "__name__", None)
    except Exception as error:  # noqa: BLE001 - of a `__getattr__` of the user's, for a title
        log_internal_error(error, "asking a callable for its name")
    return name if isinstance(name, str) else type(target).__name__


def _wrapper(target: Callable[..., Any]) -> torch.nn.Module:
    def forward(_module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    signature = signature_of(target)
    own = "self" if "self" not in signature.parameters else "_module"
    first = inspect.Parameter(own, inspect.Parameter.POSITIONAL_ONLY)
    parameters = [first, *signature.parameters.values()]
    forward.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper_class = type(_class_name(target), (torch.nn.Module,), {"forward": forward})
    wrapper_class.__module__ = getattr(target, "__module__", None) or type(target).__module__
    wrapper: torch.nn.Module = wrapper_class()
    for key, module in _iter_reachable_modules(target):
        if not hasattr(wrapper, key):
            wrapper.add_module(key, module)
    training = any(module.training for module in wrapper.children())
    wrapper.training = training
    return wrapper


def _class_name(target: Callable[..., Any]) -> str:
    name = name_of(target)
    return name if name.isidentifier() else "function"


def _iter_reachable_modules(target: Callable[..., Any]) -> Iterator[tuple[str, torch.nn.Module]]:
    """Modules that a call of the target may run, under the names it knows them by."""
    if isinstance(target, functools.partial):
        yield from _iter_reachable_modules(target.func)
        values = [*enumerate(target.args), *target.keywords.items()]
        yield from _modules_among((f"arg_{key}", value) for key, value in values)
    elif isinstance(target, MethodType):
        owner = target.__self__
        yield from _modules_among([("module", owner), *_attributes(owner)])
    elif isinstance(target, FunctionType):
        yield from _modules_among(_iter_captured(target))
    else:
        yield from _modules_among(_attributes(target))


def _attributes(owner: object) -> list[tuple[str, Any]]:
    return (
        [] if isinstance(owner, torch.nn.Module) else list(getattr(owner, "__dict__", {}).items())
    )


def _iter_captured(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, value in closure_of(function):
        yield name, value
        if isinstance(value, MethodType):
            yield f"{name}_self", value.__self__
    for name in names_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _modules_among(pairs: Any) -> Iterator[tuple[str, torch.nn.Module]]:
    return ((name, value) for name, value in pairs if isinstance(value, torch.nn.Module))
