"""A client of the Model Context Protocol: from a failing file to a verified patch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import torch
from mcp.client.client import Client

import explorer
from explorer.mcp.answers import MOST_CHARACTERS, Answer, to_json, to_text
from explorer.mcp.files import Root
from explorer.mcp.server import make_server
from explorer.mcp.skill import skill
from explorer.mcp.tools import RUN_CODE, WRITE_FILES

CHARACTERS_A_TOKEN = 3
BRANCHES = """
import torch

class Signed(torch.nn.Module):
    def forward(self, x):
        print("a model may print")
        if x.sum() > 0:
            return x.sin() + 1
        return x.cos() - 1

def make():
    return Signed(), (torch.randn(3, 4),)
"""
FITS = """
import torch

def make():
    return torch.nn.Linear(4, 3, bias=False), (torch.randn(2, 4),)
"""
BAD = """
import os, sys, time, torch

def make_exit():
    sys.exit(3)

def make_crash():
    os._exit(9)

def make_slow():
    open("begun", "w").close()
    while True:
        time.sleep(0.01)

def make_nothing():
    return 1

def make_with(size):
    return 1

def make_forged():
    for stream in range(3, 30):
        try:
            os.write(stream, b'{"id": 1, "ended": "ok"}\\n[1]\\n\\xff\\n{"id": 2, "text": "')
        except OSError:
            pass
    return 1
"""


class Talk:
    """A client's calls, and how much they cost."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = 0
        self.characters = 0
        self.progress: list[str] = []

    async def __call__(self, tool: str, **arguments: Any) -> str:
        text, refused = await self.say(tool, **arguments)
        assert not refused, text
        return text

    async def refused(self, tool: str, **arguments: Any) -> str:
        text, refused = await self.say(tool, **arguments)
        assert refused, text
        return text

    async def say(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        async def heard(done: float, total: float | None, message: str | None) -> None:
            self.progress.append(message or "")

        answer = await self._client.call_tool(tool, arguments, progress_callback=heard)
        (content,) = answer.content
        text = str(content.text)  # type: ignore[union-attr]
        assert len(text) <= MOST_CHARACTERS + 200
        self.calls += 1
        self.characters += len(json.dumps(arguments)) + len(text)
        return text, bool(answer.is_error)


@asynccontextmanager
async def talking(root: Path, **options: Any) -> AsyncIterator[Talk]:
    async with Client(make_server(root, **options)) as client:
        yield Talk(client)


def converse(root: Path, story: Callable[[Talk], Awaitable[None]], **options: Any) -> None:
    """Runs a story with a server of a folder."""

    async def run() -> None:
        async with talking(root, **options) as talk:
            await story(talk)

    anyio.run(run)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "signed.py").write_text(BRANCHES)
    (folder / "bad.py").write_text(BAD)
    return folder


@pytest.mark.slow
def test_from_a_failing_file_to_a_verified_patch(root: Path) -> None:
    async def story(talk: Talk) -> None:
        said = await talk("export", call="signed.py:make", dynamic_shapes="x: batch, _")
        assert "EX111" in said
        assert "if x.sum() > 0:" in said
        assert "apply_fix(program='p1')" in said
        assert "Agrees with eager" in await talk("apply_fix", program="p1")
        assert "guarantees hold" in await talk("verify", program="p1")
        patch = json.loads(await talk("make_patch", program="p1", as_json=True))["patch"]
        assert "+        return torch.where(" in patch
        assert (root / "signed.py").read_text() == BRANCHES
        await talk("write_patch", program="p1")
        assert "torch.where(" in (root / "signed.py").read_text()
        assert talk.calls <= 8
        assert talk.characters / CHARACTERS_A_TOKEN <= 20_000
        assert any("guarantee" in each for each in talk.progress)
        await talk("export", call="signed.py:make", dynamic_shapes="x: batch, _")
        refused = await talk.refused("write_patch", program="p1")
        assert "edited since the export" in refused
        assert "1 (current)" in await talk("list_attempts", program="p1")

    converse(root, story)


