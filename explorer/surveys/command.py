"""The command `export-explorer survey`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.surveys.comparison import SurveyComparison
from explorer.surveys.journal import read_rows
from explorer.surveys.rows import Row
from explorer.surveys.running import survey
from explorer.text.escape import escape_log, harmless
from explorer.text.exit_codes import BAD, OK

_EPILOG = """\
survey.toml:
  seconds = 300                      # time limit of a trial
  memory = "8 GB"                    # memory limit of a trial
  modes = ["non-strict", "strict"]
  backends = ["program", "onnx"]     # backends to run each program with; none by default
  [[model]]
  call = "models.py:make"            # make() returns (model, args) or (model, args, kwargs)
  shapes = ["x: batch, _", ""]       # each is a trial; "" is all static

The journal has a line for each finished trial, so the same command resumes a survey that was
stopped. exit codes: 0 every trial has a program that agrees; 1 some do not, or with --compare
something got worse; 2 the command could not be carried out.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs a survey, or compares two; returns the exit code.

    Raises:
        SurveyError, OSError, ValueError: it cannot be carried out.
    """
    asked = _parser().parse_args(arguments)
    if asked.compare:
        before, after = (list(read_rows(Path(file)).values()) for file in asked.compare)
        compared = SurveyComparison(before, after)
        say(compared)
        return OK if compared.ok else BAD
    if not asked.survey:
        raise ValueError("Pass a survey.toml, or --compare with two journals.")
    file = Path(asked.survey)
    journal = Path(asked.journal) if asked.journal else file.with_suffix(".jsonl")
    try:
        result = survey(
            file,
            journal=journal,
            workers=asked.workers,
            only=asked.only,
            part=parse_part(asked.part),
            again=asked.again,
            progress=None if asked.quiet else print_row,
        )
    except KeyboardInterrupt:
        say(f"\nStopped. {journal} has the rows so far; the same command resumes.")
        return BAD
    say(result)
    for path in asked.output:
        say(f"written: {result.save(path)}")
    return OK if result.ok and not result.problem else BAD


def parse_part(text: str) -> tuple[int, int]:
    """`2/8` as numbers. Raises ValueError."""
    read = re.fullmatch(r"(\d+)/(\d+)", text)
    if read is None or not 1 <= int(read[1]) <= int(read[2]):
        raise ValueError(f"--part {text} is not a part such as 2/8.")
    return int(read[1]), int(read[2])


def print_row(done: int, total: int, row: Row) -> None:
    """Prints how a trial ended, to standard error."""
    line = harmless(f"{done}/{total} {row.key}: {row.outcome} {row.code} ({row.seconds:.0f} s)")
    sys.stderr.write(f"{escape_log(line)}\n")


def say(what: object) -> None:
    """Prints a text."""
    sys.stdout.write(f"{escape_log(what)}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer survey",
        description="Export many models, each in its own process with time and memory limits, "
        "and report which export, why the others do not, and which fixes help.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("survey", nargs="?", metavar="SURVEY.toml", help="what to try")
    parser.add_argument("--journal", metavar="FILE.jsonl", help="default: next to the survey")
    add_selection(parser)
    parser.add_argument(
        "--again",
        action="append",
        default=["lost"],
        metavar="OUTCOME",
        help="repeat trials with these outcomes: time, memory, crashed",
    )
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="write the table: .html, .json, .xml (JUnit), .txt, or the counts by group: .md; can "
        "be repeated",
    )
    parser.add_argument(
        "--compare", nargs=2, metavar="JOURNAL", help="compare two surveys by their journals"
    )
    return parser


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say which trials run, and how many at once."""
    parser.add_argument("--workers", type=int, metavar="N", help="trials at once (default: cores)")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="only models with this name: 'bert*'",
    )
    parser.add_argument("--part", default="1/1", metavar="K/N", help="one part of several: 2/8")
    parser.add_argument("--quiet", action="store_true", help="do not print a line for each trial")
