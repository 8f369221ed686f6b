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
            found = [walk.spec(each, (name, str(i))) for i, each in enumerate(value)]
            params |= {"*args": found} if any(each is not None for each in found) else {}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            apart = name not in keywords_apart(bound.signature, bound.arguments)
            above = () if apart else (name,)  # a keyword is called as a parameter is
            named = {key: walk.spec(each, (*above, key)) for key, each in value.items()}
            said = {key: each for key, each in named.items() if each is not None}
            params |= {"**kwargs": said} if said else {}
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
        found = container_of(value)
        if found is None:
            return self._leaf(join_path(steps), value)
        parts = {key: self.spec(part, (*steps, str(key))) for key, part in found.parts}
        if all(part is None for part in parts.values()):
            return None
        strange = found.kind == "dict" and any(not isinstance(key, str | int) for key in parts)
        if found.kind == "keys" or strange:
            path = join_path(steps)
            raise Misfit(
                f"a ShapesSpec does not reach into {path}, a {type(value).__name__}: it "
                "addresses parts by index, by str or int key, and by attribute. Use Dims instead",
                path,
            )
        if found.kind != "list":
            parts = {key: part for key, part in parts.items() if part is not None}
        return self._container(found.kind, parts)
