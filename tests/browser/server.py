"""A JupyterLab server of its own: nothing of the user's Jupyter is read or written."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from . import forked_kernels

ROOT = Path(__file__).parents[2]
START_SECONDS = 180.0
LESSONS = "lessons"


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    token: str
    folder: Path
    """Where the notebooks are."""
    settings: Path
    """Where JupyterLab keeps what is set in its page."""
    lessons: Path
    """Where a learner's progress is kept."""

    def api(self, path: str, method: str = "GET") -> object:
        """The JSON that the server's REST API answers, None where it answers nothing."""
        request = Request(
            f"{self.url}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urlopen(request, timeout=10) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def start_over(self) -> None:
        """Ends all kernels and forgets what was set and learnt, such as the theme."""
        for kept in (self.settings, self.lessons):
            shutil.rmtree(kept, ignore_errors=True)
        sessions = self.api("sessions")
        assert isinstance(sessions, list)
        for session in sessions:
            self.api(f"sessions/{session['id']}", "DELETE")


@contextmanager
def serve(home: Path, warm: bool = False) -> Iterator[Server]:
    """A server whose home, settings and notebooks are below `home`, until the block ends.

    Args:
        home: an empty folder.
        warm: whether kernels start with torch imported, as `forked_kernels` says.
    """
    folder = home / "notebooks"
    folder.mkdir(parents=True)
    _write_settings(home)
    token, port = secrets.token_hex(16), _free_port()
    settings = home / "config" / "lab" / "user-settings"
    server = Server(f"http://127.0.0.1:{port}", token, folder, settings, home / LESSONS)
    with ExitStack() as running:
        if warm:
            kernels = home / "kernels.sock"
            forked_kernels.write_kernelspec(home / "data" / "kernels" / "python3", kernels)
            running.enter_context(_process(forked_kernels.command(kernels), home, "kernels"))
        process = running.enter_context(_process(_command(folder, token, port), home, "server"))
        _wait_for(server, process, home / "server.log")
        yield server
        server.start_over()


@contextmanager
def _process(command: list[str], home: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that writes to `name`.log, until the block ends."""
    with (home / f"{name}.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=_environment(home), stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _command(folder: Path, token: str, port: int) -> list[str]:
    return [
        sys.executable,
        *("-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}",
        f"--IdentityProvider.token={token}",
        "--ServerApp.terminals_enabled=False",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",  # the other one asks PyPI
    ]


def _environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_PATH": home / "data",  # before the environment's: its kernel is cold
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
        "EXPORT_EXPLORER_DATA": home / LESSONS,
        "PYTHONPATH": ROOT,
    }
    return {**os.environ, **{name: str(path) for name, path in own.items()}}


def _write_settings(home: Path) -> None:
    page_config = home / "config" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    disabled = {
        # The news popup would cover the notebook; the option `news_url` does not hide it.
        "@jupyterlab/apputils-extension:announcements": True,
        # Still asks a kernel for its state when the notebook is closed, and logs that as an error.
        "@jupyterlab/debugger-extension": True,
    }
    page_config.write_text(json.dumps({"disabledExtensions": disabled}), encoding="utf-8")
    _add_extension(home)


def _add_extension(home: Path) -> None:
    """The extension of this tree, whatever is installed: where the wheel would put it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    data = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    folders = {"share/jupyter": home / "data", "etc/jupyter": home / "config"}
    for source, target in data.items():
        start = next(each for each in folders if target.startswith(each))
        file = folders[start] / Path(target).relative_to(start)
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, file)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            server.api("status")
        except URLError as error:
            ended = process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}") from error
            time.sleep(0.1)
        else:
            return
