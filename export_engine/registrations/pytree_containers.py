"""Flattens and unflattens values of user classes as pytree containers.

Attributes that hold tensors or containers are an object's children; all others are its context.
Unflattening calls neither `__init__` nor `__post_init__`, so an object comes back unchanged. Which
classes to register is decided elsewhere.

In strict mode torch traces the flattening of results, so it avoids unions of types in `isinstance`.
"""

from __future__ import annotations

import enum
import importlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any, Literal, NamedTuple

import torch

from export_engine.attempt import is_cache_class
from export_engine.process import undone
from export_engine.torch_internals import deregister_container, is_container, register_container

_ABSENT = object()
_PARTS = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)
_COLLECTIONS = (dict, list, tuple)


Way = Literal["dataclass", "transformers", "attributes", "constant"]


class Unfit(ValueError):
    """Why values of a class cannot be flattened. The message can be shown unchanged."""


class Context(NamedTuple):
    """The context that rebuilds an object from its children. Compares by value."""

    parts: tuple[str, ...]
    rest: dict[str, Any]
    mirror: str
    """For a dict whose items are also attributes: `shared` if `__dict__` is the dict itself, else
    `copied`."""
    beside: dict[str, Any]
    """The attributes that a dict has beside its items."""


@dataclass(frozen=True)
class Registered:
    """A Setup: a class, registered as a container."""

    cls: type
    way: Way
    """With torch's own function for dataclasses, with transformers' own, by its attributes, or
    with none, as a constant."""

    @property
    def title(self) -> str:
        """Its effect, as an imperative."""
        what = "constant" if self.way == "constant" else "container"
        return f"Register {self.cls.__name__} as a {what}"

    @property
    def text(self) -> str:
        """The same in Python, for the user's own code, where it is a line."""
        if self.way == "dataclass":
            return f"torch.export.register_dataclass({self.cls.__qualname__})"
        if self.way == "transformers":
            function = transformers_function(self.cls)
            return f"{function}({self.cls.__qualname__ if function == _EXPORTERS else ''})"
        how = "a constant" if self.way == "constant" else "flattened by its attributes"
        return f"{self.cls.__qualname__}: {how}"

    def statements(self, reference: Callable[[type], str]) -> list[str]:
        """The same in Python with plain torch."""
        name = reference(self.cls)
        if self.way == "dataclass":
            return [f"torch.export.register_dataclass({name})"]
        if self.way == "transformers":
            module, _, function = transformers_function(self.cls).rpartition(".")
            message = name if function == _EXPORTERS.rpartition(".")[2] else ""
            return [f"from {module} import {function}", f"{function}({message})"]
        if self.way == "constant":
            return [_CONSTANT.format(name=name)]
        return [_write_flattening(self.cls, name)]

    @property
    def classes(self) -> tuple[type, ...]:
        """The class."""
        return (self.cls,)

    @property
    def stays(self) -> bool:
        """True: torch takes the arguments of a call apart with it."""
        return True

    def install(self) -> Callable[[], None]:
        """Registers the class unless registered; returns the undo function."""
        cls = self.cls
        if is_container(cls):
            return lambda: None
        if self.way == "dataclass":
            torch.export.register_dataclass(
                cls, serialized_type_name=f"{cls.__module__}.{cls.__qualname__}"
            )
        elif self.way == "transformers":
            name = transformers_function(cls)
            module, _, function = name.rpartition(".")
            register = getattr(importlib.import_module(module), function)
            register(cls) if name == _EXPORTERS else register()
        elif self.way == "constant":
            register_container(cls, _whole, _constant, partial(_plain, ""), _from_plain)
        else:
            register_container(cls, split_object, _together(cls), to_json, from_json)
        return lambda: deregister_container(cls)


_CONSTANT = """
torch.utils._pytree.register_pytree_node(
    {name},
    lambda value: ([], value),
    lambda children, value: value,
    serialized_type_name="{name}",
    flatten_with_keys_fn=lambda value: ([], value),
)
"""
_BY_ATTRIBUTES = """
def split_{name}(value):
    parts, rest = {{}}, {{}}
    for name, each in ({entries}).items():
        leaves = torch.utils._pytree.tree_leaves(each)
        is_part = any(isinstance(leaf, (torch.Tensor, torch.SymInt)) for leaf in leaves)
        if not is_part and type(each) in (list, dict):
            each = type(each)(each)  # a call may change it
        (parts if is_part else rest)[name] = each
    return parts, [list(parts), rest{attributes}]

def flatten_{name}(value):
    parts, context = split_{name}(value)
    return list(parts.values()), context

def flatten_{name}_with_keys(value):
    parts, context = split_{name}(value)
    keys = [torch.utils._pytree.GetAttrKey(name) for name in parts]
    return list(zip(keys, parts.values())), context

def unflatten_{name}(parts, context):
    value = {base}.__new__({name})
    for name, each in [*zip(context[0], parts), *context[1].items()]:
        {base}.{setter}(value, name, each){mirror}
    return value

torch.utils._pytree.register_pytree_node(
    {name},
    flatten_{name},
    unflatten_{name},
    serialized_type_name="{name}",
    flatten_with_keys_fn=flatten_{name}_with_keys,
)
"""
"""Tensors are parts, all else is context."""
_MIRROR = """
    attributes, is_same, is_itself = context[2:]
    if is_same:
        attributes = value if is_itself else dict(value)
    object.__setattr__(value, "__dict__", attributes)"""
