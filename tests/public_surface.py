"""The whole public surface on one page, `docs/reference/names.md`, which holds it.

A name, an argument or a type that changes, changes the page, and so is seen in a review. After a
change that is meant:

    python -m tests.public_surface --write
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import explorer

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "names.md"
_HEAD = """# All names

All public names. Docstrings describe the arguments: `help(explorer.explore)`.
Names that are not on this page may change without notice. `ex` is an Exploration, `kit` a set of
programs. Slow functions also accept `progress=`, a function that is called with each step.
"""


def write_page() -> str:
    """The text of the page, from the code."""
    parts = [
        _HEAD,
        _section("explorer", [_line("explorer.", name) for name in explorer.__all__]),
        _section("ex", _members("ex", explorer.Exploration)),
        _section("kit", _members("kit", explorer.Programs)),
        _list("Errors, in `explorer.errors`", explorer.errors.__all__),
        _list("Types of results, in `explorer.typing`", explorer.typing.__all__),
    ]
    return "\n".join(parts)


def _list(title: str, names: list[str]) -> str:
    return textwrap.fill(f"{title}: {', '.join(names)}.", 118) + "\n"


def _section(title: str, lines: list[str]) -> str:
    wrapped = [textwrap.fill(line, 118, subsequent_indent="    ") for line in lines]
    return "\n".join([f"## `{title}`", "", "```text", *wrapped, "```", ""])


def _line(prefix: str, name: str) -> str:
    value = getattr(explorer, name)
    return f"{prefix}{name}{'' if inspect.isclass(value) else _arguments(value)}"


def _members(name: str, owner: type) -> list[str]:
    """A line per member that a class has itself; the old names are in one that it derives from."""
    lines = []
    for member in [each for each in owner.__dict__ if not each.startswith("_")]:
        value = inspect.getattr_static(owner, member)
        is_property = isinstance(value, property)
        lines.append(f"{name}.{member}{_arguments(value.fget if is_property else value)}")
        if is_property:
            lines[-1] = lines[-1].replace("() ->", ":")
    return lines


def _arguments(function: Callable[..., object]) -> str:
    """Its signature, without `self`, and without `progress`, which all that takes long has."""
    signature = inspect.signature(function)
    texts: list[str] = []
    for name, each in signature.parameters.items():
        if name in ("self", "progress"):
            continue
        if each.kind is each.KEYWORD_ONLY and not any(text.startswith("*") for text in texts):
            texts.append("*")
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is each.empty else f" = {each.default!r}"
        texts.append(
            f"{stars}{name}: {each.annotation}{default}".replace(" | None = None", " = None")
        )
    return f"({', '.join(texts)}) -> {signature.return_annotation}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(write_page(), encoding="utf-8")
    else:
        sys.stdout.write(write_page())
