"""How many bytes can still be used: the machine's, or what a container's limit leaves.

Linux tells limits by control groups, https://docs.kernel.org/admin-guide/cgroup-v2.html#memory and
https://docs.kernel.org/admin-guide/cgroup-v1/memory.html. A group is within others, each with a
limit of its own; within a container, its own group is often the folder itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import psutil

_LIMIT, _USED, _IDLE = 0, 1, 2
_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
"""A group's limit, what it uses, and what of that are cached files that Linux lets go of."""


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that this process can still take before it is killed or swaps.

    Args:
        root: where `proc` and `sys` are.
    """
    left = int(psutil.virtual_memory().available)
    for folder, names in _groups(root):
        try:
            limit = int((folder / names[_LIMIT]).read_text(encoding="ascii"))
            used = int((folder / names[_USED]).read_text(encoding="ascii"))
            stat = (folder / "memory.stat").read_text(encoding="ascii")
        except (OSError, ValueError):  # no such group here, or its limit is "max"
            continue
        idle = dict(line.split(" ", 1) for line in stat.splitlines()).get(names[_IDLE], "0")
        left = min(left, max(limit - used + int(idle), 0))
    return left


def _groups(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Folders that tell a limit on this process, and the names of their files."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    mounted = root / "sys/fs/cgroup"
    for line in lines:
        _, kinds, path = line.split(":", 2)
        within = PurePosixPath(path.lstrip("/"))
        for item in (within, *within.parents):
            if not kinds:
                yield mounted / item, _V2
            elif "memory" in kinds.split(","):
                yield mounted / "memory" / item, _V1
