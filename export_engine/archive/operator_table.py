"""Writes `operators.txt`, which archives are read with, from the installed torch.

python -m export_engine.archive.operator_table
"""

from __future__ import annotations

from pathlib import Path


def table() -> str:
    """The text of the file."""
    from export_engine.torch_internals import operator_lines

    return "".join(f"{line}\n" for line in operator_lines())


if __name__ == "__main__":
    Path(__file__).with_name("operators.txt").write_text(table(), encoding="utf-8")
