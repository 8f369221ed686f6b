"""What is raised for a file that is no archive of a program."""


class ArchiveError(ValueError):
    """A file that cannot be opened as an exported program. Its text can be shown as it is."""
