"""TypeScript types of the page's messages, generated from their schema.

`python -m explorer.page.typescript` prints them; a test fails when the file in the front end
differs from what this prints.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from explorer.page.messages import ASKS, GUIDE_ASKS, LIBRARY_ASKS, AttemptHead, Frozen, Message
from export_engine.record import declarations, record_types, type_text

_HEADER = "// Generated from explorer/page/messages.py by `make types`. Its comments are there.\n"


def generate() -> str:
    """The text of `messages.gen.ts`."""
    messages = [*ASKS.values(), *LIBRARY_ASKS.values(), *GUIDE_ASKS.values()]
    roots = [message.request for message in messages] + [message.reply for message in messages]
    parts = declarations([AttemptHead, Frozen, *roots], known=record_types())
    parts += [_table("Asks", ASKS), _table("LibraryAsks", LIBRARY_ASKS)]
    parts += [_table("GuideAsks", GUIDE_ASKS)]
    used = sorted(record_types() & {*re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", "".join(parts)))})
    imports = f'import type {{ {", ".join(used)} }} from "./record.gen";\n'
    return "\n".join([_HEADER, imports, *parts])


def _table(name: str, known: Mapping[str, Message]) -> str:
    entries = "".join(
        f"  /** {message.says} */\n"
        f"  {ask}: {{ request: {type_text(message.request)}; "
        f"reply: {type_text(message.reply)} }};\n"
        for ask, message in known.items()
    )
    return f"export interface {name} {{\n{entries}}}\n"


if __name__ == "__main__":
    sys.stdout.write(generate())
