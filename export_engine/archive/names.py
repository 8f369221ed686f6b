"""Names in an archive: they are what they claim to be, or are shown as text."""

from __future__ import annotations

from export_engine.archive import bounds


class Names:
    """Tells names from other text, and remembers what was none."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        """Texts that should be names and are none."""
        self._shown: dict[str, str] = {}

    def shown(self, text: str) -> str:
        """A name as it is; any other text quoted, so that nobody takes it for one."""
        known = self._shown.get(text)
        if known is None:
            fine = len(text) <= bounds.TEXT and all(
                part.isidentifier() or part.isdigit() for part in text.split(".")
            )
            known = self._shown[text] = text if fine else repr(text[: bounds.TEXT])
            if not fine:
                self.refused.append(known)
        return known


def cut(text: str) -> str:
    """A text of at most so many characters as any is shown with."""
    return text if len(text) <= bounds.TEXT else text[: bounds.TEXT - 1] + "…"
