"""The server's end of the process that keeps the session: one call at a time, with a limit."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec

from explorer.mcp.answers import MOST_CHARACTERS, ToolRefused
from export_engine.process import another_python

Report = Callable[[int, int, str], Awaitable[None]]
"""Called with progress: done, total (0 if unknown) and what is done."""
_MOST_BYTES = 1 << 16
"""Bytes of a line of the process: an answer has about 6,000 characters, six bytes each at most."""
_GRACE = 10.0
"""Seconds that a call has to end once it is interrupted; then its process is killed."""


class Relay:
    """Passes calls to the process, which is started at the first one and after it has died."""

    def __init__(self, root: Path, seconds: float) -> None:
        """Make one.

        Args:
            root: the folder that files are below.
            seconds: the longest that a call may take.
        """
        self._root = root
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._lines: asyncio.Queue[_Line | None] = asyncio.Queue()
        self._one = anyio.Lock()
        self._calls = 0

    async def call(
        self, tool: str, arguments: dict[str, Any], options: dict[str, Any], report: Report
    ) -> str:
        """Return a tool's answer.

        Raises:
            ToolRefused: it cannot be carried out, took too long, or ended its process.
            CancelledError: the client cancelled it; the call was interrupted.
        """
        async with self._one:
            self._start()
            self._calls += 1
            self._send({"id": self._calls, "tool": tool, "arguments": arguments, **options})
            try:
                with anyio.fail_after(self._seconds):
                    ended = await self.wait_for_end(report)
            except TimeoutError as error:
                with anyio.CancelScope(shield=True):
                    await self.interrupt()
                raise ToolRefused(
                    f"{tool} took longer than {self._seconds:.0f} s and was interrupted. The limit "
                    "is the server's option --seconds."
                ) from error
            except asyncio.CancelledError:
                with anyio.CancelScope(shield=True):
                    await self.interrupt()
                raise
        if ended.ended == "ok":
            return ended.text[:MOST_CHARACTERS]
        raise ToolRefused(ended.text[:MOST_CHARACTERS])

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        module = ["-m", "explorer.mcp.process", str(self._root)]
        self._process = another_python(module, self._root)
        self._lines = asyncio.Queue()
        reader = threading.Thread(
            target=_read,
            args=(self._process, asyncio.get_running_loop(), self._lines),
            daemon=True,
        )
        reader.start()

    def _send(self, call: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # it has died, as its reader says
            self._process.stdin.write(json.dumps(call) + "\n")
            self._process.stdin.flush()

    async def wait_for_end(self, report: Report) -> _Line:
        """The end of the call that goes on."""
        while True:
            line = await self._lines.get()
            if line is None:
                raise ToolRefused(self._describe_death())
            if line.id != self._calls:
                continue
            if line.ended:
                return line
            await report(line.done, line.total, line.label)

    def _describe_death(self) -> str:
        assert self._process is not None
        code = self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return (
            f"The process that ran the code ended ({how}). Its programs are lost: export or open "
            "them again."
        )

    async def interrupt(self) -> None:
        """Interrupts the call that goes on; kills its process where it does not end."""
        process = self._process
        if process is None:
            return
        if os.name == "posix":
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
            with suppress(ToolRefused), anyio.move_on_after(_GRACE) as limit:
                await self.wait_for_end(_unheard)
            if not limit.cancelled_caught:
                return
        self.close()


async def _unheard(done: int, total: int, label: str) -> None:
    """Progress of a call that nobody waits for."""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of the process about a call: progress, or its end."""

    id: int
    done: int = 0
    total: int = 0
    label: str = ""
    ended: Literal["", "ok", "refused", "cancelled"] = ""
    text: str = ""


def _read(
    process: subprocess.Popen[str],
    loop: asyncio.AbstractEventLoop,
    lines: asyncio.Queue[_Line | None],
) -> None:
    """Passes lines of the process on to the loop; None at their end.

    The user's code can write where the process does, so any other line is dropped.
    """
    assert isinstance(process.stdout, io.TextIOWrapper)
    with suppress(RuntimeError, ValueError, OSError):  # the loop or the stream was closed
        while data := process.stdout.buffer.readline(_MOST_BYTES):
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                line = msgspec.json.decode(data, type=_Line)
                loop.call_soon_threadsafe(lines.put_nowait, line)
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lines.put_nowait, None)
