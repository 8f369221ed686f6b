"""Packages that are here already, for an environment of its own that has another torch.

Installing what the tests need takes longer than the tests of the engine. An environment of the same
Python finds those packages in a folder of links instead, which holds only what it asks for: not
this environment's torch, nor what was made for it. pip leaves the folder alone, since it is outside
of the environment.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from pathlib import Path


def share(home: Path, folder: Path, wanted: Iterable[str], left_out: Collection[str]) -> bool:
    """Lets an environment find packages of the one that runs this, and what they need.

    Args:
        home: the environment.
        folder: where the links go; not inside of `home`.
        wanted: requirements: `pytest-xdist[psutil]`.
        left_out: names of packages that are not shared, whatever needs them.

    Returns:
        Whether it did: not if the environment is of another Python, or a package is not here.
    """
    site = home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    if not site.is_dir():
        return False
    try:
        found = list(_with_needs(wanted, left_out))
    except ImportError:  # `packaging`, or one of the packages, is not here
        return False
    here = Path(sysconfig.get_path("purelib"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted({top for each in found for top in _tops(each)}):
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(here / name)
    (site / "shared.pth").write_text(f"{folder}\n", encoding="utf-8")
    _link_data(home)
    return True


def _with_needs(
    wanted: Iterable[str], left_out: Collection[str]
) -> Iterator[metadata.Distribution]:
    from packaging.requirements import Requirement

    waiting = [Requirement(each) for each in wanted]
    known = set()
    while waiting:
        needed = waiting.pop()
        name = needed.name.lower().replace("_", "-")
        if name in left_out or (name, *sorted(needed.extras)) in known:
            continue
        known.add((name, *sorted(needed.extras)))
        found = metadata.distribution(needed.name)
        yield found
        for line in found.requires or ():
            need = Requirement(line)
            extras = needed.extras or {""}
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(need)


def _tops(package: metadata.Distribution) -> set[str]:
    """Names in the folder of packages that belong to one."""
    tops = {each.parts[0] for each in package.files or ()}
    return {
        each for each in tops if each not in {"..", "__pycache__"} and not each.endswith(".pth")
    }


def _link_data(home: Path) -> None:
    """Jupyter's data: the templates of nbconvert."""
    data, there = Path(sys.prefix, "share", "jupyter"), home / "share" / "jupyter"
    if data.is_dir() and not there.exists():
        there.parent.mkdir(exist_ok=True)
        there.symlink_to(data)
