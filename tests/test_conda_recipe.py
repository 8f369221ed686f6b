"""The conda recipe asks for what the wheel does. `make release-check` has its builder read it."""

from __future__ import annotations

import tomllib
from typing import Any

import yaml

from tests.release_check import ROOT, read
from tests.requirements import requirements

CONDA_NAMES = {"torch": "pytorch", "graphviz": "python-graphviz"}
"""Where conda-forge has another name; its graphviz is the program."""
RECIPE: dict[str, Any] = yaml.safe_load(read("conda/recipe.yaml"))
PYPROJECT: dict[str, Any] = tomllib.loads(read("pyproject.toml"))


def as_conda(requirement: str) -> str:
    """A requirement of the wheel's, by the name and in the form of conda's."""
    name, least = requirement.split(">=")
    return f"{CONDA_NAMES.get(name, name)} >={least}"


def test_it_needs_what_the_wheel_needs() -> None:
    project = PYPROJECT["project"]
    python = f"python {project['requires-python']}"

    wanted = [python, *map(as_conda, requirements("torch"))]
    assert sorted(RECIPE["requirements"]["run"]) == sorted(wanted)
    host = RECIPE["requirements"]["host"]
    assert host[0] == python
    assert set(map(as_conda, PYPROJECT["build-system"]["requires"])) <= set(host)


def test_it_has_the_commands_and_the_packages_of_the_wheel() -> None:
    scripts = PYPROJECT["project"]["scripts"]
    commands = [f"{name} = {target}" for name, target in scripts.items()]
    assert RECIPE["build"]["python"]["entry_points"] == commands
    packages = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {*RECIPE["tests"][0]["python"]["imports"]} == {*packages}
    assert RECIPE["about"]["license"] == PYPROJECT["project"]["license"]
    assert (ROOT / RECIPE["about"]["license_file"]).is_file()
