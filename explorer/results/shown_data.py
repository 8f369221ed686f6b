"""A result that is plain data: shown as its text, and written as JSON."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from explorer.text.validate_options import check_writable


class ShownData:
    """Plain data in `data`. A class of it says in `__repr__` what its text is."""

    data: Any

    def to_json(self, path: str | Path) -> Path:
        """Writes the data as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        import msgspec

        file = Path(path)
        check_writable(file)
        file.write_bytes(msgspec.json.Encoder(enc_hook=list).encode(self.data))
        return file

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"
