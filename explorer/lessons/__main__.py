"""`python -m explorer.lessons NOTEBOOK...` rehearses lessons and lists problems."""

from __future__ import annotations

import sys
from pathlib import Path

from explorer.lessons.rehearsal import rehearse

_USAGE = "python -m explorer.lessons NOTEBOOK...   rehearse lessons unattended\n"


def main(paths: list[str]) -> int:
    """Rehearses each notebook; 0 if all pass, 1 if some have problems."""
    if not paths or paths[0].startswith("-"):
        sys.stdout.write(_USAGE)
        return 0 if paths else 2
    bad = 0
    for path in paths:
        try:
            rehearsal = rehearse(path)
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{path}: {error}\n")
            bad += 1
            continue
        sys.stdout.write(f"{Path(path).name}\n")
        sys.stdout.writelines(f"  {trial}\n" for trial in rehearsal.trials)
        sys.stdout.writelines(f"  FIX {problem}\n" for problem in rehearsal.problems)
        bad += not rehearsal.ok
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
