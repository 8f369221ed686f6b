"""A process that has imported what others need, and is forked for each: they start at once.

Each fork is a process of its own, in a session of its own, with its own input and output. The
server computes nothing, so that it has no threads that a fork would miss.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, NoReturn

from export_engine.defects import log_internal_error

_STEP = 0.05
"""Seconds between checks for a fork that has ended."""
_WARM_UP = 300.0
"""The most seconds until a server has imported what it needs."""
_STREAMS = 4
"""A fork's input, output and errors, and the pipe that reports its end."""


class ForkedProcess:
    """A fork of a server, as `subprocess.Popen` is a process of this one."""

    def __init__(self, pid: int, streams: Sequence[int], status: IO[bytes]) -> None:
        """Make one.

        Args:
            pid: of the fork.
            streams: file descriptors: to its input, from its output and its errors.
            status: tells its exit code once it has ended.
        """
        self.pid = pid
        self.stdin: IO[bytes] | None = os.fdopen(streams[0], "wb")
        self.stdout: IO[bytes] | None = os.fdopen(streams[1], "rb")
        self.stderr: IO[bytes] | None = os.fdopen(streams[2], "rb")
        self.is_orphan = False
        """Whether its server ended before it did, so that its exit code is unknown."""
        self._status = status
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it goes on."""
        if self._code is None and select.select([self._status], [], [], 0)[0]:
            self._read()
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """The exit code once it has ended. Raises TimeoutExpired after so many seconds."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a fork", timeout or 0)
            self._read()
        assert self._code is not None
        return self._code

    def _read(self) -> None:
        text = self._status.readline()
        self.is_orphan = not text.strip()
        self._code = -signal.SIGKILL if self.is_orphan else int(text)
        self._status.close()


class ForkServer:
    """The server, as its client sees it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts one.

        Args:
            command: of a Python that calls `serve_forks` with its standard input.
            environment: its variables.

        Raises:
            OSError: it cannot be started.
        """
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**environment, "PYTORCH_NVML_BASED_CUDA_CHECK": "1"},
                start_new_session=True,
            )

    def fork(self, stop: threading.Event | None = None) -> ForkedProcess:
        """A new process.

        Args:
            stop: once set, the server is no longer waited for.

        Raises:
            OSError: the server has ended, or takes too long.
        """
        pipes = [os.pipe() for _ in range(_STREAMS)]
        theirs = [pipes[0][0], *(write for _, write in pipes[1:])]
        ours = [pipes[0][1], *(read for read, _ in pipes[1:])]
        status = os.fdopen(ours.pop(), "rb", 0)
        try:
            socket.send_fds(self._control, [b"f"], theirs)
            pid = self._wait_for_pid(status, stop)
        except BaseException:
            status.close()
            list(map(os.close, ours))
            raise
        finally:
            list(map(os.close, theirs))
        return ForkedProcess(pid, ours, status)

    def end(self) -> None:
        """Ends the server; each fork ends as its input does."""
        self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._process.kill()
        self._process.wait()

    def _wait_for_pid(self, status: IO[bytes], stop: threading.Event | None) -> int:
        until = time.monotonic() + _WARM_UP
        while not select.select([status], [], [], _STEP)[0]:
            if self._process.poll() is not None or time.monotonic() > until:
                raise OSError("the fork server has exited or does not respond")
            if stop is not None and stop.is_set():
                raise OSError("stopped")
        text = status.readline()
        if not text.strip():
            raise OSError("the fork server has exited")
        return int(text)


def serve_forks(run: Callable[[], None]) -> NoReturn:
    """Forks this process for each request at its standard input, until that ends.

    Args:
        run: what a fork does; its standard streams are those of the request.
    """
    control = socket.socket(fileno=os.dup(0))
    forks: dict[int, int] = {}
    gc.collect()
    gc.freeze()
    while True:
        if select.select([control], [], [], _STEP if forks else None)[0]:
            message, streams, _, _ = socket.recv_fds(control, 1, _STREAMS)
            if not message:
                sys.exit(0)
            pid = _fork()
            if pid == 0:
                control.close()
                list(map(os.close, forks.values()))
                _become(streams, run)
            list(map(os.close, streams[:-1]))
            forks[pid] = streams[-1]
        _tell_ends(forks)


def _fork() -> int:
    with warnings.catch_warnings():  # Python warns of a fork with threads, as OpenBLAS has
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _become(streams: Sequence[int], run: Callable[[], None]) -> None:
    """Run a fork's work; never returns to the server's loop."""
    try:
        os.setsid()
        for number, stream in enumerate(streams[:-1]):
            os.dup2(stream, number)
            os.close(stream)
        os.write(streams[-1], f"{os.getpid()}\n".encode())
        os.close(streams[-1])
        gc.unfreeze()
        run()
    except BaseException as error:  # noqa: BLE001 - nothing comes back to the server's loop
        log_internal_error(error, "running a fork")
        sys.excepthook(*sys.exc_info())
    finally:
        for text in (sys.stdout, sys.stderr):
            with suppress(OSError):
                text.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def _tell_ends(forks: dict[int, int]) -> None:
    """Tells the code of each fork that has ended."""
    for pid, status in list(forks.items()):
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            with suppress(OSError):
                os.write(status, f"{os.waitstatus_to_exitcode(code)}\n".encode())
            os.close(status)
            del forks[pid]
