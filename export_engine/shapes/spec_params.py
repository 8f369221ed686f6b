"""The arguments of a call, walked as torch's ParamsSpec has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from export_engine.record import join_path
from export_engine.shapes.errors import Misfit
from export_engine.torch_internals import container_of, keywords_apart


def params_of(
    bound: inspect.BoundArguments,
    leaf: Callable[[str, Any], Any],
    container: Callable[[str, dict[Any, Any]], Any],
) -> dict[str, Any]:
    """The arguments of a ParamsSpec, by parameter; parts without a spec are left out.

    Args:
        bound: a call.
        leaf: the spec of a leaf by its path and value; None for a static one.
        container: the spec of a container from its kind and its parts' specs.

    Raises:
        Misfit: a spec is for a part that a ShapesSpec cannot address.
    """
    walk = _Walk(leaf, container)
    params: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            items = [walk.spec(item, (name, str(i))) for i, item in enumerate(value)]
            params |= {"*args": items} if any(item is not None for item in items) else {}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            apart = name not in keywords_apart(bound.signature, bound.arguments)
            above = () if apart else (name,)  # a keyword is called as a parameter is
            named = {key: walk.spec(item, (*above, key)) for key, item in value.items()}
            entries = {key: item for key, item in named.items() if item is not None}
            params |= {"**kwargs": entries} if entries else {}
        else:
            spec = walk.spec(value, (name,))
            params |= {name: spec} if spec is not None else {}
    return params


class _Walk:
    def __init__(
        self,
        leaf: Callable[[str, Any], Any],
        container: Callable[[str, dict[Any, Any]], Any],
    ) -> None:
        self._leaf, self._container = leaf, container

    def spec(self, value: Any, steps: tuple[str, ...]) -> Any:
        """The spec of a value; None where all in it is static."""
        container = container_of(value)
        if container is None:
            return self._leaf(join_path(steps), value)
        parts = {key: self.spec(part, (*steps, str(key))) for key, part in container.parts}
        if all(part is None for part in parts.values()):
            return None
        strange = container.kind == "dict" and any(not isinstance(key, str | int) for key in parts)
        if container.kind == "keys" or strange:
            path = join_path(steps)
            raise Misfit(
                f"a ShapesSpec does not reach into {path}, a {type(value).__name__}: it "
                "addresses parts by index, by str or int key, and by attribute. Use Dims instead",
                path,
            )
        if container.kind != "list":
            parts = {key: part for key, part in parts.items() if part is not None}
        return self._container(container.kind, parts)
