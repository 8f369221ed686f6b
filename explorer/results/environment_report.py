"""The contents of a bug report: versions, what this torch lacks, backends, devices, host."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from export_engine.missing_packages import MissingPackage

PACKAGES = (
    "export-explorer",
    "torch",
    "numpy",
    "sympy",
    "transformers",
    "ipython",
    "ipykernel",
    "ipywidgets",
    "anywidget",
    "jupyterlab",
    "notebook",
    "marimo",
    "msgspec",
    "onnxruntime",
    "onnxscript",
    "executorch",
    "openvino",
)
"""Packages whose versions matter to a report, ours first."""

_HOSTS = (
    ("COLAB_RELEASE_TAG", "Google Colab"),
    ("KAGGLE_KERNEL_RUN_TYPE", "Kaggle"),
    ("DATABRICKS_RUNTIME_VERSION", "Databricks"),
    ("VSCODE_PID", "VS Code"),
    ("VSCODE_CWD", "VS Code"),
    ("JPY_SESSION_NAME", "Jupyter"),
)
"""Variables that a host sets for its kernels."""


class Doctor(NamedTuple):
    """The result of `explorer.doctor()`, to `print`; it names no user, file or folder."""

    versions: dict[str, str]
    """Version by package; packages that are not installed are left out."""
    left_out: list[str]
    """Sentences that say what this torch lacks, or that there is none."""
    otherwise: list[str]
    """Missing private names of torch that have an equivalent replacement."""
    capabilities: int
    """How many private names of torch were probed; 0 without torch."""
    devices: list[str]
    backends: dict[str, str]
    """Why each backend cannot run on this CPU; empty if it can."""
    host: str
    """The host of the view: `Jupyter`, `VS Code`, `a terminal`."""

    def __repr__(self) -> str:
        """All of it, as text to paste."""
        missing = len(self.left_out) + len(self.otherwise)
        rows = [
            "Export Explorer",
            *(f"  {name} {text}" for name, text in self.versions.items()),
            f"Host\n  {self.host}",
        ]
        if not self.capabilities:
            return "\n".join([*rows, *self.left_out])
        rows += [
            f"Devices\n  {', '.join(self.devices)}",
            "Backends on the CPU",
            *(f"  {name}: {why or 'runs'}" for name, why in self.backends.items()),
            "Private names of torch",
            f"  {self.capabilities - missing} of {self.capabilities} are as expected",
            *(f"  left out: {text}" for text in self.left_out),
            *(f"  done without: {text}" for text in self.otherwise),
        ]
        return "\n".join(rows)


def doctor() -> Doctor:
    """Collects what a bug report needs; `print` the result into it."""
    try:
        return _with_torch()
    except MissingPackage as missing:
        return Doctor(_versions(), [str(missing)], [], 0, [], {}, _find_notebook_host())


def _with_torch() -> Doctor:
    from explorer.results.runs import backends
    from export_engine.run import devices
    from export_engine.torch_internals import all_capabilities

    capabilities = all_capabilities()
    absent = [capability for capability in capabilities if not capability]
    return Doctor(
        versions=_versions(),
        left_out=[
            _without_paths(capability.sentence) for capability in absent if capability.sentence
        ],
        otherwise=[
            _without_paths(f"{capability.path}, {capability.looked.reason}")
            for capability in absent
            if not capability.sentence
        ],
        capabilities=len(capabilities),
        devices=list(devices()),
        backends={name: _without_paths(why or "") for name, why in backends("cpu").items()},
        host=_find_notebook_host(),
    )


_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[\\/~](?:[^\s'\"():,]*[\\/])+[^\s'\"():,]*")


def _without_paths(text: str) -> str:
    """A text of torch or a backend without any folder names in it."""
    return _PATH.sub("…", text)


def _versions() -> dict[str, str]:
    system = f"{platform.system()} {platform.machine()}"
    result = {"Python": f"{platform.python_version()} on {system}"}
    for name in PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            continue
    return result


def _find_notebook_host() -> str:
    """The host, told by the environment variables it sets; their values are not read."""
    if "ipykernel" not in sys.modules:
        return "IPython in a terminal" if "IPython" in sys.modules else "a terminal"
    named = [name for variable, name in _HOSTS if variable in os.environ]
    return named[0] if named else "a Jupyter kernel"
