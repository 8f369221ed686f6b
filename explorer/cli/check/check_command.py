"""The command `export-explorer check`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from explorer.cli.check.check_target import Checked, check
from explorer.cli.check.config import Target, targets_of
from explorer.cli.check.levels import LEVELS
from explorer.cli.check.reports import FORMATS
from explorer.text.exit_codes import BAD, OK, UNCHECKED

_EPILOG = """\
without a call, pyproject.toml lists the checks:
  [[tool.export-explorer.check]]
  call = "models/tiny.py:make"      # returns (model, args) or (model, args, kwargs); or a .pt2 file
  dynamic = "x: batch, _"
  verify = true                     # also check the guarantees
  golden = "golden/tiny.pt2"        # the golden program to compare with
  fail-on = "warning"               # lowest severity that fails: error, warning or note

exit codes: 0 nothing fails; 1 something does; 2 the command could not be carried out; 3 nothing
fails, but a guarantee that can be checked was not; 4 Export Explorer itself failed.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code.

    Raises:
        ConfigError, ImportError, TypeError, ...: it cannot be carried out.
    """
    asked = _parser().parse_args(arguments)
    checked = [_time_check(target, asked.update) for target in _targets(asked)]
    report = FORMATS[asked.format](checked)
    if asked.output:
        Path(asked.output).write_text(report + "\n", encoding="utf-8")
        if asked.format != "text":
            report = FORMATS["text"](checked)
    sys.stdout.write(f"{report}\n")
    if any(item.failed for item in checked):
        return BAD
    return UNCHECKED if any(item.unchecked for item in checked) else OK


def _targets(asked: argparse.Namespace) -> list[Target]:
    """Those of the command line, or else those of the config."""
    entries = {
        "dynamic": asked.dynamic,
        "golden": asked.golden,
        "strict": asked.strict,
        "verify": asked.verify,
    }
    options = {key: value for key, value in entries.items() if value}
    if asked.fail_on:
        options["fail_on"] = asked.fail_on
    if asked.calls:
        if asked.golden and len(asked.calls) > 1:
            raise ValueError("--golden needs exactly one call: pass one, or use a config.")
        return [Target(call=call, **options) for call in asked.calls]
    alone = [key for key in ("dynamic", "golden", "strict") if key in options]
    if alone:
        raise ValueError(f"--{alone[0]} needs a call: pass one, or set it in the config.")
    targets = targets_of(Path(asked.config))
    return [msgspec.structs.replace(target, **options) for target in targets]


def _time_check(target: Target, update: bool) -> Checked:
    started = time.perf_counter()
    checked = check(target, update)
    return msgspec.structs.replace(checked, seconds=time.perf_counter() - started)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer check",
        description="Export the models of a config, and report problems.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "calls", nargs="*", metavar="CALL", help="file.py:make, package.module:make or a .pt2 file"
    )
    parser.add_argument("--config", default="pyproject.toml", metavar="FILE", help="a TOML file")
    parser.add_argument("-d", "--dynamic", metavar="SHAPES", help='dynamic shapes: "x: batch, _"')
    parser.add_argument("--strict", action="store_true", help="strict mode")
    parser.add_argument("--verify", action="store_true", help="also check the guarantees")
    parser.add_argument("--golden", metavar="FILE.pt2", help="the golden program to compare with")
    parser.add_argument("--update", action="store_true", help="write the golden files")
    parser.add_argument(
        "--fail-on", choices=LEVELS, help="lowest severity that fails (default: error)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--output", metavar="FILE", help="write the report to this file; text goes to stdout"
    )
    return parser