"""Attributes that a dict has beside its items, or which are its items."""
_EXPORTERS = "transformers.exporters.exporter_dynamo.register_pytree_node"
"""Registers one class of a cache, and its programs decompose, unflatten and lower."""
_OLDER = "transformers.integrations.executorch.register_dynamic_cache_export_support"
"""The same for a DynamicCache, of a transformers without exporters."""


def _write_flattening(cls: type, name: str) -> str:
    """Functions that flatten and unflatten a class by its attributes, with plain torch."""
    if issubclass(cls, dict):
        base = "OrderedDict" if issubclass(cls, OrderedDict) else "dict"
        same = "list(vars(value)) == list(value), vars(value) is value"
        head = "from collections import OrderedDict\n" if base == "OrderedDict" else ""
        return head + _BY_ATTRIBUTES.format(
            name=name,
            base=base,
            setter="__setitem__",
            entries="dict(value)",
            attributes=f", {{**vars(value)}}, {same}",
            mirror=_MIRROR,
        )
    slots = [slot for base in cls.__mro__ for slot in _slots(base)]
    entries = ["**vars(value)"] if _has_dict(cls) else []
    if slots:
        held = f"{{name: getattr(value, name) for name in {slots!r} if hasattr(value, name)}}"
        entries.insert(0, f"**{held}")
    return _BY_ATTRIBUTES.format(
        name=name,
        base="object",
        setter="__setattr__",
        entries=f"{{{', '.join(entries)}}}" if slots else "vars(value)",
        attributes="",
        mirror="",
    )


def _has_dict(cls: type) -> bool:
    """Whether instances have a `__dict__` beside their slots."""
    return any("__dict__" in vars(base) for base in cls.__mro__)


def transformers_function(cls: type) -> str:
    """The function of the installed transformers that registers a class of its own; or none."""
    if cls.__module__.partition(".")[0] != "transformers":
        return ""
    if is_cache_class(cls):
        return _EXPORTERS
    module, _, function = _OLDER.rpartition(".")
    try:
        is_found = hasattr(importlib.import_module(module), function)
    except ImportError:
        return ""
    return _OLDER if is_found and cls.__qualname__ == "DynamicCache" else ""


def _whole(value: Any) -> tuple[list[tuple[str, Any]], Any]:
    return [], value


def _constant(_: Iterable[Any], context: Any) -> Any:
    return context


def split_object(value: Any) -> tuple[list[tuple[str, Any]], Context]:
    """An object's parts by name, and its context.

    Raises:
        Unfit: an attribute is a method bound to the object itself.
    """
    parts: list[tuple[str, Any]] = []
    rest: dict[str, Any] = {}
    for name, item in state_of(value).items():
        if holds_parts(item):
            parts.append((name, item))
        elif isinstance(item, MethodType) and item.__self__ is value:
            raise Unfit(f"its attribute {name} is a method bound to itself")
        else:
            rest[name] = _copy_container(item)
    names = tuple(name for name, _ in parts)
    return parts, Context(names, rest, _mirror(value), beside_items(value))


def _mirror(value: Any) -> str:
    """How the items of a dict are also attributes; empty if they are not."""
    attributes = _attributes(value)
    if attributes is value:
        return "shared"
    if not attributes or list(attributes) != list(value):
        return ""
    return "copied" if all(attributes[key] is value[key] for key in value) else ""


def beside_items(value: Any) -> dict[str, Any]:
    """A copy of the attributes that a dict has besides its items.

    Raises:
        Unfit: one holds a tensor, or is also an item.
    """
    attributes = {} if _mirror(value) else _attributes(value)
    if any(holds_parts(attribute) or name in value for name, attribute in attributes.items()):
        raise Unfit("it is a dict that also has tensors or items in attributes")
    return {name: _copy_container(attribute) for name, attribute in attributes.items()}


def _attributes(value: Any) -> dict[str, Any]:
    return getattr(value, "__dict__", {}) if isinstance(value, dict) else {}


