"""The text for a client's own instructions: `SKILL.md`, which the wheel has."""

from __future__ import annotations

from pathlib import Path


def skill() -> str:
    """When to use which tool, as Markdown with a head that names and describes it."""
    return Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8")
