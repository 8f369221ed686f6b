"""The command `export-explorer upgrade`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from explorer.surveys.command import add_selection, parse_part, print_row, say
from explorer.surveys.environments import InstallError
from explorer.surveys.upgrading import remove_environments, upgrade
from explorer.text.exit_codes import BAD, OK

_EPILOG = """\
  export-explorer upgrade survey.toml --from torch==2.13.0 --to torch==2.15.0
  export-explorer upgrade survey.toml --from transformers==5.0.0 --to transformers==5.23.0

Each release is installed into its own environment, with uv or, without it, pip. All other packages
come from this Python. The folder keeps environments and rows, so the same command resumes. exit
codes: 0 nothing got worse; 1 a model that exported or matched before no longer does; 2 the command
could not be carried out.
"""


def main(arguments: Sequence[str]) -> int:
    """Surveys the same models with two releases, and prints what changed; returns the exit code.

    Raises:
        SurveyError, OSError, ValueError: it cannot be carried out.
    """
    asked = _parser().parse_args(arguments)
    file = Path(asked.survey)
    folder = Path(asked.folder) if asked.folder else file.with_name(f"{file.stem}-upgrade")
    try:
        result = upgrade(
            file,
            asked.before,
            asked.after,
            folder=folder,
            more=asked.more,
            workers=asked.workers,
            only=asked.only,
            part=parse_part(asked.part),
            bisect=not asked.no_bisect,
            progress=None if asked.quiet else print_row,
        )
    except InstallError as error:
        raise ValueError(f"The environment could not be made. {error}") from error
    except KeyboardInterrupt:
        say(f"\nStopped. {folder} has the rows so far; the same command resumes.")
        return BAD
    say(result)
    for path in asked.output:
        say(f"written: {result.save(path)}")
    if asked.remove:
        remove_environments(folder)
    return OK if result.ok else BAD


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="export-explorer upgrade",
        description="Export the models of a survey with two releases of torch, or of another "
        "package, and report what the newer one changes, and the release that changed it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("survey", metavar="SURVEY.toml", help="as in export-explorer survey")
    for name, to in ("from", "before"), ("to", "after"):
        parser.add_argument(
            f"--{name}",
            dest=to,
            required=True,
            metavar="NAME==VERSION",
            help="such as torch==2.15.0",
        )
    parser.add_argument(
        "--with",
        dest="more",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="also install this in each environment; can be repeated",
    )
    parser.add_argument("--folder", metavar="DIR", help="default: NAME-upgrade, next to the survey")
    parser.add_argument(
        "--no-bisect", action="store_true", help="do not look for the release of each change"
    )
    parser.add_argument(
        "--remove", action="store_true", help="delete the environments at the end, keep the rows"
    )
    add_selection(parser)
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="write the result: .json or .txt",
    )
    return parser
