"""The user's name for a result, so that a line to type works unchanged."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any


def find_variable(session: object) -> str:
    """How the main module, whose variables a notebook's cells share, gets at a result.

    Args:
        session: the session of the result.

    Returns:
        The variable, `net`, or the program of a set, `kit['decode']`; a name with a leading
        underscore only if there is no other. Empty if no variable holds the result.
    """
    main = sys.modules.get("__main__")
    variables = list(vars(main).items()) if main else []
    ways = [(name, _way_to(session, value)) for name, value in variables]
    texts = [name + way for name, way in ways if way is not None]
    return max(texts, key=lambda name: (not name.startswith("_"), "[" not in name), default="")


def _way_to(session: object, value: Any) -> str | None:
    """The suffix after the name of a variable with a session's result; None if there is none."""
    if not type(value).__module__.startswith("explorer."):
        return None
    if getattr(value, "session", None) is session:
        return ""
    members = value.items() if isinstance(value, Mapping) else ()
    return next((f"[{name!r}]" for name, item in members if _way_to(session, item) == ""), None)
