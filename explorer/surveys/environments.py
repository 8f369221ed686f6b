"""An environment like this one, but for one package: what a survey of another torch runs in."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_MINUTES = 30
"""The longest that an installation may take: a torch for CUDA is some gigabytes."""
_INHERITED = "inherited.pth"
_DONE = ".installed"


class InstallError(RuntimeError):
    """An environment could not be made; says what the installer said."""


Maker = Callable[[str, Sequence[str], Path], str]
"""Gives the Python of an environment for a requirement, further ones, and the folder for it."""


def make_environment(requirement: str, more: Sequence[str], folder: Path) -> str:
    """The Python of an environment that has a requirement, and all else that this one has.

    It is made once, with uv where that is installed, else with venv and pip. What is installed
    there comes first; every other package, this one too, is that of the Python that runs.

    Args:
        requirement: such as `torch==2.15.0`.
        more: further requirements, such as `torchvision==0.30`.
        folder: where environments are.

    Returns:
        The path of its Python; of the Python that runs if that has the requirement, and nothing
        else is asked for.

    Raises:
        InstallError: it cannot be made.
    """
    if not more and is_installed(requirement):
        return sys.executable
    home = folder / re.sub(r"[^\w.]+", "-", " ".join([requirement, *more]))
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (home / _DONE).exists():
        return str(python)
    shutil.rmtree(home, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(home)])
        install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        _run([sys.executable, "-m", "venv", str(home)])
        install = [str(python), "-m", "pip", "install", "--quiet"]
    _run([*install, requirement, *more])
    _inherit(python)
    _run([str(python), "-c", "import explorer.surveys"])
    (home / _DONE).write_text("\n".join([requirement, *more]), encoding="utf-8")
    return str(python)


def is_installed(requirement: str) -> bool:
    """Whether this Python has `name==version`, whatever the build's local version."""
    name, pinned, wanted = requirement.partition("==")
    try:
        return bool(pinned) and version(name.strip()).partition("+")[0] == wanted.strip()
    except PackageNotFoundError:
        return False


def list_versions(package: str) -> list[str]:
    """The releases of a package that pip finds for this Python, the oldest first.

    Raises:
        InstallError: pip cannot tell.
    """
    text = _run([sys.executable, "-m", "pip", "index", "versions", package])
    listed = re.search(r"Available versions: (.*)", text)
    if listed is None:
        raise InstallError(f"pip lists no versions of {package}.")
    return sorted((name.strip() for name in listed[1].split(",")), key=version_key)


def version_key(name: str) -> tuple[int, ...]:
    """The numbers of a release, to sort by: `2.14.1` is (2, 14, 1)."""
    return tuple(int(number) for number in re.findall(r"\d+", name.partition("+")[0]))


def _inherit(python: Path) -> None:
    """Lets an environment find the packages of this one after its own."""
    home = _run([str(python), "-c", "import site; print(site.getsitepackages()[0])"]).strip()
    here = str(Path(__file__).resolve().parents[2])
    folders = [*site.getsitepackages(), site.getusersitepackages(), here]
    existing = [folder for folder in dict.fromkeys(folders) if Path(folder).is_dir()]
    line = f"import site; list(map(site.addsitedir, {existing!r}))\n"
    Path(home, _INHERITED).write_text(line, encoding="utf-8")


def _run(command: Sequence[str]) -> str:
    """Run a command and return its output. Raises InstallError with the line that says why."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_MINUTES * 60, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"{' '.join(command)} took over {_MINUTES} minutes.") from error
    except OSError as error:
        raise InstallError(f"{command[0]} cannot be run: {error.strerror}.") from error
    if ended.returncode:
        lines = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
        why = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
        raise InstallError(f"{' '.join(command[-4:])} failed: {why.strip()[:300]}")
    return ended.stdout
