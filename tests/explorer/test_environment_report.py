"""`explorer.doctor()`: what a bug report needs, and nothing that is the user's own."""

from __future__ import annotations

import getpass
import platform
import socket
from pathlib import Path

import pytest
import torch

import explorer
from explorer.cli.main import main
from explorer.results.environment_report import _without_paths
from export_engine.torch_internals import all_capabilities
from export_engine.torch_internals.capability import PROBED, Looked
from export_engine.torch_internals.private_names import LOG_GUARD


def test_it_says_versions_capabilities_backends_devices_and_the_host() -> None:
    found = explorer.doctor()

    text = str(found)
    assert found.versions["torch"].partition("+")[0] == torch.__version__.partition("+")[0]
    assert f"Python {platform.python_version()}" in text
    assert found.capabilities == len(all_capabilities())
    assert found.devices[0] == "cpu"
    assert {"eager", "program", "inductor"} <= found.backends.keys()
    assert found.host
    for heading in ("Host", "Devices", "Backends on the CPU", "Private names of torch"):
        assert f"\n{heading}\n" in text


def test_it_names_what_this_torch_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Looked(None, "which torch 9.9 does not have")
    guards = LOG_GUARD.path
    leaves = "torch.utils._pytree.tree_leaves"
    monkeypatch.setitem(PROBED, guards, gone)
    monkeypatch.setitem(PROBED, leaves, gone)
    found = explorer.doctor()

    assert any(guards in said for said in found.left_out)
    assert any(leaves in said for said in found.otherwise)
    assert f"That needs {guards}, which torch 9.9 does not have." in str(found)


def test_it_names_no_user_no_machine_and_no_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/secret/salaries.ipynb")
    path = all_capabilities()[0].path
    said = "which has changed in torch (ImportError: no x in 'torch' (/home/secret/torch/x.py))"
    monkeypatch.setitem(PROBED, path, Looked(None, said))
    assert main(["--doctor"]) == 0

    text = capsys.readouterr().out
    for private in ("secret", "salaries", socket.gethostname(), str(Path.home()), str(Path.cwd())):
        assert private not in text
    if getpass.getuser() not in ("root", "user"):
        assert getpass.getuser() not in text


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("no 'x' in /home/me/torch/x.py.", "no 'x' in …"),
        (r"no module in C:\Users\me\torch\x.pyd", "no module in …"),
        ("torch/_dynamo/registry.json, which is missing", "torch/_dynamo/registry.json, which"),
        ("a GPU / TPU is needed", "a GPU / TPU is needed"),
    ],
)
def test_folders_are_left_out(said: str, left: str) -> None:
    assert left in _without_paths(said)
