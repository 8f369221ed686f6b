"""What has to hold before a release: `make release-check`.

The wheel is built and installed into an empty environment, as a user's `pip install` does; its tour
runs there; it is as small as it should be; every package that comes with it names its licence; the
conda recipe is valid; and the version is the same wherever it stands.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
MOST_BYTES = 3 << 20
"""The budget of the wheel; most of it is the front end."""
LICENCES = """
import json
from importlib.metadata import distributions
found = {}
for each in distributions():
    data = each.metadata
    kinds = [kind for kind in data.get_all("Classifier") or [] if kind.startswith("License ::")]
    text = data.get("License-Expression") or data.get("License") or "; ".join(kinds)
    text = text or ("see its files" if data.get_all("License-File") else "")
    found[data["Name"]] = " ".join(text.split())[:60]
print(json.dumps(found))
"""


class Failed(Exception):
    """Something does not hold."""


def versions() -> dict[str, str]:
    """The version, by the file that says it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    changes = re.search(r"^## (?:Unreleased \()?\[?(\d[\w.]*)", read("CHANGELOG.md"), re.MULTILINE)
    recipe = re.search(r"^  version: (\S+)$", read("conda/recipe.yaml"), re.MULTILINE)
    citation = re.search(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE)
    return {
        "pyproject.toml": project,
        "CHANGELOG.md": changes[1] if changes else "none",
        "CITATION.cff": citation[1] if citation else "none",
        "conda/recipe.yaml": recipe[1] if recipe else "none",
        "ide/vscode/package.json": json.loads(read("ide/vscode/package.json"))["version"],
    }


def read(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command: str | Path, within: Path) -> str:
    """The output of a command.

    Raises:
        Failed: it ends with an error.
    """
    done = subprocess.run(command, cwd=within, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))[:120]}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def one_version(_: Path) -> str:
    """The version is said once."""
    found = versions()
    if len(set(found.values())) != 1:
        raise Failed(", ".join(f"{name} says {version}" for name, version in found.items()))
    return found["pyproject.toml"]


def built(folder: Path) -> str:
    """The wheel, within its budget."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, within=ROOT)
    (wheel,) = folder.glob("*.whl")
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        raise Failed(f"{wheel.name} has {size:,} bytes; its budget is {MOST_BYTES:,}")
    return f"{wheel.name}, {size / 2**20:.2f} MiB"


MOST_WITHOUT_TORCH = 15_000_000
"""The budget of an installation without extras, bytes without bytecode."""


def without_torch(folder: Path) -> str:
    """The wheel alone, without extras: its size, and what it does with a file."""
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "light", with_pip=True)
    python = python_of(folder, "light")
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    others = set(site_packages(folder).rglob("*"))
    run(*pip, "install", "-q", "--no-compile", "-c", ROOT / "constraints.txt", wheel,
        within=folder)  # fmt: skip
    new = [path for path in set(site_packages(folder).rglob("*")) - others if path.is_file()]
    size = sum(path.stat().st_size for path in new if path.suffix != ".pyc")
    if size > MOST_WITHOUT_TORCH:
        raise Failed(f"{size:,} bytes; the budget is {MOST_WITHOUT_TORCH:,}")
    command = python.with_name("export-explorer")
    run(sys.executable, "-c", SAVE_ONE, within=folder)
    shown = run(command, "one.pt2", "--html", "one.html", "--diff", "one.pt2", within=folder)
    if "Identical up to names" not in shown:
        raise Failed(shown)
    return f"{size / 1e6:.1f} MB; {shown.splitlines()[-1]}"


SAVE_ONE = """
import torch, explorer
explorer.explore(torch.nn.ReLU(), (torch.ones(3, 4),), dynamic_shapes="input: n, _").save("one.pt2")
"""


def site_packages(folder: Path) -> Path:
    """Where the packages of the environment without extras are."""
    return next((folder / "light").rglob("site-packages"))


def installed(folder: Path) -> str:
    """The wheel in an empty environment, with the versions that the constraints pin."""
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "empty", with_pip=True)
    pip = (python_of(folder), "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "-q", "-c", ROOT / "constraints.txt",
        f"export-explorer[lab] @ {wheel.as_uri()}", "nbconvert", within=folder)  # fmt: skip
    run(*pip, "check", within=folder)
    command = python_of(folder).with_name("export-explorer")
    return run(command, "--doctor", within=folder).splitlines()[0]


READ_RECIPE = """
import sys
from rattler_build import Stage0Recipe, VariantConfig
(rendered,) = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig())
package = rendered.recipe.to_dict()["package"]
print(package["name"], package["version"])
"""


def recipe(folder: Path) -> str:
    """The conda recipe, read and rendered by what builds it."""
    venv.create(folder / "conda", with_pip=True)
    python = python_of(folder, "conda")
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "py-rattler-build",
        within=folder)  # fmt: skip
    return run(python, "-c", READ_RECIPE, ROOT / "conda" / "recipe.yaml", within=folder).strip()


def python_of(folder: Path, name: str = "empty") -> Path:
    """The Python of an environment."""
    return folder / name / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def tour(folder: Path) -> str:
    """The tour, run to its end without this project's sources."""
    run(python_of(folder), "-m", "nbconvert", "--to", "notebook", "--execute",
        "--output-dir", folder, TOUR, within=folder)  # fmt: skip
    return TOUR.name


def licensed(folder: Path) -> str:
    """Every installed package says its licence."""
    found = json.loads(run(python_of(folder), "-c", LICENCES, within=folder))
    silent = sorted(name for name, licence in found.items() if not licence)
    if silent:
        raise Failed(f"no licence in the metadata of {', '.join(silent)}")
    for name in sorted(found, key=str.lower):
        print(f"    {name}: {found[name]}")
    return f"{len(found)} packages"


CHECKS: tuple[Callable[[Path], str], ...]
CHECKS = (one_version, recipe, built, without_torch, installed, tour, licensed)


def main() -> int:
    """Runs all checks, and prints a line for each."""
    with tempfile.TemporaryDirectory(prefix="release-") as made:
        for check in CHECKS:
            try:
                print(f"{check.__name__.replace('_', ' ')}: {check(Path(made))}", flush=True)
            except Failed as error:
                print(f"{check.__name__.replace('_', ' ')} FAILED\n{error}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
