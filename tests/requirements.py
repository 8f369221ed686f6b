"""What an extra of the package installs, with the extras that it names: `python -m` prints it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(*extras: str) -> list[str]:
    """The requirements of the package with extras, in order, each once."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    listed = list(project["dependencies"])
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            if own := re.fullmatch(r"export-explorer\[([\w,]+)\]", requirement):
                listed += requirements(*own[1].split(","))
            else:
                listed.append(requirement)
    return list(dict.fromkeys(listed))


if __name__ == "__main__":
    print(*requirements(*sys.argv[1:]), sep="\n")
