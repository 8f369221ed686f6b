"""A file is read, shown, compared, queried and counted where torch is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import explorer
from tests.requirements import requirements

BARE = """
import sys
from export_engine.missing_packages import EXTRAS

sys.modules.update(dict.fromkeys(EXTRAS))
"""
"""Python as it is with what `pip install export-explorer` brings, and nothing else of ours."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("light") / "relu.pt2"
    explorer.explore(torch.nn.ReLU(), (torch.ones(3, 4),), dynamic_shapes="input: n, _").save(file)
    return file


def run_bare(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs Python code where no optional package can be imported."""
    command = [sys.executable, "-c", BARE + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs `export-explorer` where no optional package can be imported."""
    return run_bare("from explorer.cli.main import main; sys.exit(main())", *arguments)


def test_a_file_is_read_shown_compared_queried_and_counted(saved: Path, tmp_path: Path) -> None:
    done = run_bare(
        """
import explorer
from explorer.opening.file_page import page_of_file
from pathlib import Path
ex = explorer.load(sys.argv[1])
print(ex)
print(explorer.diff(ex, sys.argv[1]))
print(ex.query("op:relu"))
print(ex.cost())
print("numbers", ex.cost().at().flops, ex.cost().at().bytes, ex.cost().at().peak_bytes)
print(*(ex.view(pane=pane) for pane in ("signature", "source", "code", "shapes", "graph")))
print(ex.findings)
assert "relu" in ex._repr_mimebundle_()["text/html"]
page_of_file(Path(sys.argv[1]))
ex.save(sys.argv[2])
ex.save(sys.argv[3])
""",
        saved,
        tmp_path / "page.html",
        tmp_path / "record.json",
    )

    assert done.returncode == 0, done.stderr
    assert "Identical up to names" in done.stdout
    assert "FLOPs" in done.stdout
    at = explorer.load(saved).cost().at()  # with torch
    assert f"numbers {at.flops} {at.bytes} {at.peak_bytes}" in done.stdout
    assert (tmp_path / "page.html").stat().st_size > 100_000
    assert json.loads((tmp_path / "record.json").read_bytes())["title"] == saved.name


def test_the_command_line_reads_a_file(saved: Path) -> None:
    done = run_command(saved)

    assert done.returncode == 0, done.stderr
    assert "f32[n, 4]" in done.stdout


@pytest.mark.parametrize("option", ["--verify", "--run", "--decompose=core", "--save=x.pt2"])
def test_an_option_that_needs_torch_names_the_command(saved: Path, option: str) -> None:
    done = run_command(saved, option)

    name = option.partition("=")[0]
    assert done.returncode == 2
    assert done.stderr == (
        f"export-explorer: {name} needs torch, which is not installed: "
        'pip install "export-explorer[torch]"\n'
    )


def test_a_function_is_not_exported_without_torch() -> None:
    assert "Exporting a.b:c needs torch" in run_command("a.b:c").stderr


def test_doctor_says_that_torch_is_missing() -> None:
    assert 'pip install "export-explorer[torch]"' in run_command("--doctor").stdout


@pytest.mark.parametrize(
    "call", ["verify()", "run()", "decompose('core')", "program", "save('x.pt2')"]
)
def test_a_call_that_needs_torch_names_the_command(saved: Path, call: str) -> None:
    done = run_bare(
        f"""
import explorer
ex = explorer.load(sys.argv[1], trusted=True)
try:
    ex.{call}
except ModuleNotFoundError as error:
    sys.exit(str(error))
""",
        saved,
    )

    assert (
        'needs torch, which is not installed: pip install "export-explorer[torch]"' in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_the_plain_name_asks_for_no_torch() -> None:
    names = {each.partition(">=")[0] for each in requirements()}

    assert names == {"msgspec", "pygments", "platformdirs", "graphviz"}


def test_opening_a_file_imports_nothing_that_it_does_not_need(saved: Path) -> None:
    """Of what a cold start of half a second has no time for."""
    code = "import explorer; explorer.load(sys.argv[1]); print(*sys.modules)"
    imported = set(run_bare(code, saved).stdout.split())
    assert "explorer.opening.loading" in imported
    assert not imported & {"ssl", "email", "importlib.metadata", "pygments.lexers.python"}