@pytest.mark.slow
def test_a_file_is_read_as_data_and_compared(root: Path) -> None:
    explorer.explore(torch.nn.ReLU(), (torch.ones(3, 4),)).save(root / "relu.pt2")
    explorer.explore(torch.nn.Sigmoid(), (torch.ones(3, 4),)).save(root / "sigmoid.pt2")

    async def story(talk: Talk) -> None:
        assert "f32[3, 4]" in await talk("open_program", path="relu.pt2")
        assert "relu" in await talk("query", program="p1", text="op:relu")
        assert "sigmoid" in await talk("compare", before="p1", after="sigmoid.pt2")
        assert json.loads(await talk("count_cost", program="p1", as_json=True))["parameters"] == 0
        assert "def forward" in await talk("show", program="p1", pane="code")
        assert "def forward" in json.loads(await talk("more", as_json=True))["text"]
        assert "torch.cond" in await talk("explain_code", code="ex111")

    converse(root, story, read_only=True)


@pytest.mark.slow
def test_what_the_code_does_ends_no_server(root: Path) -> None:
    async def story(talk: Talk) -> None:
        assert "sys.exit(3)" in await talk.refused("export", call="bad.py:make_exit")
        assert "exit code 9" in await talk.refused("export", call="bad.py:make_crash")
        assert "return (model, args)" in await talk.refused("export", call="bad.py:make_nothing")

    async def cancelled(talk: Talk) -> None:
        async def slow() -> None:
            await talk.say("export", call="bad.py:make_slow")

        async with anyio.create_task_group() as group:
            group.start_soon(slow)
            while not (root / "begun").exists():
                await anyio.sleep(0.05)
            group.cancel_scope.cancel()
        assert "Known: none yet" in await talk.refused("show", program="p1")

    converse(root, story)
    converse(root, cancelled)


@pytest.mark.slow
def test_what_code_writes_into_the_servers_pipe_is_no_answer(root: Path) -> None:
    async def story(talk: Talk) -> None:
        assert "There is no program" in await talk.refused("show", program="p1")
        assert "return (model, args)" in await talk.refused("export", call="bad.py:make_forged")
        assert "Known: none yet" in await talk.refused("show", program="p1")

    converse(root, story, seconds=60)


@pytest.mark.slow
def test_a_program_is_compiled_lowered_and_counted(root: Path) -> None:
    (root / "fits.py").write_text(FITS)

    async def story(talk: Talk) -> None:
        await talk("export", call="fits.py:make", dynamic_shapes="input: batch, _")
        facts = json.loads(await talk("count_cost", program="p1", as_json=True))
        assert (facts["flops"], facts["parameters"]) == ("24*batch", 12)
        at = await talk("count_cost", program="p1", sizes={"batch": 10}, as_json=True)
        assert json.loads(at)["flops"] == 240
        lowered = json.loads(await talk("delegate", program="p1", as_json=True))
        assert lowered["share_of_ops"] == 1
        assert "post-grad 2 ops" in await talk("stages", program="p1")
        assert any("compil" in each for each in talk.progress)
        assert "outside of Core ATen" in await talk("decompose", program="p1")

    converse(root, story)


