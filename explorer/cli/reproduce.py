"""The command `export-explorer reproduce`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from explorer.opening.exporting import explore
from explorer.opening.named_call import run_named_call
from explorer.results.reproduction import SECONDS
from explorer.text.escape import escape_log, harmless
from explorer.text.exit_codes import BAD, OK


def main(arguments: Sequence[str]) -> int:
    """The command `export-explorer reproduce`; returns its exit code.

    Raises:
        ImportError, TypeError, FixError, ...: it cannot be carried out.
    """
    asked = _parser().parse_args(arguments)
    call = run_named_call(asked.call)
    explored = explore(
        call.model,
        call.args,
        call.kwargs,
        dynamic_shapes=asked.dynamic,
        strict=asked.strict,
        title=asked.call,
    )
    reproduced = explored.reproduce(asked.seconds)
    if asked.output:
        reproduced.save(asked.output)
    text = reproduced.issue if asked.issue else reproduced.script
    # A terminal obeys what a model's strings may hold; a file is to fail as the model does
    sys.stdout.write(harmless(text) if sys.stdout.isatty() else text)
    sys.stderr.write(f"{escape_log(harmless(reproduced.sentence))}\n")
    return OK if explored.ok else BAD


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer reproduce",
        description="Write a short script that reproduces a failed export or a wrong output.",
        epilog="Parts of the model's own code run in other processes, in an empty folder.",
    )
    parser.add_argument("call", metavar="CALL", help="file.py:make or package.module:make")
    parser.add_argument("-d", "--dynamic", metavar="SHAPES", help='dynamic shapes: "x: batch, _"')
    parser.add_argument("--strict", action="store_true", help="strict mode")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="seconds to spend on making it shorter (default: 60)",
    )
    parser.add_argument("--output", metavar="FILE.py", help="also write the script to this file")
    parser.add_argument(
        "--issue", action="store_true", help="print the text of an issue, with versions"
    )
    return parser
