"""Names in an archive: valid ones are kept, others are shown as quoted text."""

from __future__ import annotations

from export_engine.archive import limits


class Names:
    """Tells names from other text, and remembers invalid ones."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        """Texts that should be names but are not."""
        self._shown: dict[str, str] = {}

    def display(self, text: str) -> str:
        """A valid name unchanged; any other text quoted."""
        cached = self._shown.get(text)
        if cached is None:
            fine = len(text) <= limits.TEXT and all(
                part.isidentifier() or part.isdigit() for part in text.split(".")
            )
            cached = self._shown[text] = text if fine else repr(text[: limits.TEXT])
            if not fine:
                self.refused.append(cached)
        return cached


def cut(text: str) -> str:
    """A text cut to the length that is shown."""
    return text if len(text) <= limits.TEXT else text[: limits.TEXT - 1] + "…"
