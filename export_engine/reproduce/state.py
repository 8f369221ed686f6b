"""Models and arguments as statements that make them again, without weights."""

from __future__ import annotations

import dataclasses
import enum
import logging
import re
from collections import OrderedDict
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch
from torch.nn.utils.parametrize import is_parametrized

from export_engine.defects import log_internal_error
from export_engine.reproduce.literals import NoText, literal, tensor_text, torch_module
from export_engine.reproduce.names import Names, is_written

_INTERNAL = frozenset(vars(torch.nn.Module()))
_LISTS = (torch.nn.Sequential, torch.nn.ModuleList)
_DEEPEST = 40
_REGISTER = "torch.nn.utils.parametrize.register_parametrization"
_READS_ANY = re.compile(r"\b(getattr|vars|__dict__|state_dict)\b")


def write_value(names: Names, name: str, value: Any) -> None:
    """Writes statements that bind a name to such a value.

    Raises:
        NoText: it cannot be made again.
    """
    state = _State(names)
    text = state.build(value, name)
    names.statements += [f"{name} = {text}", *state.later]
    names.places |= state.places
    names.kept.append(value)


class _State:
    """One value: its expression, and the statements that fill what it makes."""

    def __init__(self, names: Names) -> None:
        self.later: list[str] = []
        self._names = names
        self.places = dict(names.places)
        self._kept: list[Any] = []
        """Values whose `id` is known stay alive."""

    def build(self, value: Any, path: str) -> str:
        """An expression for a value that will be found at a path."""
        if len(path) > _DEEPEST * 20:
            raise NoText("it is nested too deeply")
        if id(value) in self.places:
            return self.places[id(value)]
        try:
            return literal(value)
        except NoText:
            pass
        if isinstance(value, type | FunctionType):
            return self._names.reference(value)
        if isinstance(value, logging.Logger):
            return f"{self._names.reference(logging.getLogger)}({value.name!r})"
        if isinstance(value, partial):
            return self._partial(value, path)
        if isinstance(value, enum.Enum):
            return f"{self._names.reference(type(value))}.{value.name}"
        if isinstance(value, MethodType) and id(value.__self__) in self.places:
            return f"{self.places[id(value.__self__)]}.{value.__name__}"
        text = self._container(value, path)
        if text:
            return text
        self.places[id(value)] = path
        self._kept.append(value)
        if isinstance(value, torch.nn.Parameter):
            graded = "" if value.requires_grad else ", requires_grad=False"
            return f"nn.Parameter({tensor_text(value)}{graded})"
        if isinstance(value, torch.Tensor):
            return tensor_text(value)
        if isinstance(value, torch.nn.Module):
            return self._module(value, path)
        return self._object(value, path)

    def _partial(self, value: partial[Any], path: str) -> str:
        parts = [self.build(value.func, f"{path}.func")]
        parts += [self.build(item, f"{path}.args[{at}]") for at, item in enumerate(value.args)]
        parts += [
            f"{name}={self.build(item, f'{path}.keywords[{name!r}]')}"
            for name, item in value.keywords.items()
        ]
        return f"{self._names.reference(partial)}({', '.join(parts)})"

    def _container(self, value: Any, path: str) -> str:
        kind = type(value)
        named = isinstance(value, tuple) and kind not in (tuple, torch.Size)
        if kind in (tuple, list, set, frozenset, torch.Size) or named:
            parts = [self.build(item, f"{path}[{at}]") for at, item in enumerate(value)]
            listed = ", ".join(parts)
            if kind is list:
                return f"[{listed}]"
            if kind is tuple:
                return f"({listed}{',' if len(parts) == 1 else ''})"
            if named:
                return f"{self._names.reference(kind)}({listed})"
            return f"{kind.__name__ if kind is not torch.Size else 'torch.Size'}([{listed}])"
        if kind is dict:
            pairs = [
                f"{literal(key)}: {self.build(item, f'{path}[{key!r}]')}"
                for key, item in value.items()
            ]
            return "{" + ", ".join(pairs) + "}"
        return ""

    def _module(self, module: torch.nn.Module, path: str) -> str:
        if is_parametrized(module):
            text = torch_module(module, type(module).__mro__[1])
            self._parametrize(module, path)
            return text
        try:
            text = torch_module(module, type(module))
        except NoText as missing:
            log_internal_error(missing, "writing a module")
            text = self._parts(module, path)
        else:
            self._tie(module, path)
        self._hooks(module, path)
        return text

    def _tie(self, module: torch.nn.Module, path: str) -> None:
        """Gives a module of torch's the tensors that are written already, and their flags."""
        for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
            if tensor is None:
                continue
            if id(tensor) in self.places:
                self.later.append(f"{path}.{name} = {self.places[id(tensor)]}")
                continue
            self.places[id(tensor)] = f"{path}.{name}"
            self._kept.append(tensor)
            if isinstance(tensor, torch.nn.Parameter) and not tensor.requires_grad:
                self.later.append(f"{path}.{name}.requires_grad_(False)")

    def _parametrize(self, module: torch.nn.Module, path: str) -> None:
        """Registers what its parameters are computed by."""
        lists: Any = module.parametrizations
        for name, parametrizations in lists.items():
            for parametrization in parametrizations:
                place = self._names.reserve("parametrization")
                at = len(self.later)
                text = self.build(parametrization, place)
                self.later.insert(at, f"{place} = {text}")
                self.later.append(f"{_REGISTER}({path}, {name!r}, {place}, unsafe=True)")
        self._hooks(module, path)

    def _hooks(self, module: torch.nn.Module, path: str) -> None:
        """Registers its hooks of calls."""
        for kind in ("forward_pre_hook", "forward_hook"):
            with_kwargs = getattr(module, f"_{kind}s_with_kwargs")
            for key, hook in getattr(module, f"_{kind}s").items():
                more = ", with_kwargs=True" if key in with_kwargs else ""
                text = self.build(hook, f"{path}._{kind}s[{key}]")
                self.later.append(f"{path}.register_{kind}({text}{more})")

    def _parts(self, module: torch.nn.Module, path: str) -> str:
        """A module by all that it holds."""
        children = [submodule for submodule in module._modules.values() if submodule is not None]
        if type(module) in _LISTS:
            parts = [self.build(child, f"{path}[{at}]") for at, child in enumerate(children)]
            if type(module) is torch.nn.Sequential:
                return f"nn.Sequential({', '.join(parts)})"
            return f"nn.ModuleList([{', '.join(parts)}])"
        text = self._names.reference(type(module))
        begins = len(self.later)
        for name, child in module._modules.items():
            self._put(path, name, child)
        for name, parameter in module._parameters.items():
            self._put(path, name, parameter)
        for name, tensor in module._buffers.items():
            self._buffer(path, name, tensor, module)
        for name, value in vars(module).items():
            if name not in _INTERNAL and (_runs_other_code(type(module)) or self._is_read(name)):
                self._put(path, name, value, needed=False)
        if _needs_arguments(type(module)):
            self.later.insert(begins, f"nn.Module.__init__({path})")
            return f"{text}.__new__({text})"
        return f"{text}()"

    def _buffer(
        self, path: str, name: str, tensor: torch.Tensor | None, module: torch.nn.Module
    ) -> None:
        text = self.build(tensor, f"{path}.{name}")
        kept = "" if name in module.state_dict(keep_vars=True) else ", persistent=False"
        self.later.append(f"{path}.register_buffer({name!r}, {text}{kept})")

    def _put(self, path: str, name: str, value: Any, needed: bool = True) -> None:
        """Sets an attribute; one that cannot be written is left out unless it is needed."""
        plain = name.isidentifier()
        place = f"{path}.{name}" if plain else f"getattr({path}, {name!r})"
        at = len(self.later)
        try:
            text = self.build(value, place)
        except NoText as missing:
            if needed:
                raise
            log_internal_error(missing, "writing an attribute")
            return
        self.later.insert(
            at, f"{place} = {text}" if plain else f"setattr({path}, {name!r}, {text})"
        )

    def _is_read(self, name: str) -> bool:
        """Whether what is defined so far may read an attribute."""
        text = self._names.text
        return re.search(rf"\b{re.escape(name)}\b", text) is not None or bool(
            _READS_ANY.search(text)
        )

    def _object(self, value: Any, path: str) -> str:
        """An object as a class of the user's makes it, its attributes set one by one."""
        held = getattr(value, "__dict__", None)
        if held is None:
            raise NoText(f"a {type(value).__name__} cannot be recreated")
        text = self._names.reference(type(value))
        if isinstance(value, dict) and type(value).__init__ in (
            dict.__init__,
            OrderedDict.__init__,
        ):
            items = self._container(dict(value), path)
            for name, item in held.items() if held is not value else ():
                self._put(path, name, item, needed=False)
            return f"{text}({items})"
        if dataclasses.is_dataclass(value):
            parts = [
                f"{field.name}={self.build(getattr(value, field.name), f'{path}.{field.name}')}"
                for field in dataclasses.fields(value)
                if field.init
            ]
            return f"{text}({', '.join(parts)})"
        for name, item in held.items():
            self._put(path, name, item, needed=False)
        return f"{text}.__new__({text})"


def _runs_other_code(cls: type) -> bool:
    """Whether methods that are not written read its attributes."""
    bases = [base for base in cls.__mro__ if base not in (torch.nn.Module, object)]
    return any(not is_written(base) for base in bases)


def _needs_arguments(made: type) -> bool:
    """Whether a class that is written without its own `__init__` inherits one with arguments."""
    for item in made.__mro__:
        if "__init__" in vars(item) and not is_written(item):
            return item is not torch.nn.Module
    return False
