"""Packages that an installation may lack, by the extra that brings them.

Reading, viewing, comparing and counting need none of them; `pip install export-explorer` brings
none.
"""

from __future__ import annotations

EXTRAS = {
    "torch": "torch",
    "numpy": "torch",
    "psutil": "torch",
    "anywidget": "notebook",
    "ipywidgets": "notebook",
    "traitlets": "notebook",
    "IPython": "notebook",
    "executing": "notebook",
    "mcp": "mcp",
}
"""The extra of `export-explorer` that installs each package, by the package's module."""


class MissingPackage(ModuleNotFoundError):
    """A package is missing. The message is a sentence with the command that installs it."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows the sentence alone."""
        return [str(self)]


def missing_package(error: ImportError, purpose: str = "This") -> MissingPackage | None:
    """The sentence for a failed import; None if the module is none of the optional packages.

    Args:
        error: what the import raised.
        purpose: what needs the package, as a subject: `--verify`.
    """
    if isinstance(error, MissingPackage):
        return error
    module = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or module not in EXTRAS:
        return None
    return MissingPackage(
        f"{purpose} needs {module}, which is not installed: {install_command(EXTRAS[module])}",
        name=module,
    )


def install_command(extra: str) -> str:
    """The command that installs an extra, as `pip install "export-explorer[torch]"`."""
    return f'pip install "export-explorer[{extra}]"'
