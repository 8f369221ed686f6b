"""Files that a client names: only those below the root that the server was started with."""

from __future__ import annotations

from pathlib import Path

from explorer.mcp.answers import ToolRefused


class Root:
    """The folder that a server reads and writes in, and nothing outside of it."""

    def __init__(self, folder: Path) -> None:
        """Make one.

        Args:
            folder: what is served; links in its own name are followed.
        """
        self.folder = folder.resolve()

    def find(self, name: str) -> Path:
        """An existing file below the root, also after its links are followed.

        Raises:
            ToolRefused: it is outside of the root, or there is none.
        """
        path = self.place(name)
        if not path.is_file():
            raise ToolRefused(f"There is no file {name} below the root.")
        return path

    def place(self, name: str) -> Path:
        """Where a file is or would be, below the root.

        Raises:
            ToolRefused: it is outside of the root, or no name of a file.
        """
        try:
            path = (self.folder / name).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise ToolRefused(f"{name!r} is not the name of a file.") from error
        if not path.is_relative_to(self.folder):
            raise ToolRefused(
                f"{name} is outside of the root {self.folder}. Start the server with a --root "
                "that contains it."
            )
        return path

    def find_call(self, named: str) -> str:
        """The call `file.py:make` that a client names, as `explorer.opening.named_call` takes it.

        A dotted module is looked for below the root alone: no installed package is called.

        Raises:
            ToolRefused: it is not such a name, or its file is not below the root.
        """
        home, colon, function = named.rpartition(":")
        if not colon or not all(part.isidentifier() for part in function.split(".")):
            raise ToolRefused(
                f"{named!r} does not name a call. Pass file.py:make; make() returns (model, args)."
            )
        if home.endswith(".py"):
            return f"{self.find(home)}:{function}"
        parts = home.split(".")
        if not all(part.isidentifier() for part in parts):
            raise ToolRefused(f"{home!r} is neither a .py file nor a module.")
        inside = Path(*parts)
        for file in (inside.with_suffix(".py"), inside / "__init__.py"):
            if self.place(str(file)).is_file():
                return named
        raise ToolRefused(f"There is no module {home} below the root {self.folder}.")

    def make_relative(self, path: str | Path) -> str:
        """A path as a client names it, relative to the root where it is below."""
        whole = Path(path)
        inside = whole.is_relative_to(self.folder)
        return str(whole.relative_to(self.folder)) if inside else str(path)