def _together(cls: type) -> Callable[[Iterable[Any], Context], Any]:
    def unflatten(parts: Iterable[Any], context: Context) -> Any:
        result: Any = object.__new__(cls) if not issubclass(cls, dict) else cls.__new__(cls)
        entries = {**dict(zip(context.parts, parts, strict=True)), **context.rest}
        for name, item in entries.items():
            value = item if name in context.parts else _copy_container(item)
            if isinstance(result, dict):
                _set_item(result, name, value)
            else:
                object.__setattr__(result, name, value)
        if context.mirror:
            attributes = result if context.mirror == "shared" else dict(result)
            object.__setattr__(result, "__dict__", attributes)
        for name, each in context.beside.items():
            object.__setattr__(result, name, _copy_container(each))
        return result

    return unflatten


def _set_item(made: dict[str, Any], name: str, value: Any) -> None:
    base = OrderedDict if isinstance(made, OrderedDict) else dict
    base.__setitem__(made, name, value)


def state_of(value: Any) -> dict[str, Any]:
    """An object's attributes by name, those in slots too; of a dict its items.

    Raises:
        Unfit: it is a collection whose items are not attributes, or a dict with tensors beside
            its items.
    """
    if isinstance(value, dict):
        if any(not isinstance(key, str) for key in value):
            raise Unfit("it is a dict with keys that are not names")
        beside_items(value)
        return dict(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        raise Unfit(f"its class is a {type(value).__mro__[-2].__name__} subclass")
    slots = [name for cls in type(value).__mro__ for name in _slots(cls)]
    if not slots and not hasattr(value, "__dict__"):
        raise Unfit("it is not a plain Python object, so its attributes are unknown")
    entries = {name: getattr(value, name, _ABSENT) for name in slots}
    entries |= getattr(value, "__dict__", {})
    return {name: item for name, item in entries.items() if item is not _ABSENT}


def _slots(cls: type) -> list[str]:
    value = vars(cls).get("__slots__", ())
    names = [value] if isinstance(value, str) else list(value)
    hidden = [f"_{cls.__name__.lstrip('_')}{n}" if _is_hidden(n) else n for n in names]
    return [name for name in hidden if name not in ("__dict__", "__weakref__")]


def _is_hidden(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def holds_parts(value: Any, depth: int = 8) -> bool:
    """Whether a value holds a tensor, or an object that torch flattens.

    An object of an unregistered class with a tensor also counts: torch then reports the class
    instead of missing the tensor.
    """
    if isinstance(value, _PARTS):
        return True
    if depth == 0:
        return False
    if type(value) in (list, tuple, dict, OrderedDict):
        items = value.values() if isinstance(value, dict) else value
        return any(holds_parts(item, depth - 1) for item in items)
    if is_container(type(value)):
        return not isinstance(value, _COLLECTIONS)
    return any(isinstance(item, _PARTS) for item in getattr(value, "__dict__", {}).values())


def _copy_container(value: Any) -> Any:
    """A copy of plain lists, dicts and sets, which a call may mutate; anything else unchanged."""
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(_copy_container(item) for item in value)
    if type(value) in (dict, OrderedDict):
        return type(value)((key, _copy_container(item)) for key, item in value.items())
    return value


def to_json(context: Context) -> Any:
    """A context as plain data, to be saved.

    Raises:
        Unfit: an attribute is of a class that has no plain form.
    """
    rest = {name: _plain(name, value) for name, value in context.rest.items()}
    beside = {name: _plain(name, value) for name, value in context.beside.items()}
    return [list(context.parts), rest, context.mirror, beside]


def from_json(data: Any) -> Context:
    """The inverse of `to_json`."""
    parts, rest, mirror, *more = data
    items = [{name: _from_plain(attribute) for name, attribute in a.items()} for a in (rest, *more)]
    return Context(tuple(parts), items[0], mirror, items[-1] if more else {})


def _plain(name: str, value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, enum.Enum):
        return {"member": [_plain(name, type(value)), value.name]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, type):
        return {"class": [value.__module__, value.__qualname__]}
    if type(value) in (list, tuple, set, frozenset):
        return {type(value).__name__: [_plain(name, item) for item in value]}
    if type(value) in (dict, OrderedDict):
        pairs = [[_plain(name, key), _plain(name, item)] for key, item in value.items()]
        return {"dict": pairs}
    what = f"its attribute {name} is" if name else "it is"
    raise Unfit(f"{what} a {type(value).__name__}, which cannot be saved")


def _from_plain(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    if kind == "dtype":
        return getattr(torch, value)
    if kind == "device":
        return torch.device(value)
    if kind == "member":
        return getattr(_from_plain(value[0]), value[1])
    if kind == "class":
        result: Any = importlib.import_module(value[0])
        for name in value[1].split("."):
            result = getattr(result, name)
        return result
    if kind == "dict":
        return {_from_plain(key): _from_plain(item) for key, item in value}
    makers = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
    return makers[kind](_from_plain(item) for item in value)


@undone
def register_for_a_while(setups: Iterable[Registered]) -> Iterator[None]:
    """Registers for a while."""
    undo: list[Callable[[], None]] = []
    try:
        for setup in setups:
            undo.append(setup.install())
        yield
    finally:
        for function in reversed(undo):
            function()
