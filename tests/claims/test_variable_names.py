"""What is said to be typed names the user's own variable, and no click takes it away."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

import explorer
from explorer.errors import FixError, NotTrusted
from explorer.session.writing import writing

from ..kernel_ext.cells import own_shell, run

SETUP = """
import torch, explorer
class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()
model, x = Undecided(), torch.ones(3, 4)
"""
_OTHERS = re.compile(r"\b(?:ex|kit|exploration|_export)\.\w+|\b(?:ex|kit)\b \w+ now")
"""A variable that these cells do not have."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.chdir(tmp_path)  # where a guide writes its report
    with own_shell() as shell:
        shell.run_line_magic("load_ext", "kernel_ext")
        assert shell.run_cell(SETUP).success
        yield shell


def said_of(ex: Any) -> list[str]:
    """All that is said of an export: text, page, verdict."""
    heads = ex.session.heads()
    commands = [item.command for item in ex.release_report().items]
    shown = [item.command for head in heads for item in head.release.items]
    names = [head.name for head in heads]
    return [repr(ex), str(ex.release_report()), *commands, *shown, *[f"{n}.x" for n in names]]


def test_text_page_and_verdict_name_the_variable_of_as(shell: InteractiveShell) -> None:
    _, failed = run(shell, '%export --as k -d "x: batch, _" model(x)')
    k = shell.user_ns["k"]
    before = said_of(k)
    k.apply_fixes(0)
    texts = [failed, *before, *said_of(k)]

    assert [text for text in texts if _OTHERS.search(text)] == []
    assert "k.apply_fixes(0)" in "".join(texts)
    assert any(text.startswith("k.verify()") for text in texts)


def test_a_guide_and_errors_name_it_too(shell: InteractiveShell) -> None:
    _, guided = run(shell, "%export --guide --as k model(x)")
    run(shell, "%export --as k model(x)")
    k = shell.user_ns["k"]
    with pytest.raises(FixError) as missing:
        k.apply_fixes(99)
    with pytest.raises(FixError) as in_editor:
        writing(k.session, 0, [99])
    texts = [guided, str(missing.value), str(in_editor.value)]

    assert [text for text in texts if _OTHERS.search(text)] == []
    assert "k." in guided


def test_an_untrusted_file_names_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)), path)
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    main.net = explorer.load(path)  # type: ignore[attr-defined]

    with pytest.raises(NotTrusted, match=r"net\.trust\(\)"):
        main.net.verify()  # type: ignore[attr-defined]
    assert not _OTHERS.search(repr(main.net))  # type: ignore[attr-defined]


def test_no_action_of_the_page_binds_a_variable(shell: InteractiveShell) -> None:
    run(shell, "%export --as k model(x)")
    before = dict(shell.user_ns)
    k = before["k"]
    k.session.apply(0, [0])
    k.session.decompose(k.session.current, "core")
    k.session.use(0)

    assert {name for name in before if shell.user_ns.get(name) is not before[name]} == set()
    assert shell.user_ns.keys() == before.keys()
