"""The error for a file that is not an archive of a program."""

from export_engine.plain_errors import PlainError


class ArchiveError(PlainError, ValueError):
    """A file that cannot be opened as an exported program. The message can be shown unchanged."""
