"""What to check, as `pyproject.toml` says it under `[[tool.export-explorer.check]]`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from explorer.cli.check.levels import Level

TABLE = "tool.export-explorer"


class ConfigError(ValueError):
    """The config does not say what to check."""


class Target(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """One call to check."""

    call: str
    """`package.module:make` or `file.py:make`, relative to the config; or a `.pt2` file."""
    name: str = ""
    """Its name in reports; the call by default."""
    model: str = ""
    """Which program of a `.pt2` file that holds several."""
    dynamic: str | None = None
    """The dynamic shapes, in the short language."""
    strict: bool = False
    verify: bool = False
    """Whether to check the guarantees."""
    golden: str = ""
    """A `.pt2` file, relative to the config, that the program must equal up to names."""
    delegate: str = ""
    """A backend that is to take the program: `xnnpack`."""
    min_delegated: float = 0.0
    """The least share of FLOPs that it takes, from 0 to 1."""
    delegate_golden: str = ""
    """A `.json` file, relative to the config, with the ops that it left; none may be added."""
    fail_on: Level = "error"
    """The least severe problem that fails the check."""

    @property
    def title(self) -> str:
        """Its name."""
        return self.name or self.call


class _Tool(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    check: list[Target] = []


def targets_of(file: Path) -> list[Target]:
    """The targets that a file lists, with paths as seen from here.

    Raises:
        ConfigError: says which file, which key, and what it should be.
    """
    try:
        read: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not TOML: {error}.") from error
    for key in TABLE.split("."):
        read = read.get(key, {}) if isinstance(read, dict) else {}
    try:
        tool = msgspec.convert(read, _Tool)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{file}, [{TABLE}]: {error}.") from error
    if not tool.check:
        raise ConfigError(
            f"{file} lists nothing to check. Add a table [[{TABLE}.check]] with `call = "
            '"file.py:make"`, or pass the call on the command line.'
        )
    return [_make_relative(target, file.parent) for target in tool.check]


def _make_relative(target: Target, home: Path) -> Target:
    golden = str(home / target.golden) if target.golden else ""
    is_file = target.call.endswith(".pt2") or ".py:" in target.call
    call = str(home / target.call) if is_file else target.call
    left = str(home / target.delegate_golden) if target.delegate_golden else ""
    return msgspec.structs.replace(
        target, name=target.title, call=call, golden=golden, delegate_golden=left
    )
