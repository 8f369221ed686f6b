"""What an editor is told of a `.pt2` file: `export-explorer page`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from explorer import explore
from explorer.cli.main import main
from explorer.cli.page import PROTOCOL


def test_a_head_and_the_page_are_printed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    old = explore(torch.nn.ReLU(), (torch.ones(3),)).save(tmp_path / "old.pt2")
    new = explore(torch.nn.Sigmoid(), (torch.ones(3),)).save(tmp_path / "ä b.pt2")

    assert main(["page", str(new)]) == 0
    head, page = map(json.loads, capfdbinary.readouterr().out.splitlines())
    assert head["protocol"] == PROTOCOL
    assert "mountPage" in Path(head["front_end"]).read_text()
    assert [each["outcome"] for each in page["attempts"]] == ["exported"]

    assert main(["page", str(new), "--diff", str(old)]) == 0
    _, page = map(json.loads, capfdbinary.readouterr().out.splitlines())
    assert (page["current"], page["compared"]) == (1, 0)


def test_what_is_not_a_program_is_said_in_a_sentence(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "bad.pt2").write_bytes(b"no archive")

    assert main(["page", str(tmp_path / "bad.pt2")]) == 2
    printed = capfdbinary.readouterr()
    assert printed.out == b""
    assert printed.err.startswith(b"export-explorer: ")
    assert printed.err.count(b"\n") == 1
