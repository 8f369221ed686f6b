"""A client of the Model Context Protocol: reported failures, each to a verified patch.

The client knows nothing of the model: it exports, takes the fix that is offered, verifies, and asks
for the patch. `python -m tests.benchmarks.assisting two-paths` prints the talk of some.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp.client.client import Client

from explorer.mcp.server import make_server

from .reports import REPORTED, Reported
from .table import Row

_MOST = 20
_CHARACTERS_A_TOKEN = 3


class Talk(NamedTuple):
    """A client's calls about one failure."""

    name: str
    calls: int
    tokens: int
    patched: bool
    """Whether a patch, or a change of the call, was given for a program whose guarantees hold."""
    told: str


def cases(most: int = _MOST) -> list[Reported]:
    """Reports of a line of code, asked for in the short language, spread over all that there are.

    A few more than asked for: some no longer fail, or fail in eager, which no patch mends.
    """
    able = [each for each in REPORTED if each.lines and isinstance(each.shapes, str | None)]
    step = max(1, len(able) // (2 * most))
    return [*able[:: 2 * step], *able[step :: 2 * step]]


def talks(chosen: Sequence[Reported]) -> list[Talk]:
    """The talk about each failure, on a server of its own folder."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(Path(__file__).parent / "reports", root / "reports")
        return anyio.run(_all, root, chosen)


async def _all(root: Path, chosen: Sequence[Reported]) -> list[Talk]:
    found = []
    async with Client(make_server(root, seconds=300)) as client:
        for number, case in enumerate(chosen, 1):
            talk = await _one(client, case, f"p{number}")
            print(talk[:4], file=sys.stderr, flush=True)
            fails = "not exported" in talk.told and "also fails in eager" not in talk.told
            found += [talk] if fails else []
            if len(found) == _MOST:
                break
    return found


async def _one(client: Client, case: Reported, handle: str) -> Talk:
    told: list[str] = []

    async def call(tool: str, **arguments: Any) -> str:
        answer = await client.call_tool(tool, arguments)
        text = answer.content[0].text  # type: ignore[union-attr]
        told.append(f"{tool} {json.dumps(arguments)}\n{text}")
        return "" if answer.is_error else str(text)

    named = case.name.replace("-", "_")
    said = await call("export", call=f"reports.calls:{named}", dynamic_shapes=case.shapes)
    if "apply_fix" in said:
        said = await call("apply_fix", program=handle)
    held = "guarantee" in await call("verify", program=handle)
    patch = await call("make_patch", program=handle) if held else ""
    broken = "✗" in told[-2] if held else True
    tokens = sum(map(len, told)) // _CHARACTERS_A_TOKEN
    right = bool(patch) and not broken
    return Talk(case.name, len(told), tokens, right, "\n\n".join(told))


def run() -> list[Row]:
    """How many end in a verified patch, and what the longest talk costs."""
    found = talks(cases())
    patched = [each for each in found if each.patched]
    tokens = [each.tokens for each in found]
    return [
        Row(
            f"{len(found)} reported failures, by an assistant's tools",
            "end in a verified patch",
            len(patched) / len(found),
            "of 1",
            least=0.85,
            means="; ".join(each.name for each in found if not each.patched) or "all",
        ),
        Row(
            "the longest talk of those",
            "calls",
            max(each.calls for each in found),
            "",
            most=8,
            means="export, apply_fix, verify, make_patch",
        ),
        Row(
            "the longest talk of those",
            "tokens",
            max(tokens),
            "",
            most=20_000,
            means=f"three characters a token; median {statistics.median(tokens):.0f}",
        ),
    ]


if __name__ == "__main__":
    wanted = sys.argv[1:]
    chosen = [each for each in REPORTED if each.name in wanted] if wanted else cases()
    for talk in talks(chosen):
        if wanted:
            print(talk.told)
        print(talk[:4])
