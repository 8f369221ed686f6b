"""The error for a file that is not an archive of a program."""


class ArchiveError(ValueError):
    """A file that cannot be opened as an exported program. The message can be shown as it is."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows the sentence."""
        return [str(self)]
