"""torch's pytrees: flatten and unflatten.

Each function has a fallback if this torch lacks torch's own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from export_engine.defects import log_internal_error
from export_engine.torch_internals import private_names as torch_has


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its spec."""
    if torch_has.TREE_FLATTEN:
        leaves, spec = torch_has.TREE_FLATTEN.value(tree)
        return leaves, spec
    return torch_has.TREE_LEAVES.value(tree), torch_has.TREE_STRUCTURE.value(tree)


def tree_unflatten(leaves: Iterable[Any], spec: Any) -> Any:
    """The tree of a spec, from its leaves."""
    if torch_has.TREE_UNFLATTEN:
        return torch_has.TREE_UNFLATTEN.value(leaves, spec)
    return spec.unflatten(leaves)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    if torch_has.TREE_LEAVES:
        return list(torch_has.TREE_LEAVES.value(tree))
    return tree_flatten(tree)[0]


def is_leaf(value: Any) -> bool:
    """Whether a value is a leaf."""
    leaves = tree_leaves(value)
    return len(leaves) == 1 and leaves[0] is value


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of the same build, with each leaf changed."""
    if torch_has.TREE_MAP:
        return torch_has.TREE_MAP.value(function, tree)
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([function(leaf) for leaf in leaves], spec)


def tree_map_only(kind: type, function: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of the same build, with each leaf of a class changed."""
    return tree_map(lambda leaf: function(leaf) if isinstance(leaf, kind) else leaf, tree)


class Key(NamedTuple):
    """A step of a path, where torch gives none."""

    key: Any


def dump_tree(spec: Any) -> str:
    """A spec as JSON, as files keep it; empty for one that torch cannot write.

    Keys of dicts that are tuples are strings here; in a file they are lists.
    """
    if spec is None or not torch_has.TREESPEC_DUMPS:
        return ""
    try:
        text = str(torch_has.TREESPEC_DUMPS.value(spec))
        if not list_tuple_keys(spec):
            return text
        version, tree = json.loads(text)
        _write_tuple_keys(spec, tree)
        return json.dumps([version, tree])
    except Exception as error:  # noqa: BLE001 - a class that was registered without a name
        log_internal_error(error, "writing the structure of a call")
        return ""


def list_tuple_keys(spec: Any) -> list[Any]:
    """The keys of dicts in a spec that are tuples: torch saves them as lists."""
    own = [key for key in _list_keys(spec) if isinstance(key, tuple)]
    return [*own, *(key for child in list_children(spec) for key in list_tuple_keys(child))]


def list_children(spec: Any) -> list[Any]:
    """The specs inside a spec."""
    read = getattr(spec, "children", None)  # before torch 2.12 there is only the older name
    return list(read() if read is not None else spec.children_specs)


def _list_keys(spec: Any) -> list[Any]:
    """The keys of a dict; a defaultdict has its factory before them."""
    if not (isinstance(spec.type, type) and issubclass(spec.type, dict)):
        return []
    context = spec.context[1] if issubclass(spec.type, defaultdict) else spec.context
    return context if isinstance(context, list) else []


def _write_tuple_keys(spec: Any, tree: dict[str, Any]) -> None:
    """Makes each key that is a tuple a string in the JSON of a spec."""
    keys = [str(key) if isinstance(key, tuple) else key for key in _list_keys(spec)]
    if keys != _list_keys(spec):
        context = tree["context"]
        of_factory = isinstance(context, dict)
        tree["context"] = {**context, "dict_context": keys} if of_factory else json.dumps(keys)
    for child, part in zip(list_children(spec), tree["children_spec"], strict=True):
        _write_tuple_keys(child, part)


Path = tuple[Any, ...]


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[Path, Any]], Any]:
    """The leaves of a tree, each with the keys that lead to it, and the spec.

    Raises:
        ValueError: a container's class is registered without a function that names what is in it.
    """
    if torch_has.FLATTEN_WITH_PATH:
        leaves, spec = torch_has.FLATTEN_WITH_PATH.value(tree, is_leaf=is_leaf)
        return leaves, spec
    return list(_walk(tree, (), is_leaf)), tree_flatten(tree)[1]


def _walk(
    tree: Any, path: Path, is_leaf: Callable[[Any], bool] | None
) -> Iterable[tuple[Path, Any]]:
    """In torch's order; what is in a container of another class is numbered."""
    children: Iterable[tuple[Any, Any]] = ()
    if is_leaf is not None and is_leaf(tree):
        yield path, tree
    elif isinstance(tree, Mapping):
        children = tree.items()
    elif isinstance(tree, tuple) and hasattr(tree, "_fields"):
        children = zip(tree._fields, tree, strict=True)
    elif isinstance(tree, list | tuple):
        children = enumerate(tree)
    else:
        leaves = tree_leaves(tree)
        if len(leaves) == 1 and leaves[0] is tree:
            yield path, tree
        else:
            yield from (((*path, Key(number)), leaf) for number, leaf in enumerate(leaves))
    for key, child in children:
        yield from _walk(child, (*path, Key(key)), is_leaf)


def tree_map_with_path(
    function: Callable[[Path, Any], Any],
    tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """A tree of the same build, with each leaf changed by its path and value."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    return tree_unflatten([function(path, leaf) for path, leaf in leaves], spec)
