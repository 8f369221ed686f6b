"""The command `export-explorer page`: what an editor needs to show a `.pt2` file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.opening.file_page import page_of_file
from explorer.text.exit_codes import OK

PROTOCOL = 1
"""The version of the two printed lines. An editor rejects one that it does not know."""


def main(arguments: Sequence[str]) -> int:
    """Prints two lines of JSON, a head and the page; returns the exit code.

    Raises:
        ArchiveError: the file is not an archive of a program.
        FrontEndMissing: the front end was not built.
    """
    from widgets import front_end_file

    asked = _parser().parse_args(arguments)
    before = Path(asked.diff) if asked.diff else None
    page = page_of_file(Path(asked.file), before)
    head = {"protocol": PROTOCOL, "front_end": str(front_end_file())}
    sys.stdout.buffer.write(b"%s\n%s\n" % (json.dumps(head).encode(), page))
    sys.stdout.buffer.flush()
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer page",
        description="Print the view of a .pt2 file for an editor: a line with the location of "
        "the front end, and a line with the page, both JSON. Nothing in the file is run.",
    )
    parser.add_argument("file", metavar="FILE.pt2", help="the file to show, with all its programs")
    parser.add_argument(
        "--diff", metavar="OTHER.pt2", help="compare with this file; only the first program of each"
    )
    return parser
