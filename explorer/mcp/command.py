"""The command `export-explorer mcp`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.mcp.skill import skill
from explorer.text.exit_codes import OK


def main(arguments: Sequence[str]) -> int:
    """Serves a client until its input ends; returns the exit code.

    Raises:
        MissingPackage: the SDK is not installed.
        ValueError: the root is not a folder.
    """
    asked = _parser().parse_args(arguments)
    if asked.skill:
        sys.stdout.write(skill())
        return OK
    root = Path(asked.root)
    if not root.is_dir():
        raise ValueError(f"--root {root} is not a folder.")
    from explorer.mcp.server import make_server

    make_server(root.resolve(), read_only=asked.read_only, seconds=asked.seconds).run("stdio")
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer mcp",
        description="Serve the Model Context Protocol on standard input and output: a client can "
        "export, fix, verify, compare and read programs below a folder.",
    )
    parser.add_argument(
        "--root",
        default=".",
        metavar="FOLDER",
        help="tools reach only files below this folder (default: here)",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="offer no tool that runs code or writes files"
    )
    parser.add_argument(
        "--seconds", type=float, default=600, help="time limit of a call in seconds (default: 600)"
    )
    parser.add_argument("--skill", action="store_true", help="print SKILL.md and exit")
    return parser