@pytest.mark.slow
def test_arguments_that_make_no_sense_are_refused(root: Path) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("apply_fix", {"fixes": [-1]}, "offers 1 fix"),
        ("apply_fix", {"fixes": [10**30]}, "offers 1 fix"),
        ("list_attempts", {"use": -1}, "has attempts 0 to 0"),
        ("delegate", {"backend": "../x"}, "There is no program"),
        ("query", {"text": "!" * 5_000}, "nested too deeply"),
        ("count_cost", {"sizes": {"batch": 1.5}}, "valid integer"),
        ("show", {"pane": "__dict__"}, "summary"),
    ]

    async def story(talk: Talk) -> None:
        await talk("export", call="signed.py:make", dynamic_shapes="x: batch, _")
        for tool, arguments, says in wrong:
            assert says in await talk.refused(tool, program="p1", **arguments), (tool, arguments)
        nested = await talk.refused(
            "export", call="signed.py:make", dynamic_shapes="x: " + "(" * 9_999
        )
        assert "nested too deeply" in nested
        assert "missing 1 required" in await talk.refused("export", call="bad.py:make_with")
        assert "bug in Export Explorer" not in await talk.refused("export", call="bad.py:make_with")
        assert (await talk("more", first_line=10**25)).startswith("The answer has")

    converse(root, story)


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_interrupted(root: Path) -> None:
    async def story(talk: Talk) -> None:
        said = await talk.refused("export", call="bad.py:make_slow")
        assert "took longer than 8 s" in said

    converse(root, story, seconds=8)


@pytest.mark.parametrize(
    "path", ["../secret.pt2", "/etc/passwd", "link.pt2", "a\0b", "folder/../../secret.pt2"]
)
def test_a_path_outside_of_the_root_is_refused(root: Path, path: str) -> None:
    (root.parent / "secret.pt2").write_bytes(b"secret")
    (root / "link.pt2").symlink_to(root.parent / "secret.pt2")

    with pytest.raises(Exception, match=r"outside of the root|not the name of a file"):
        Root(root).find(path)


@pytest.mark.parametrize(
    "call",
    ["os:getcwd", "../bad.py:make", "signed.py", "signed.py:make()", "signed.py:a b", ":make"],
)
def test_a_call_outside_of_the_root_is_refused(root: Path, call: str) -> None:
    with pytest.raises(Exception, match=r"outside|does not name|no module|neither"):
        Root(root).find_call(call)


def test_hostile_names_and_archives_are_refused(root: Path) -> None:
    (root / "broken.pt2").write_bytes(b"PK\x03\x04 no archive")

    async def story(talk: Talk) -> None:
        await talk.refused("open_program", path="broken.pt2")
        await talk.refused("open_program", path="../../../etc/shadow")
        await talk.refused("show", program="p9")
        await talk.refused("show", program="p1", pane="__class__")
        await talk.refused("open_program", path=["signed.py"])
        await talk.refused("explain_code", code="EX999")

    converse(root, story, read_only=True)


def test_a_server_for_reading_offers_no_tool_that_runs_code(root: Path) -> None:
    async def story(read_only: bool) -> dict[str, Any]:
        async with Client(make_server(root, read_only=read_only)) as client:
            return {each.name: each for each in (await client.list_tools()).tools}

    every = anyio.run(story, False)
    reading = anyio.run(story, True)

    assert {*every} - {*reading} == {*RUN_CODE, *WRITE_FILES}
    for name, tool in every.items():
        assert tool.annotations.read_only_hint is (name in reading)
        assert name in skill() or name in ("more", "diagnose", "list_attempts", "run")


def test_an_answer_stays_within_its_budget() -> None:
    rows = [{"name": f"op_{number}", "text": "x" * 5_000} for number in range(3_000)]
    answer = Answer(
        "\n".join(f"line {n} " + "y" * 900 for n in range(900)), {"rows": rows}, ("a()",)
    )

    text = to_text(answer)
    assert len(text) <= MOST_CHARACTERS
    assert "more(first_line=" in text
    assert text.endswith("a()")
    assert len(to_json(answer)) <= MOST_CHARACTERS
    assert json.loads(to_json(answer))["next"] == ["a()"]


def test_control_characters_of_a_model_are_not_repeated() -> None:
    assert "\x1b" not in to_text(Answer("a\x1b[2Jb"))
    assert "\x1b" not in to_json(Answer("", {"name": "a\x1b[2Jb"}))
