"""Kernels forked from one process that has imported torch and transformers: seconds less a test.

JupyterLab starts what the kernelspec names: a process of no imports that asks the one that has them
for a fork, passes signals on to it, and ends when it ends. `%export` in such a kernel does what it
does in any other; what a first import costs is for `tests/benchmarks`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

IMPORTED = (
    "ipykernel.kernelapp",
    "IPython",
    "anywidget",
    "torch",
    "torch._dynamo",
    "torch.export._trace",
    "msgspec",
    "transformers.models.bert.modeling_bert",
    "transformers.models.gpt2.modeling_gpt2",
)


# Asks within the time that Python takes to start: with nothing of the environment, not even `site`
_PYTHON = (sys.executable, "-I", "-S", __file__)


def command(at: Path) -> list[str]:
    """The command of the process that forks kernels."""
    return [sys.executable, "-P", __file__, "fork", str(at)]


def write_kernelspec(folder: Path, at: Path) -> None:
    """Writes the kernelspec whose kernels are forked by the process that listens at `at`."""
    folder.mkdir(parents=True)
    ask = [*_PYTHON, "ask", str(at), "{connection_file}"]
    spec = {"argv": ask, "display_name": "Python 3 (ipykernel)", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def fork_on_demand(at: str) -> None:
    """Listens at a path, and forks a kernel for each who asks, until this process is ended."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what all kernels share is not looked through by each
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no ended kernel stays behind
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(at)
        listening.listen()
        while True:
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _be_a_kernel(asking)
            asking.close()


def _be_a_kernel(asking: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with asking.makefile(encoding="utf-8") as text:
        wanted = json.loads(text.readline())
    asking.sendall(f"{os.getpid()}\n".encode())
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # ipykernel would end: its parent is another
    os.chdir(wanted["folder"])
    sys.path[:] = [path for path in sys.path if path != ""]
    threading.Thread(target=_end_with, args=(asking,), daemon=True).start()

    from ipykernel.kernelapp import IPKernelApp

    sys.argv = ["ipykernel_launcher.py", "-f", wanted["connection"]]
    IPKernelApp.launch_instance(sys.argv[1:])
    os._exit(0)


def _end_with(asking: socket.socket) -> None:
    """Ends this kernel when who asked for it is gone."""
    asking.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


def ask(at: str, connection: str) -> None:
    """What JupyterLab takes for the kernel: passes signals on, and ends with it."""
    with socket.socket(socket.AF_UNIX) as asking:
        while asking.connect_ex(at):  # torch is still being imported
            time.sleep(0.1)
        wanted = {
            "connection": connection,
            "folder": str(Path.cwd()),
            "environment": dict(os.environ),
        }
        asking.sendall(f"{json.dumps(wanted)}\n".encode())
        kernel = int(asking.makefile().readline())
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda number, _: os.kill(kernel, number))
        asking.recv(1)


if __name__ == "__main__":
    if sys.argv[1] == "fork":
        fork_on_demand(sys.argv[2])
    else:
        ask(*sys.argv[2:])
