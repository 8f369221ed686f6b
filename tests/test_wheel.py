"""What an installed wheel brings, built here from the tree as it stands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import torch

import explorer
import hatch_build
from tests.requirements import requirements

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PACKAGES = ("explorer", "export_engine", "kernel_ext", "widgets")
BUNDLED = ("@hpcc-js/wasm-graphviz", "Graphviz", "Expat", "@preact/signals", "preact")
"""What the front end contains that others have written."""
USE = """
import pathlib, sys
import explorer, export_engine, kernel_ext, widgets
home = pathlib.Path(sys.argv[1])
for package in (explorer, export_engine, kernel_ext, widgets):
    assert home in pathlib.Path(package.__file__).parents, package.__file__
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "kernel_ext")
assert len(widgets.front_end()) > 100_000
import torch
found = explorer.explore(torch.nn.ReLU(), (torch.ones(2),))
assert found.ok
assert "Graphviz (Eclipse Public License)" in found.save("report.html").read_text()
found.save("model.pt2")
"""

LOOK = """
import errno, subprocess, sys, time
sys.path[:0] = [sys.argv[1]]
if "as Pyodide" in sys.argv:
    del time.thread_time
    def start(*_, **__): raise OSError(errno.ENOTSUP, "emscripten does not support processes.")
    subprocess.Popen.__init__ = start
import explorer
ex = explorer.load("model.pt2")
assert "loaded, 4 ops" in str(ex)
assert "Identical" in str(explorer.diff("model.pt2", "model.pt2"))
assert "relu" in str(ex.query("op:relu"))
assert "FLOPs" in str(ex.cost())
assert ex.save("look.html").stat().st_size > 100_000
assert ex.save("look.json").stat().st_size > 1_000
assert ex.save("look.dot").stat().st_size > 100
try:
    ex.save("look.svg")
except explorer.errors.PlainError as error:
    assert "apt install graphviz" in str(error)
try:
    explorer.explore(print, ())
except ModuleNotFoundError as error:
    assert str(error).endswith('not installed: pip install "export-explorer[torch]"'), error
else:
    raise AssertionError("there is a torch")
from explorer.cli.main import main
assert main(["model.pt2", "--html", "look.html", "--diff", "model.pt2"]) == 0
for asked in (["--verify"], ["--run"], ["--ready"], ["--save", "out.pt2"], ["--stages"]):
    assert main(["model.pt2", *asked]) == 2
assert not [name for name in ("torch", "numpy", "IPython") if name in sys.modules]
"""


class Sum(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.lin(x)) + x.shape[0]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel; the front end is not built anew, so that others who test here keep theirs."""
    if not hatch_build.is_up_to_date():
        pytest.fail("The front end is not up to date: run `make frontend`.")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


def test_it_has_the_packages_the_front_end_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    sources = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "frontend" not in path.parts
    }
    built = {
        f"widgets/static/{name}"
        for name in ("explorer.js", "lab.js", "layout.js", "loader.js", "LICENSES.txt")
    }
    typed = {f"{package}/py.typed" for package in PACKAGES}

    assert names >= sources | built | typed
    rest = {
        name
        for name in names - sources - built - typed
        if ".dist-info/" not in name and ".data/" not in name
    }
    assert rest == {
        "widgets/static/sources.sha256",
        "export_engine/archive/operators.txt",
        "explorer/mcp/SKILL.md",
    }


def test_an_installation_without_torch_has_at_most_15_mb(wheel: zipfile.ZipFile) -> None:
    names = [re.split(r"[><=!~]", requirement)[0] for requirement in requirements()]
    installed = [file for name in names for file in metadata.files(name) or ()]
    theirs = [
        file.locate().stat().st_size
        for file in installed
        if file.suffix != ".pyc" and file.locate().exists()
    ]

    assert len(names) == len({*names}) == 4
    assert sum(theirs) > 3_000_000
    assert sum(info.file_size for info in wheel.infolist()) + sum(theirs) <= 15_000_000


@pytest.mark.parametrize("browser", ["", "as Pyodide"])
def test_a_file_is_looked_at_where_there_is_no_torch(
    wheel: zipfile.ZipFile, tmp_path: Path, browser: str
) -> None:
    home = tmp_path / "installed"
    wheel.extractall(home)
    for requirement in requirements():
        for file in metadata.files(re.split(r"[><=!~]", requirement)[0]) or ():
            if file.suffix != ".pyc" and ".." not in file.parts:
                target = home / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), target)
    model = explorer.explore(Sum(), (torch.ones(3, 4),), dynamic_shapes="x: n, _")
    model.save(tmp_path / "model.pt2")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LOOK, str(home), browser],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stderr.count('pip install "export-explorer[torch]"') == 5


def test_it_has_the_licences_of_all_that_is_in_it(wheel: zipfile.ZipFile) -> None:
    (own,) = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
    notices = wheel.read("widgets/static/LICENSES.txt").decode()

    assert wheel.read(own) == (ROOT / "LICENSE").read_bytes()
    for name in BUNDLED:
        assert f"\n{name} " in f"\n{notices}", name
    assert notices.count("Permission is hereby granted") >= 4
    assert "Apache License" in notices


def test_no_path_of_this_machine_is_in_it(wheel: zipfile.ZipFile) -> None:
    home = str(ROOT).encode()
    assert [name for name in wheel.namelist() if home in wheel.read(name)] == []


def test_it_works_without_the_clone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    home = tmp_path / "installed"
    wheel.extractall(home)
    environment = {**os.environ, "PYTHONPATH": str(home)}

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    python("-c", USE, str(home))
    assert "loaded, 1 op" in python(
        "-c", "import sys; from explorer.cli.main import main; sys.exit(main(sys.argv[1:]))",
        "model.pt2",
    )  # fmt: skip
    (points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "export-explorer = explorer.cli.main:main" in wheel.read(points).decode()
